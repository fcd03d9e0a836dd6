//! Limits on the messages that a peer sends, and on those that it leaves unread.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_adapters::v2025_11_25::PingRequest;
use mcp_runtime::transport::channel;
use mcp_runtime::{CallError, CallServer, Limits, Options, Revision};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::common::connect_to;
use crate::session::raw::{
    Tools, alive_tasks, batching, call, client, code, limits, notification, opened, request, serve_over, text, tool,
    until,
};

#[tokio::test(start_paused = true)]
async fn a_client_that_never_reads_does_not_block_the_session_and_its_cost_is_bounded() {
    let tools = Tools::new(1);
    let options = limits(|limits| {
        (limits.in_flight, limits.waiting) = (4, 4);
        limits.unread_bytes = 32 * 1024;
    });
    let (session, raw) = opened(&tools, options, batching(), json!({}), 1).await;
    let pings = json!([request(1, "ping", json!({})), request(2, "ping", json!({}))]);
    for round in 0..1000 {
        raw.send(&call(round, "any")).await;
        raw.send(&request("p", "ping", json!({}))).await;
        raw.send(&pings).await;
    }
    // The session's own tasks, the calls that are handled or wait, and as many refusals as may be unread.
    assert!(alive_tasks() < 100, "{}", alive_tasks());
    // Closing still ends.
    let begun = Instant::now();
    session.close().await;
    assert!(
        begun.elapsed() <= 3 * Limits::default().close_timeout,
        "{:?}",
        begun.elapsed()
    );
    until("no task is left", || alive_tasks() == 0).await;
}

#[tokio::test]
async fn two_peers_that_fill_the_channel_in_both_directions_do_not_deadlock() {
    let (server_end, client_end) = channel(1);
    let server = serve_over(&Tools::new(1), Options::default(), server_end);
    let client = connect_to(client_end, crate::common::with_handshake());
    let client = client.await.expect("there is a session");
    let pings = (0..200).map(|_| async {
        let (ours, theirs) = (PingRequest::default(), PingRequest::default());
        let (by_server, by_client) = tokio::join!(server.peer().call_custom(ours), client.peer().call_custom(theirs));
        by_server.expect("the client answers");
        by_client.expect("the server answers");
    });
    let all = futures_util::future::join_all(pings);
    timeout(Duration::from_secs(30), all)
        .await
        .expect("nobody waits forever");
}

#[tokio::test]
async fn calls_in_flight_do_not_use_up_the_limit_for_unread_responses() {
    let tools = Tools::new(1);
    let options = limits(|limits| limits.unread_bytes = 8 * 1024);
    let (_session, mut raw) = opened(&tools, options, Revision::V2025_11_25, json!({}), 64).await;
    for id in 0..32 {
        raw.send(&call(id, "yield")).await;
    }
    for _ in 0..32 {
        let answer = timeout(Duration::from_secs(10), raw.next()).await;
        assert_eq!(text(&answer.expect("no call waits for another")), Some("done"));
    }
}

#[tokio::test]
async fn requests_over_the_total_byte_limit_are_refused_until_others_end() {
    let tools = Tools::new(1);
    let options = limits(|limits| limits.request_bytes = 20_000);
    let (_session, mut raw) = opened(&tools, options, Revision::V2025_11_25, json!({}), 64).await;
    let large = |id: &str| {
        request(
            id,
            "tools/call",
            json!({"name": "hang", "arguments": {"x": "x".repeat(12_000)}}),
        )
    };
    raw.send(&large("first")).await;
    let refused = raw.ask(&large("second")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!("second"), Some(-32603)));
    assert_eq!(
        refused["error"]["message"],
        "the requests in flight have too many bytes"
    );
    assert_eq!(text(&raw.ask(&call("small", "any")).await), Some("done"));
    raw.send(&notification("notifications/cancelled", json!({"requestId": "first"})))
        .await;
    until("the first is gone", || tools.log.dropped.load(Ordering::SeqCst) == 2).await;
    raw.send(&large("third")).await;
    raw.is_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn calls_to_a_server_that_never_reads_time_out_and_leave_few_tasks() {
    let options = limits(|limits| {
        (limits.in_flight, limits.waiting) = (4, 4);
        limits.call_timeout = Duration::from_secs(1);
    });
    let (session, raw) = client(options, json!({"tools": {}}), 1).await;
    for _ in 0..200 {
        let ended = session.peer().call_tool(tool("any")).await;
        assert!(matches!(ended, Err(CallError::TimedOut(_))), "{ended:?}");
    }
    // The session's own tasks, and those that send the cancellations of the calls.
    assert!(alive_tasks() <= 12, "{}", alive_tasks());
    session.close().await;
    until("no task is left", || alive_tasks() == 0).await;
    drop(raw);
}

#[tokio::test]
async fn requests_over_the_limit_in_flight_are_refused_until_others_end() {
    let tools = Tools::new(1);
    let options = limits(|limits| (limits.in_flight, limits.waiting) = (2, 3));
    let (_session, mut raw) = opened(&tools, options, Revision::V2025_11_25, json!({}), 64).await;
    for id in 0..5 {
        raw.send(&call(id, "hang")).await;
    }
    let refused = raw.ask(&call(5, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(5), Some(-32603)));
    raw.is_quiet().await;
    assert_eq!(
        tools.log.begun.load(Ordering::SeqCst),
        2,
        "only two are handled at a time"
    );
    for id in 0..5 {
        raw.send(&notification("notifications/cancelled", json!({"requestId": id})))
            .await;
    }
    // The cancelled calls free their places.
    loop {
        let answer = raw.ask(&call(6, "any")).await;
        if text(&answer) == Some("done") {
            break;
        }
        assert_eq!(code(&answer), Some(-32603), "{answer}");
        tokio::task::yield_now().await;
    }
}
