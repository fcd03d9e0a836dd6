//! Handlers that panic, and calls that are cancelled.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use mcp_runtime::{CallServer, Options, Revision};
use serde_json::json;

use crate::session::raw::{Tools, call, client, code, notification, of_hub, opened, request, text, tool, until};

#[tokio::test]
async fn a_panicking_handler_fails_only_its_own_request() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    let answer = raw.ask(&call(2, "panic")).await;
    assert_eq!((&answer["id"], code(&answer)), (&json!(2), Some(-32603)));
    assert!(!answer.to_string().contains("on purpose"), "{answer}");
    let answer = raw.ask(&call(2, "any")).await;
    assert_eq!(text(&answer), Some("done"));
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_and_not_answered() {
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    raw.send(&call("a", "hang")).await;
    until("the call is handled", || tools.log.begun.load(Ordering::SeqCst) == 1).await;
    // Cancelling an unknown request has no effect.
    raw.send(&notification("notifications/cancelled", json!({"requestId": "b"})))
        .await;
    raw.is_quiet().await;
    assert_eq!(tools.log.dropped.load(Ordering::SeqCst), 0);
    raw.send(&notification(
        "notifications/cancelled",
        json!({"requestId": "a", "reason": "bored"}),
    ))
    .await;
    until("the handler is dropped", || {
        tools.log.dropped.load(Ordering::SeqCst) == 1
    })
    .await;
    raw.is_quiet().await;
    session.close().await;
    assert_eq!(raw.read().await, None);
    assert_eq!(tools.log.done.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_cancelled_while_it_completes_gets_at_most_one_response() {
    const ROUNDS: usize = 2000;
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    let mut answers: HashMap<u64, usize> = HashMap::new();
    for round in 0..ROUNDS {
        raw.send(&call(round, "yield")).await;
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        raw.send(&notification("notifications/cancelled", json!({"requestId": round})))
            .await;
        raw.send(&request(format!("p{round}"), "ping", json!({}))).await;
        loop {
            let answer = raw.next().await;
            match answer["id"].as_u64() {
                Some(id) => *answers.entry(id).or_default() += 1,
                None => break,
            }
        }
    }
    let closing = tokio::spawn(session.close());
    while let Some(answer) = raw.read().await {
        *answers
            .entry(answer["id"].as_u64().expect("the id of a call"))
            .or_default() += 1;
    }
    closing.await.expect("no panic");
    assert!(answers.values().all(|&answers| answers == 1), "{answers:?}");
    assert!(answers.len() <= ROUNDS);
}

#[tokio::test]
async fn dropping_a_call_cancels_it_on_the_peer() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_tool(tool("hang")).await });
    let id = raw.next().await["id"].clone();
    calling.abort();
    let told = raw.next().await;
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &id)
    );
    // A late response is ignored.
    raw.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}}))
        .await;
    raw.is_quiet().await;
}

#[tokio::test]
async fn cancelling_a_handler_cancels_the_requests_that_it_sent() {
    let tools = Tools::new(1);
    let (_session, mut raw) = opened(
        &tools,
        Options::default(),
        Revision::V2025_11_25,
        json!({"roots": {}}),
        16,
    )
    .await;
    let asked = raw.ask(&call(1, "ask")).await;
    assert_eq!(asked["method"], "roots/list");
    raw.send(&notification("notifications/cancelled", json!({"requestId": 1})))
        .await;
    let told = raw.next().await;
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], asked["id"]);
    raw.is_quiet().await;
}
