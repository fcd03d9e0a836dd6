//! Batches.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_runtime::{CallServer, Options, Revision};
use serde_json::json;
use tokio::time::timeout;

use crate::common::session_revisions;
use crate::session::raw::{
    Tools, any_revision, batching, call, client, code, initialize, limits, notification, opened, request, tool,
    unopened, until,
};

#[tokio::test]
async fn a_batch_is_answered_in_one_array_where_the_revision_has_batches() {
    for revision in session_revisions() {
        let tools = Tools::new(2);
        let (_session, mut raw) = opened(&tools, any_revision(), revision, json!({}), 16).await;
        let batch = json!([
            call(1, "barrier"),
            notification("notifications/roots/list_changed", json!({})),
            call(2, "barrier"),
            request(3, "ping", json!({})),
            request(4, "prompts/list", json!({})),
            call(5, "panic"),
            {"jsonrpc": "2.0", "id": 99, "result": {}},
        ]);
        let answer = raw.ask(&batch).await;
        if !revision.facts().batches {
            assert_eq!(
                (&answer["id"], code(&answer)),
                (&json!(1), Some(-32600)),
                "{revision}: {answer}"
            );
            raw.is_quiet().await;
            continue;
        }
        let answers = answer.as_array().expect("an array");
        let outcomes: HashMap<i64, Option<i64>> = answers
            .iter()
            .map(|answer| (answer["id"].as_i64().expect("an id"), code(answer)))
            .collect();
        let expected = [(1, None), (2, None), (3, None), (4, Some(-32601)), (5, Some(-32603))];
        assert_eq!(outcomes, HashMap::from(expected), "{answer}");
        assert_eq!(answers.len(), expected.len());
        // A batch without requests gets no response.
        raw.send(&json!([notification(
            "notifications/cancelled",
            json!({"requestId": 1})
        )]))
        .await;
        raw.is_quiet().await;
        raw.send(&json!([])).await;
        raw.is_quiet().await;
        // A cancelled request is left out.
        raw.send(&json!([call(6, "hang"), call(7, "any")])).await;
        until("both are handled", || tools.log.begun.load(Ordering::SeqCst) >= 6).await;
        raw.send(&notification("notifications/cancelled", json!({"requestId": 6})))
            .await;
        let answer = raw.next().await;
        assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
        assert_eq!(answer[0]["id"], 7);
    }
}

#[tokio::test]
async fn a_call_that_is_answered_in_a_refused_batch_fails() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let calling = tokio::spawn(async move { session.peer().call_tool(tool("any")).await });
    let id = raw.next().await["id"].clone();
    raw.send(&json!([{"jsonrpc": "2.0", "id": id, "result": {"content": []}}]))
        .await;
    let ended = timeout(Duration::from_secs(30), calling).await;
    let error = ended
        .expect("it doesn't wait")
        .expect("no panic")
        .expect_err("it is refused");
    assert!(error.to_string().contains("the revision has no batches"), "{error}");
}

#[tokio::test]
async fn a_batch_with_too_many_messages_is_refused_and_none_is_handled() {
    let tools = Tools::new(1);
    let options = limits(|limits| limits.batch = 3);
    let (_session, mut raw) = opened(&tools, options, batching(), json!({}), 16).await;
    let refused = raw
        .ask(&json!([call(1, "any"), call(2, "any"), 5, call(3, "any")]))
        .await;
    assert_eq!(code(&refused), Some(-32600), "{refused}");
    assert_eq!(refused["error"]["message"], "a batch may have 3 messages at most");
    assert_eq!(refused["id"], 1, "the revision has no error without an id");
    raw.is_quiet().await;
    assert_eq!(tools.log.begun.load(Ordering::SeqCst), 0);
    let answers = raw.ask(&json!([call(1, "any"), 5, call(3, "any")])).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
}

#[tokio::test]
async fn every_request_of_a_batch_is_answered_even_next_to_malformed_messages() {
    let (_session, mut raw) = opened(&Tools::new(1), Options::default(), batching(), json!({}), 16).await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"any","arguments":{{"x":{deep}}}}}}},[],
        {{"jsonrpc":"2.0","id":1e999,"method":"ping"}},{}]"#,
        call(1, "any"),
        call(3, "any"),
    );
    raw.send_bytes(batch.as_bytes()).await;
    let answers = raw.next().await;
    let ids: Vec<_> = answers
        .as_array()
        .expect("an array")
        .iter()
        .map(|answer| &answer["id"])
        .collect();
    assert_eq!(ids, [1, 2, 3], "{answers}");
    assert_eq!(code(&answers[1]), Some(-32602), "{answers}");
}

#[tokio::test]
async fn the_size_of_the_initialize_parameters_is_limited() {
    let (_session, mut raw) = unopened(&Tools::new(1), limits(|limits| limits.initialize_bytes = 1000), 16);
    let large = json!({"experimental": {"x": {"y": "z".repeat(1000)}}});
    let refused = raw.ask(&initialize(1, Revision::V2025_11_25, large)).await;
    assert_eq!(code(&refused), Some(-32602), "{refused}");
    let welcome = raw.ask(&initialize(2, Revision::V2025_11_25, json!({}))).await;
    assert!(welcome["result"].is_object(), "{welcome}");
}

#[tokio::test]
async fn progress_of_a_request_in_a_batch_is_reported() {
    let tools = Tools::new(1);
    let (_session, mut raw) = opened(&tools, Options::default(), batching(), json!({}), 16).await;
    let params = |token: &str| json!({"name": "progress", "_meta": {"progressToken": token}});
    let batch = json!([call(1, "any"), request(2, "tools/call", params("token"))]);
    let told = raw.ask(&batch).await;
    assert_eq!(told["method"], "notifications/progress");
    assert_eq!(told["params"]["progressToken"], "token");
    assert_eq!(raw.next().await.as_array().map(Vec::len), Some(2));
}
