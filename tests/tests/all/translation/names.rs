//! Definitions and members that have different names in different revisions.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18};
use serde_json::json;

use super::{EARLIER, becomes, from_client, is_carried, stays, to_server, unchanged};

#[test]
fn a_resource_reference_is_renamed_to_a_resource_template_reference_and_back() {
    let reference = json!({"type": "ref/resource", "uri": "file:///{path}"});
    becomes(
        (V2025_03_26, V2025_06_18),
        "ResourceReference",
        &reference,
        &reference,
        &[],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "ResourceTemplateReference",
        &reference,
        &reference,
        &[],
    );
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {"ref": reference, "argument": {"name": "path", "value": "/"}},
    });
    for peer in EARLIER {
        assert_eq!(from_client(peer, &request), unchanged(&request));
        assert_eq!(to_server(peer, &request), unchanged(&request));
    }
}

#[test]
fn the_title_of_a_tool_moves_to_its_annotations_unless_they_have_one() {
    let rule = "2025-06-18 Tool.title";
    let schema = json!({"type": "object"});
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "The clock"}, "inputSchema": schema}),
        &[["title", "dropped", rule], ["annotations", "defaulted", rule]],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "A", "annotations": {"readOnlyHint": true}, "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "A", "readOnlyHint": true}, "inputSchema": schema}),
        &[["title", "dropped", rule], ["annotations.title", "defaulted", rule]],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "A", "annotations": {"title": "B", "readOnlyHint": true}, "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "B", "readOnlyHint": true}, "inputSchema": schema}),
        &[["title", "dropped", rule]],
    );
    // There are no annotations in 2024-11-05.
    becomes(
        (V2025_06_18, V2024_11_05),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
        &json!({"name": "clock", "inputSchema": schema}),
        &[["title", "dropped", rule]],
    );
    // On upgrade, the title in the annotations isn't copied to the tool.
    stays(
        (V2025_03_26, V2025_06_18),
        "Tool",
        &json!({"name": "clock", "annotations": {"title": "The clock"}, "inputSchema": schema}),
    );
    is_carried(
        (V2025_06_18, V2024_11_05),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
    );
}
