//! Timeouts and progress.

use std::time::Duration;

use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, CallServer, Limits, Options};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::common::connect_to;
use crate::session::raw::{PATIENCE, Raw, client, notification, tool};

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_times_out_and_is_cancelled() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let begun = Instant::now();
    let ended = session.peer().call_tool(tool("hang")).await;
    assert!(matches!(ended, Err(CallError::TimedOut(_))), "{ended:?}");
    let (waited, limit) = (begun.elapsed(), Limits::default().call_timeout);
    assert!(waited >= limit && waited < limit + Duration::from_secs(1), "{waited:?}");
    let id = raw.next().await["id"].clone();
    let told = raw.next().await;
    assert_eq!(
        (&told["method"], &told["params"]["requestId"]),
        (&json!("notifications/cancelled"), &id)
    );
    raw.is_quiet().await;
}

#[tokio::test]
async fn the_arguments_of_a_call_with_progress_are_sent_verbatim() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let arguments = r#"{"z":1.50,"a":12345678901234567890123,"m":1e400,"s":"\u00e9"}"#;
    let mut params = tool("any");
    params.arguments = Some(mcp_wire::from_str(arguments).expect("arguments"));
    let (progress, _made) = tokio::sync::mpsc::channel(1);
    let peer = session.peer().clone().with_progress(progress);
    let calling = tokio::spawn(async move { peer.call_tool(params).await });
    let sent = timeout(PATIENCE, raw.receiver.receive_outgoing())
        .await
        .expect("it is sent");
    let sent = String::from_utf8(sent.expect("the session continues").json).expect("text");
    assert!(sent.contains(arguments), "{sent}");
    assert!(sent.contains(r#""_meta":{"progressToken":"#), "{sent}");
    calling.abort();
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_timeout_of_a_call_up_to_the_maximum() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 16).await;
    let (progress, mut made) = tokio::sync::mpsc::channel(64);
    let peer = session.peer().clone().with_progress(progress);
    let begun = Instant::now();
    let calling = tokio::spawn(async move { peer.call_tool(tool("hang")).await });
    let token = raw.next().await["params"]["_meta"]["progressToken"].clone();
    assert!(!token.is_null());
    let mut told = 0;
    while !calling.is_finished() {
        told += 1;
        assert!(told < 100, "the call lasts forever");
        let params = json!({"progressToken": token, "progress": told});
        raw.send(&notification("notifications/progress", params)).await;
        tokio::time::sleep(Limits::default().call_timeout * 5 / 6).await;
    }
    let ended = calling.await.expect("no panic");
    let cap = Limits::default().call_timeout_max;
    match ended {
        Err(CallError::TimedOut(waited)) => {
            assert!(waited >= cap && waited < cap + Duration::from_secs(1), "{waited:?}");
        }
        other => panic!("{other:?}"),
    }
    assert!(begun.elapsed() >= cap);
    let mut heard = 0;
    while let Ok(made) = made.try_recv() {
        heard += 1;
        assert!((made.progress - f64::from(heard)).abs() < 0.1, "{made:?}");
    }
    assert!(heard >= 12, "{heard}");
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_times_out_is_not_cancelled() {
    let (ours, theirs) = channel(16);
    let mut raw = Raw::new(theirs);
    let ended = connect_to(ours, crate::common::with_handshake()).await;
    assert!(ended.is_err());
    assert_eq!(raw.next().await["method"], "initialize");
    assert_eq!(
        raw.read().await,
        None,
        "the request that starts the session is never cancelled"
    );
}
