//! A handler that has answered immediately so often that it runs without a separate task, and then hangs or panics.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::session::raw::{Tools, code, notification, of_hub, request, text, until};

/// More calls than a handler needs to run without a task.
const MANY: usize = 200;

fn call(id: impl Into<Value>, what: &str) -> Value {
    request(id, "tools/call", json!({"name": "changes", "arguments": {"do": what}}))
}

#[tokio::test]
async fn a_handler_run_without_a_task_can_hang_and_be_cancelled_without_blocking() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    for id in 0..MANY {
        assert_eq!(text(&raw.ask(&call(id, "answer")).await), Some("done"));
    }
    raw.send(&call("hangs", "hang")).await;
    let answer = raw.ask(&call("next", "answer")).await;
    assert_eq!((&answer["id"], text(&answer)), (&json!("next"), Some("done")));
    let dropped = tools.log.dropped.load(Ordering::SeqCst);
    raw.send(&notification("notifications/cancelled", json!({"requestId": "hangs"})))
        .await;
    until("the handler is dropped", || {
        tools.log.dropped.load(Ordering::SeqCst) == dropped + 1
    })
    .await;
    raw.is_quiet().await;
}

#[tokio::test]
async fn a_panic_of_a_handler_run_without_a_task_fails_only_its_own_request() {
    let tools = Tools::new(1);
    let (_session, mut raw) = of_hub(&tools).await;
    for id in 0..MANY {
        raw.send(&call(id, "answer")).await;
        assert_eq!(raw.next().await["id"], json!(id));
    }
    let answer = raw.ask(&call("panics", "panic")).await;
    assert_eq!((&answer["id"], code(&answer)), (&json!("panics"), Some(-32603)));
    let answer = raw.ask(&call("panics", "answer")).await;
    assert_eq!(text(&answer), Some("done"));
    raw.is_quiet().await;
}
