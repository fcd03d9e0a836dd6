//! The queue of notifications.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallClient, Context, Limits, Options, Revision, ServerHandler, ServerSession, ServerSide, UnknownMethod, hub, serve,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::subscribe;
use crate::session::raw::{Raw, initialize, limits, notification, request};
use crate::session::stray_input::Warnings;

/// A server that requests its client's roots at each notification, once it gets a permit.
struct Asking {
    heard: Arc<AtomicUsize>,
    may_ask: Arc<tokio::sync::Semaphore>,
}

impl ServerHandler<Context<ServerSide>> for Asking {
    async fn on_unknown(&self, _: UnknownMethod, context: &Context<ServerSide>) {
        let _permit = self.may_ask.acquire().await;
        context.peer().list_roots(None).await.expect("the client answers");
        self.heard.fetch_add(1, Ordering::SeqCst);
    }
}

async fn asking(
    options: Options,
    may_ask: usize,
) -> (ServerSession, Raw, Arc<AtomicUsize>, Arc<tokio::sync::Semaphore>) {
    let (ours, theirs) = channel(16);
    let (heard, may_ask) = (Arc::default(), Arc::new(tokio::sync::Semaphore::new(may_ask)));
    let handler = Asking {
        heard: Arc::clone(&heard),
        may_ask: Arc::clone(&may_ask),
    };
    let info = hub::Implementation::new("server", "1");
    let session = serve(handler, info, hub::ServerCapabilities::default(), None, options, ours);
    let mut raw = Raw::new(theirs);
    raw.ask(&initialize(
        "init",
        Revision::V2025_11_25,
        json!({"roots": {"listChanged": true}}),
    ))
    .await;
    (session, raw, heard, may_ask)
}

/// Answers the requests of [`Asking`] until another message comes, and returns that message.
async fn answer_roots(raw: &mut Raw) -> Value {
    loop {
        let asked = raw.next().await;
        if asked["method"] != "roots/list" {
            return asked;
        }
        raw.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}}))
            .await;
    }
}

#[tokio::test]
async fn a_notification_handler_that_sends_requests_does_not_block_the_session() {
    let (_session, mut raw, heard, _) = asking(Options::default(), 1).await;
    // More notifications than the queue holds, while no request of the handler is answered.
    for round in 0..300 {
        raw.send(&notification(
            "notifications/roots/list_changed",
            json!({"_meta": {"round": round}}),
        ))
        .await;
    }
    raw.send(&request("still there", "ping", json!({}))).await;
    let answer = timeout(Duration::from_secs(30), answer_roots(&mut raw)).await;
    assert_eq!(answer.expect("the session continues")["id"], "still there");
    let waiting = Limits::default().notifications;
    timeout(Duration::from_secs(30), async {
        while heard.load(Ordering::SeqCst) < waiting {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
    })
    .await
    .expect("the queued notifications are handled");
}

#[tokio::test]
async fn a_flood_of_notifications_causes_one_warning() {
    let warnings = Warnings::default();
    let _guards = subscribe(warnings.clone());
    let options = limits(|limits| limits.notifications = 2);
    let (_session, mut raw, ..) = asking(options, 0).await;
    for round in 0..100 {
        let params = json!({"_meta": {"round": round}});
        raw.send(&notification("notifications/roots/list_changed", params))
            .await;
    }
    raw.is_quiet().await;
    let warnings = warnings.0.lock().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("a notification is dropped"), "{warnings:?}");
}

#[tokio::test]
async fn a_change_notification_is_merged_with_an_equal_one_in_a_full_queue() {
    let options = limits(|limits| limits.notifications = 2);
    let (_session, mut raw, heard, may_ask) = asking(options, 0).await;
    let change = notification("notifications/roots/list_changed", json!({}));
    for _ in 0..100 {
        raw.send(&change).await;
    }
    raw.is_quiet().await;
    may_ask.add_permits(1);
    let total = async {
        while heard.load(Ordering::SeqCst) < 2 {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
        // At most one is being handled, and two wait.
        for _ in 0..20 {
            raw.send(&request("p", "ping", json!({}))).await;
            answer_roots(&mut raw).await;
        }
        heard.load(Ordering::SeqCst)
    };
    let total = timeout(Duration::from_secs(30), total)
        .await
        .expect("the queued notifications are handled");
    assert!((2..=3).contains(&total), "{total}");
}
