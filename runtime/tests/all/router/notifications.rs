//! Functions of a router that handle notifications.

use mcp_runtime::router::RouteError;
use mcp_runtime::{Args, CallServer, Client, Options, Peer, Revision, Router, ServerSide, State};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{call, channel, client_in, next};

const VISITED: &str = "notifications/x/visited";

#[derive(Deserialize, JsonSchema)]
struct Visited {
    page: String,
}

type Pages = UnboundedSender<String>;

/// A server with two functions for the same notification, of which the second is in a merged router.
fn site() -> (Router, UnboundedReceiver<String>) {
    let (sender, heard) = unbounded_channel();
    let more = Router::new("more", "1.0").with_state(sender.clone()).on_notification(
        VISITED,
        async |State(pages): State<Pages>| {
            pages.send("a page".to_owned()).unwrap_or_default();
        },
    );
    let router = Router::new("site", "1.0")
        .with_state(sender)
        .on_notification(VISITED, |Args(visited): Args<Visited>, State(pages): State<Pages>| {
            pages.send(visited.page).map_err(|error| error.to_string())
        })
        .tool("ping", "Answers", || "pong")
        .merge(&more);
    (router, heard)
}

#[tokio::test]
async fn every_function_for_a_notification_gets_it_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (router, mut heard) = site();
        let (client, _) = client_in(revision, &router).await;
        let peer = client.peer();
        peer.notify_method("notifications/x/other", ()).await.unwrap();
        // The function that takes arguments isn't called with invalid ones, but the other function is.
        for params in [json!({"page": 1}), json!({"page": "home"})] {
            peer.notify_method(VISITED, params).await.unwrap();
        }
        for expected in ["a page", "home", "a page"] {
            assert_eq!(next(&mut heard).await, expected, "{revision}");
        }
        assert!(
            peer.call_tool(call("ping", json!({}))).await.is_ok(),
            "the session continues"
        );
    }
}

#[tokio::test]
async fn a_notification_has_the_revision_of_the_requests_before_it() {
    let (sender, mut heard) = unbounded_channel();
    let revision_of = |peer: Peer<ServerSide>, State(revisions): State<Pages>| {
        let revision = peer.revision().map(|revision| revision.to_string());
        revisions.send(revision.unwrap_or_default()).unwrap_or_default();
    };
    let router = Router::new("site", "1.0")
        .with_state(sender)
        .on_notification(VISITED, revision_of);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (client, _) = client_in(revision, &router).await;
        client.peer().notify_method(VISITED, ()).await.unwrap();
        assert_eq!(next(&mut heard).await, revision.as_str());
    }
}

#[tokio::test]
async fn a_protocol_notification_without_parameters_has_empty_arguments() {
    let (sender, mut heard) = unbounded_channel();
    let changed = |Args(params): Args<serde_json::Map<String, Value>>, State(pages): State<Pages>| {
        pages.send(json!(params).to_string()).unwrap_or_default();
    };
    let router = Router::new("roots", "1.0")
        .with_state(sender)
        .on_notification("notifications/roots/list_changed", changed);
    let (server, transport) = channel(16);
    router.serve(Options::default(), server);
    let options = Options {
        supported: vec![Revision::V2025_11_25],
        ..Options::default()
    };
    let client = Client::new("test", "1.0").roots(Vec::new).options(options);
    let session = client.connect(transport).await.unwrap();
    let peer = session.peer();
    peer.notify_method("notifications/roots/list_changed", ())
        .await
        .unwrap();
    assert_eq!(next(&mut heard).await, "{}");
}

#[test]
fn a_notification_function_that_takes_a_missing_state_is_refused() {
    let needs_state = |State(_): State<Pages>| {};
    let refused = Router::new("test", "1.0").try_on_notification(VISITED, needs_state);
    let kind = "notification";
    assert!(
        matches!(&refused, Err(RouteError::NoState { kind: found, key, .. }) if *found == kind && key == VISITED),
        "{refused:?}"
    );
}
