//! Many calls and many sessions at once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_runtime::transport::channel;
use mcp_runtime::{CallServer, Options};
use serde_json::json;
use tokio::time::timeout;

use crate::common::connect_to;
use crate::session::raw::{Tools, alive_tasks, call, client, limits, of_hub, serve_over, tool, until};

async fn a_thousand_calls(tools: Tools, options: Options, name: &'static str) {
    let (server_end, client_end) = channel(16);
    let server = serve_over(&tools, options, server_end);
    let session = connect_to(client_end, crate::common::with_handshake())
        .await
        .expect("there is a session");
    let calls: Vec<_> = (0..1000)
        .map(|_| {
            let peer = session.peer().clone();
            tokio::spawn(async move { peer.call_tool(tool(name)).await })
        })
        .collect();
    for call in calls {
        call.await.expect("no panic").expect("a result");
    }
    assert_eq!(tools.log.done.load(Ordering::SeqCst), 1000);
    session.close().await;
    server.ended().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_are_in_flight_at_once() {
    // None is answered before all are being handled.
    let options = limits(|limits| limits.in_flight = 1000);
    a_thousand_calls(Tools::new(1000), options, "barrier").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_calls_wait_for_their_turn() {
    a_thousand_calls(Tools::new(1), Options::default(), "yield").await;
}

#[tokio::test]
async fn a_thousand_sessions_leave_no_task_behind() {
    let tools = Tools::new(1);
    for round in 0..1000 {
        // A server's client is dropped while a call is in flight.
        let (_, raw) = of_hub(&tools).await;
        raw.send(&call(1, "hang")).await;
        drop(raw);
        // A client's server is dropped, before or after the session has begun.
        if round % 2 == 0 {
            let (session, raw) = client(Options::default(), json!({}), 4).await;
            drop(raw);
            session.ended().await;
        } else {
            let (ours, theirs) = channel(4);
            let connecting = connect_to(ours, crate::common::with_handshake());
            // Nobody waits for the session any more, though the server is still there.
            assert!(timeout(Duration::ZERO, connecting).await.is_err());
            until("the client's session ends", || alive_tasks() < 40).await;
            drop(theirs);
        }
    }
    until("no task is left", || alive_tasks() == 0).await;
}
