//! Unusual values that real peers send, valid or not.

use crate::revisions::{V2025_06_18, V2025_11_25};
use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Policy, peers};
use serde_json::{Value, json};

use super::{AUTOMATIC, EARLIER, becomes, stays, translates};

#[test]
fn a_resource_link_from_a_server_whose_revision_lacks_it_is_read_as_a_resource_link() {
    let result = json!({"content": [{"type": "resource_link", "name": "n", "uri": "file:///n"}]});
    for peer in EARLIER {
        let read = peers::server_result(peer, "tools/call", &RawJson::from(&result), Policy::Conform.into());
        let read = read.unwrap().unwrap();
        assert_eq!(read.losses, []);
        let mcp_adapters::hub::ServerResult::CallTool(called) = read.result else {
            panic!("{:?}", read.result)
        };
        assert!(
            matches!(called.content[..], [mcp_adapters::hub::ContentBlock::ResourceLink(_)]),
            "{called:?}"
        );
    }
}

#[test]
fn content_of_an_unknown_type_is_kept() {
    let result = json!({"content": [{"type": "hologram", "data": [1, 2.50]}], "vendor": null});
    for peer in EARLIER {
        stays((peer, V2025_11_25), "CallToolResult", &result);
    }
}

#[test]
fn an_invalid_value_of_a_member_that_only_the_target_declares_is_dropped_and_recorded() {
    let tool = json!({"name": "t", "icons": null, "inputSchema": {"type": "object"}});
    let later = json!({"name": "t", "inputSchema": {"type": "object"}});
    becomes(
        (V2025_06_18, V2025_11_25),
        "Tool",
        &tool,
        &later,
        &[["icons", "dropped", AUTOMATIC]],
    );
}

#[test]
fn the_dialect_of_a_tool_schema_is_dropped_and_recorded_if_it_is_not_a_string() {
    let tool = |dialect: Value| json!({"name": "t", "inputSchema": {"type": "object", "$schema": dialect, "x": 1.50}});
    let without = json!({"name": "t", "inputSchema": {"type": "object", "x": 1.50}});
    let losses = [["inputSchema.$schema", "dropped", AUTOMATIC]];
    for earlier in EARLIER {
        let way = (earlier, V2025_11_25);
        becomes(way, "Tool", &tool(json!({})), &without, &losses);
        stays(
            way,
            "Tool",
            &tool(json!("https://json-schema.org/draft/2020-12/schema")),
        );
        translates(way, Policy::Carry, "Tool", &tool(json!({})), &tool(json!({})), &[]);
    }
    let output =
        json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "$schema": 1}});
    let without = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}});
    let losses = [["outputSchema.$schema", "dropped", AUTOMATIC]];
    becomes((V2025_06_18, V2025_11_25), "Tool", &output, &without, &losses);
}
