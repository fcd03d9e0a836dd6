//! The start and the end of a session.

use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use mcp_runtime::transport::{Incoming, Outgoing, Receiver, Sender, Transport, TransportError, channel};
use mcp_runtime::{ClientSession, Limits, Options, Revision, ServerSession};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::common::{connect_to, session_revisions};
use crate::session::raw::{
    Raw, Tools, alive_tasks, any_revision, call, code, initialize, notification, of_hub, opened, request, serve_over,
    text, unopened, until,
};

#[tokio::test]
async fn before_initialize_only_pings_succeed_and_a_second_initialize_is_refused() {
    for revision in session_revisions() {
        let tools = Tools::new(1);
        let (_session, mut raw) = unopened(&tools, any_revision(), 16);
        raw.is_quiet().await;
        for method in ["tools/list", "tools/call", "logging/setLevel"] {
            let refused = raw
                .ask(&request(1, method, json!({"name": "any", "level": "info"})))
                .await;
            assert_eq!((&refused["id"], code(&refused)), (&json!(1), Some(-32600)), "{refused}");
        }
        let welcome = raw.ask(&initialize(2, revision, json!({}))).await;
        assert_eq!(welcome["result"]["protocolVersion"], revision.as_str());
        let refused = raw.ask(&initialize(3, revision, json!({}))).await;
        assert_eq!((&refused["id"], code(&refused)), (&json!(3), Some(-32600)), "{refused}");
        let answer = raw.ask(&call(4, "any")).await;
        assert_eq!(text(&answer), Some("done"));
        raw.is_quiet().await;
    }
}

#[tokio::test]
async fn a_client_answers_pings_and_refuses_other_requests_during_the_handshake() {
    let (ours, theirs) = channel(16);
    let mut raw = Raw::new(theirs);
    let connecting = tokio::spawn(async { connect_to(ours, crate::common::with_handshake()).await });
    assert_eq!(raw.next().await["method"], "initialize");
    raw.is_quiet().await;
    let refused = raw.ask(&request(1, "roots/list", json!({}))).await;
    assert_eq!(code(&refused), Some(-32600), "{refused}");
    drop(raw);
    assert!(connecting.await.expect("no panic").is_err());
}

#[tokio::test]
async fn a_session_that_either_side_ends_is_closed_on_the_other_side() {
    for server_ends in [true, false] {
        let (ours, theirs) = channel(16);
        let server = serve_over(&Tools::new(1), any_revision(), theirs);
        let client = connect_to(ours, Options::default()).await;
        let client = client.expect("a session begins");
        assert!(!server.is_closed() && !client.is_closed());
        let (ends, other) = match server_ends {
            true => (server.close().boxed(), Ok(client)),
            false => (client.close().boxed(), Err(server)),
        };
        match &other {
            Ok(client) => drop(tokio::join!(client.closed(), client.closed(), ends)),
            Err(server) => drop(tokio::join!(server.closed(), server.closed(), ends)),
        }
        assert!(
            other
                .as_ref()
                .map_or_else(ServerSession::is_closed, ClientSession::is_closed)
        );
    }
}

/// A transport whose receiving half panics.
struct Panics;

impl Transport for Panics {
    type Sender = Self;
    type Receiver = Self;

    fn split(self) -> (Self, Self) {
        (Self, Self)
    }
}

impl Sender for Panics {
    async fn send(&self, _: Outgoing) -> Result<(), TransportError> {
        Ok(())
    }

    async fn close(&self) {}
}

impl Receiver for Panics {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        panic!("the transport is broken")
    }
}

#[tokio::test]
async fn a_session_is_closed_when_its_transport_panics() {
    let session = serve_over(&Tools::new(1), any_revision(), Panics);
    let closed = timeout(Duration::from_secs(5), session.closed()).await;
    assert!(closed.is_ok() && session.is_closed());
}

#[tokio::test(start_paused = true)]
async fn closing_answers_requests_in_flight_and_refuses_new_ones() {
    let tools = Tools::new(1);
    let (session, mut raw) = opened(
        &tools,
        Options::default(),
        Revision::V2025_11_25,
        json!({"roots": {}}),
        16,
    )
    .await;
    raw.send(&call(1, "second")).await;
    let asked = raw.ask(&call(2, "ask")).await;
    raw.send(&call(3, "second")).await;
    until("all are handled", || tools.log.begun.load(Ordering::SeqCst) == 3).await;
    let closing = tokio::spawn(session.close());
    tokio::task::yield_now().await;
    // New requests are refused, but those in flight can still be cancelled, and get the responses to the requests that
    // they sent.
    let refused = raw.ask(&call(4, "any")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!(4), Some(-32603)), "{refused}");
    raw.send_bytes(b"nonsense").await;
    assert_eq!(code(&raw.next().await), Some(-32700));
    raw.send(&notification("notifications/cancelled", json!({"requestId": 3})))
        .await;
    let roots = json!({"roots": [{"uri": "file:///"}]});
    let answer = raw
        .ask(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}))
        .await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(2), Some("1 roots")));
    let answer = raw.next().await;
    assert_eq!((&answer["id"], text(&answer)), (&json!(1), Some("done")));
    assert_eq!(raw.read().await, None);
    closing.await.expect("no panic");
    until("no task is left", || alive_tasks() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn closing_ends_after_its_time_limit_even_if_handlers_hang() {
    let tools = Tools::new(1);
    let (session, mut raw) = of_hub(&tools).await;
    raw.send(&call(1, "hang")).await;
    raw.send(&notification("notifications/roots/list_changed", json!({})))
        .await;
    until("both are handled", || tools.log.begun.load(Ordering::SeqCst) == 2).await;
    let begun = Instant::now();
    session.close().await;
    let closing = Limits::default().close_timeout;
    assert!(begun.elapsed() < closing * 2, "{:?}", begun.elapsed());
    assert_eq!(raw.read().await, None);
    tokio::time::sleep(closing * 2).await;
    until("no task is left", || alive_tasks() == 0).await;
}
