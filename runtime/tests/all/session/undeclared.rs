//! Methods without a declared capability.

use mcp_runtime::{CallError, CallServer, Options};
use serde_json::json;

use crate::common::session_revisions;
use crate::session::raw::{Tools, any_revision, call, client, code, opened, request, text, tool};

#[tokio::test]
async fn a_server_neither_answers_nor_sends_requests_without_a_capability() {
    for revision in session_revisions() {
        let tools = Tools::new(1);
        let (_session, mut raw) = opened(&tools, any_revision(), revision, json!({}), 16).await;
        for (method, params) in [
            ("prompts/list", json!({})),
            ("resources/read", json!({"uri": "file:///"})),
            ("logging/setLevel", json!({"level": "info"})),
        ] {
            let refused = raw.ask(&request(1, method, params)).await;
            assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32601)), "{refused}");
        }
        let answer = raw.ask(&call(2, "ask")).await;
        let why = "roots/list needs the capability `roots`, which the client hasn't declared";
        assert_eq!(
            (text(&answer), &answer["result"]["isError"]),
            (Some(why), &json!(true)),
            "{answer}"
        );
        raw.is_quiet().await;
    }
}

#[tokio::test]
async fn a_client_neither_answers_nor_sends_requests_without_a_capability() {
    let (session, mut raw) = client(Options::default(), json!({"prompts": {}}), 16).await;
    let ended = session.peer().call_tool(tool("any")).await;
    match ended {
        Err(CallError::NotOffered { method, capability, .. }) => {
            assert_eq!((method.as_str(), capability), ("tools/call", "tools"));
        }
        other => panic!("{other:?}"),
    }
    raw.is_quiet().await;
    let refused = raw.ask(&request(1, "roots/list", json!({}))).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32601)), "{refused}");
    raw.is_quiet().await;
}
