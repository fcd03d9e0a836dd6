//! Peers that disconnect.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mcp_runtime::transport::channel;
use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::{CallError, CallServer, ClientHandler, ClientSide, Context, Options, Router, connect, hub};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, duplex};
use tokio::time::Instant;

use crate::common::connect_to;
use crate::session::raw::{Tools, alive_tasks, call, client, notification, of_hub, tool, until};

#[tokio::test(start_paused = true)]
async fn every_pending_call_ends_at_once_when_the_peer_dies() {
    let (session, mut raw) = client(Options::default(), json!({"tools": {}}), 200).await;
    let calls: Vec<_> = (0..100)
        .map(|_| {
            let peer = session.peer().clone();
            tokio::spawn(async move { peer.call_tool(tool("hang")).await })
        })
        .collect();
    for _ in 0..100 {
        assert_eq!(raw.next().await["method"], "tools/call");
    }
    let begun = Instant::now();
    drop(raw);
    for call in calls {
        let ended = call.await.expect("no panic");
        assert!(matches!(ended, Err(CallError::Closed)), "{ended:?}");
    }
    let late = session.peer().call_tool(tool("late")).await;
    assert!(matches!(late, Err(CallError::Closed)), "{late:?}");
    session.ended().await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn connecting_fails_at_once_when_the_peer_dies_in_the_middle_of_a_message() {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = tokio::io::split(ours);
    let transport = LineTransport::new(reader, writer, LineLimits::default());
    let connecting = tokio::spawn(async { connect_to(transport, crate::common::with_handshake()).await });
    let mut theirs = BufReader::new(theirs);
    let mut line = String::new();
    theirs.read_line(&mut line).await.expect("a line");
    theirs
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"proto")
        .await
        .expect("written");
    let begun = Instant::now();
    drop(theirs);
    let ended = connecting.await.expect("no panic").expect_err("there is no session");
    assert_eq!(ended.to_string(), "the session has ended");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn handlers_are_dropped_when_the_peer_dies() {
    let tools = Tools::new(1);
    let (session, raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    raw.send(&notification("notifications/roots/list_changed", json!({})))
        .await;
    until("both are handled", || tools.log.begun.load(Ordering::SeqCst) == 2).await;
    drop(raw);
    session.ended().await;
    until("the handler is dropped", || {
        tools.log.dropped.load(Ordering::SeqCst) == 1
    })
    .await;
    // A notification handler may run as long as closing may take.
    tokio::time::sleep(Options::default().limits.close_timeout).await;
    until("no task is left", || alive_tasks() == 0).await;
}

/// A handler whose `Arc` shows whether it has been dropped.
struct Kept(#[expect(dead_code, reason = "it is only held")] Arc<()>);

impl ClientHandler<Context<ClientSide>> for Kept {}

#[tokio::test(start_paused = true)]
async fn the_handler_of_an_ended_session_is_dropped_even_if_its_peer_is_kept() {
    let (ours, theirs) = channel(16);
    let router = Router::new("server", "1.0");
    let _served = router.serve(Options::default(), theirs);
    let kept = Arc::new(());
    let info = hub::Implementation::new("client", "1");
    let handler = Kept(Arc::clone(&kept));
    let session = connect(
        handler,
        info,
        hub::ClientCapabilities::default(),
        Options::default(),
        ours,
    )
    .await
    .expect("it connects");
    let peer = session.peer().clone();
    session.close().await;
    // The task of the session ends next.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&kept), 1);
    drop(peer);
}
