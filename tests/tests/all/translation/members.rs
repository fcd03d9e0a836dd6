//! Optional members that only one of two revisions declares.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use mcp_adapters::Revision;
use serde_json::json;

use super::{
    AUTOMATIC, Outcome, becomes, expected, from_client, from_server, is_carried, sent_by_server, stays, to_client,
    to_server, unchanged,
};

#[test]
fn optional_members_of_2025_11_25_are_dropped_and_recorded_on_downgrade() {
    let tool = json!({
        "name": "clock",
        "icons": [{"src": "https://example.org/clock.png"}],
        "execution": {"taskSupport": "optional"},
        "inputSchema": {"type": "object"},
    });
    let earlier = json!({"name": "clock", "inputSchema": {"type": "object"}});
    let losses = [["execution", "dropped", AUTOMATIC], ["icons", "dropped", AUTOMATIC]];
    becomes((V2025_11_25, V2025_06_18), "Tool", &tool, &earlier, &losses);
    stays((V2025_06_18, V2025_11_25), "Tool", &earlier);
    is_carried((V2025_11_25, V2025_06_18), "Tool", &tool);
}

#[test]
fn a_null_for_an_absent_member_is_removed_without_a_loss() {
    let resource = json!({
        "name": "log",
        "uri": "file:///log",
        "mimeType": null,
        "annotations": {"audience": null},
        "_meta": {"shelf": null},
    });
    let without = json!({"name": "log", "uri": "file:///log", "annotations": {}, "_meta": {"shelf": null}});
    becomes((V2025_11_25, V2025_06_18), "Resource", &resource, &without, &[]);
    becomes((V2025_06_18, V2025_11_25), "Resource", &resource, &without, &[]);

    let message = |params| json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
    let logged = message(json!({"level": "info", "logger": null, "data": null}));
    let without = message(json!({"level": "info", "data": null}));
    let sent = sent_by_server((V2025_11_25, V2025_06_18), &logged);
    assert_eq!(sent, Outcome::Sent(without.clone(), expected(&[])));
    let sent = sent_by_server((Revision::HUB, V2025_06_18), &logged);
    assert_eq!(sent, Outcome::Sent(without, expected(&[])));
}

#[test]
fn titles_metadata_and_dates_of_2025_06_18_are_dropped_and_recorded_on_downgrade() {
    let resource = json!({
        "name": "log",
        "title": "The log",
        "uri": "file:///log",
        "_meta": {"shelf": 3},
        "annotations": {"audience": ["user"], "lastModified": "2025-06-18T00:00:00Z"},
    });
    let earlier = json!({"name": "log", "uri": "file:///log", "annotations": {"audience": ["user"]}});
    let losses = [
        ["annotations.lastModified", "dropped", AUTOMATIC],
        ["_meta", "dropped", AUTOMATIC],
        ["title", "dropped", AUTOMATIC],
    ];
    becomes((V2025_06_18, V2025_03_26), "Resource", &resource, &earlier, &losses);
    stays((V2025_03_26, V2025_06_18), "Resource", &earlier);
    is_carried((V2025_06_18, V2025_03_26), "Resource", &resource);
}

#[test]
fn the_context_of_a_completion_is_dropped_and_recorded_on_downgrade() {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "city", "value": "Be"},
            "context": {"arguments": {"country": "DE"}},
        },
    });
    let earlier = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "city", "value": "Be"}},
    });
    let losses = expected(&[["params.context", "dropped", AUTOMATIC]]);
    assert_eq!(to_server(V2025_06_18, &request), unchanged(&request));
    assert_eq!(to_server(V2025_03_26, &request), Outcome::Sent(earlier.clone(), losses));
    assert_eq!(from_client(V2025_03_26, &earlier), unchanged(&earlier));
}

#[test]
fn the_message_of_a_progress_notification_is_dropped_and_recorded_for_2024_11_05() {
    let notification = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 0.5, "total": 1, "message": "half"},
    });
    let earlier = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 0.5, "total": 1},
    });
    let losses = expected(&[["params.message", "dropped", AUTOMATIC]]);
    assert_eq!(to_client(V2025_03_26, &notification), unchanged(&notification));
    assert_eq!(
        to_client(V2024_11_05, &notification),
        Outcome::Sent(earlier.clone(), losses)
    );
    assert_eq!(from_server(V2024_11_05, &earlier), unchanged(&earlier));
}

#[test]
fn the_annotations_of_a_tool_are_dropped_and_recorded_for_2024_11_05() {
    let tool = json!({"name": "rm", "annotations": {"destructiveHint": true}, "inputSchema": {"type": "object"}});
    let earlier = json!({"name": "rm", "inputSchema": {"type": "object"}});
    let losses = [["annotations", "dropped", AUTOMATIC]];
    becomes((V2025_03_26, V2024_11_05), "Tool", &tool, &earlier, &losses);
    stays((V2024_11_05, V2025_03_26), "Tool", &earlier);
    is_carried((V2025_11_25, V2024_11_05), "Tool", &tool);
}

#[test]
fn defaults_of_form_fields_are_dropped_and_recorded_on_downgrade() {
    let fields = [
        (json!({"type": "string", "default": "me"}), json!({"type": "string"})),
        (json!({"type": "number", "default": 1}), json!({"type": "number"})),
        (
            json!({"type": "string", "enum": ["a"], "default": "a"}),
            json!({"type": "string", "enum": ["a"]}),
        ),
    ];
    for (field, earlier) in fields {
        let losses = [["default", "dropped", AUTOMATIC]];
        becomes(
            (V2025_11_25, V2025_06_18),
            "PrimitiveSchemaDefinition",
            &field,
            &earlier,
            &losses,
        );
        stays((V2025_06_18, V2025_11_25), "PrimitiveSchemaDefinition", &earlier);
    }
    stays(
        (V2025_06_18, V2025_11_25),
        "PrimitiveSchemaDefinition",
        &json!({"type": "boolean", "default": true}),
    );
}
