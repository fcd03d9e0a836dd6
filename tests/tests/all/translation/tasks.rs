//! Tasks, which only 2025-11-25 has.

use crate::revisions::{V2024_11_05, V2025_06_18, V2025_11_25};
use serde_json::json;

use super::elicitation::form;
use super::sampling::sampling;
use super::{
    AUTOMATIC, EARLIER, Outcome, becomes, expected, from_client, is_carried, result_to_client, result_to_server,
    to_client, to_server, unchanged,
};

#[test]
fn a_request_to_run_as_a_task_becomes_an_ordinary_request_before_2025_11_25() {
    let call = json!({
        "jsonrpc": "2.0", "id": 6, "method": "tools/call",
        "params": {"name": "t", "arguments": {"a": 1}, "task": {"ttl": 1000}},
    });
    let earlier = json!({
        "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "t", "arguments": {"a": 1}},
    });
    let losses = || expected(&[["params.task", "dropped", AUTOMATIC]]);
    for peer in EARLIER {
        assert_eq!(to_server(peer, &call), Outcome::Sent(earlier.clone(), losses()));
        assert_eq!(from_client(peer, &earlier), unchanged(&earlier));
    }
    let message = json!({"role": "user", "content": {"type": "text", "text": "hello"}});
    let request = sampling(json!({"messages": [message], "task": {}}));
    let earlier = sampling(json!({"messages": [message]}));
    assert_eq!(to_client(V2025_06_18, &request), Outcome::Sent(earlier, losses()));
    let schema = json!({"type": "object", "properties": {}});
    let request = form(json!({"message": "who?", "requestedSchema": schema, "task": {}}));
    let earlier = form(json!({"message": "who?", "requestedSchema": schema}));
    assert_eq!(to_client(V2025_06_18, &request), Outcome::Sent(earlier, losses()));
}

#[test]
fn a_task_as_a_result_is_refused_before_2025_11_25() {
    let task = json!({"task": {
        "taskId": "t", "status": "working", "ttl": null,
        "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z",
    }});
    // An internal error, because the request was valid.
    let refused = || Err((-32603, "(root)".to_owned()));
    for peer in EARLIER {
        assert_eq!(result_to_client(peer, "tools/call", &task), refused());
        assert!(result_to_server(peer, "sampling/createMessage", &task).is_err());
    }
}

#[test]
fn every_tasks_method_is_answered_with_method_not_found_before_2025_11_25() {
    for peer in EARLIER {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"taskId": "t"}});
            for outcome in [to_client(peer, &request), to_server(peer, &request)] {
                assert!(matches!(outcome, Outcome::Refused { code: -32601, .. }), "{outcome:?}");
            }
        }
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/list"});
        for outcome in [to_client(peer, &request), to_server(peer, &request)] {
            assert!(matches!(outcome, Outcome::Refused { code: -32601, .. }), "{outcome:?}");
        }
    }
}

#[test]
fn a_tool_that_can_only_be_called_as_a_task_is_hidden_before_2025_11_25() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let with = |name: &str, support: &str| {
        let mut tool = tool(name);
        tool["execution"] = json!({"taskSupport": support});
        tool
    };
    let tools = json!({"tools": [tool("a"), with("b", "required"), with("c", "forbidden"), tool("d")]});
    let earlier = json!({"tools": [tool("a"), tool("c"), tool("d")]});
    let losses = [
        ["tools[1]", "dropped", "2026-07-28 ListToolsResult.tools"],
        ["tools[2].execution", "dropped", AUTOMATIC],
    ];
    for peer in EARLIER {
        assert_eq!(
            result_to_client(peer, "tools/list", &tools),
            Ok((earlier.clone(), expected(&losses)))
        );
    }
    is_carried((V2025_11_25, V2024_11_05), "ListToolsResult", &tools);
}

#[test]
fn the_tasks_capability_is_dropped_and_recorded_before_2025_11_25() {
    let capabilities = json!({"tasks": {"list": {}}});
    let losses = [["tasks", "dropped", AUTOMATIC]];
    for definition in ["ClientCapabilities", "ServerCapabilities"] {
        becomes(
            (V2025_11_25, V2025_06_18),
            definition,
            &capabilities,
            &json!({}),
            &losses,
        );
        is_carried((V2025_11_25, V2024_11_05), definition, &capabilities);
    }
}
