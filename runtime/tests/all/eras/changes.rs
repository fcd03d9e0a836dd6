//! The stream of changes of our client, in every revision.

use std::pin::pin;

use futures_util::StreamExt;
use mcp_runtime::router::{resource, tool};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, Change, ChangeFilter, Changes, ClientSession, Era, Options, Revision, Router, UnknownMethod, hub,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::connect_to;
use crate::eras::{Lined, PATIENCE, handshake, pipe, stateless};

fn router() -> Router {
    let news = hub::Resource::new("news", "test://news");
    let news = resource(news, || "nothing");
    Router::new("notes", "1.0")
        .tool("add", "Adds a note", || "added")
        .with(news)
}

fn options(revision: Revision) -> Options {
    Options {
        supported: vec![revision],
        ..Options::default()
    }
}

async fn client_of(router: &Router, revision: Revision) -> ClientSession {
    let (server, client) = channel(16);
    let options = options(revision);
    let _session = router.clone().serve(options.clone(), server);
    let connected = connect_to(client, options);
    connected.await.expect("there is a session")
}

async fn next(changes: &mut Changes) -> Option<Result<Change, CallError>> {
    timeout(PATIENCE, changes.next()).await.expect("it comes")
}

fn updated(uri: &str) -> Change {
    Change::Resource(uri.into())
}

#[tokio::test]
async fn a_stream_of_changes_is_the_same_in_every_revision() {
    for revision in Revision::ALL {
        let router = router();
        let session = client_of(&router, revision).await;
        assert_eq!(session.peer().revision(), Some(revision));
        let filter = ChangeFilter::lists()
            .with_resource("test://news")
            .with_resource("test://olds");
        let mut changes = session.peer().changes(filter).await.expect("it is acknowledged");
        let agreed = ChangeFilter {
            tool_list: true,
            prompt_list: false,
            resource_list: true,
            resources: vec!["test://news".to_owned()],
            ..ChangeFilter::default()
        };
        assert_eq!(changes.acknowledged(), agreed, "{revision}");
        router.resource_updated("test://olds");
        router.resource_updated("test://news");
        assert!(matches!(next(&mut changes).await, Some(Ok(change)) if change == updated("test://news")));
        router.remove_tool("add");
        assert!(
            matches!(next(&mut changes).await, Some(Ok(Change::ToolList))),
            "{revision}"
        );
        router.remove_resource("test://news");
        assert!(
            matches!(next(&mut changes).await, Some(Ok(Change::ResourceList))),
            "{revision}"
        );
    }
}

#[tokio::test]
async fn each_stream_gets_only_the_changes_of_its_own_filter() {
    for revision in Revision::ALL {
        let router = router();
        let session = client_of(&router, revision).await;
        let peer = session.peer();
        let tools = ChangeFilter {
            tool_list: true,
            ..ChangeFilter::default()
        };
        let mut tools = peer.changes(tools).await.expect("it is acknowledged");
        let news = ChangeFilter::default().with_resource("test://news");
        let first = peer.changes(news.clone()).await.expect("it is acknowledged");
        let mut second = peer.changes(news).await.expect("it is acknowledged");
        drop(first);
        for _ in 0..3 {
            router.resource_updated("test://news");
            assert!(
                matches!(next(&mut second).await, Some(Ok(change)) if change == updated("test://news")),
                "{revision}"
            );
        }
        router.remove_tool("add");
        assert!(
            matches!(next(&mut tools).await, Some(Ok(Change::ToolList))),
            "{revision}"
        );
        router.insert(tool("again", "", || "")).expect("there is room");
        assert!(
            matches!(next(&mut tools).await, Some(Ok(Change::ToolList))),
            "{revision}"
        );
        let mut none = pin!(second.next());
        assert!(futures_util::poll!(none.as_mut()).is_pending());
    }
}

#[tokio::test]
async fn a_stream_ends_with_the_session() {
    for revision in Revision::ALL {
        let session = client_of(&router(), revision).await;
        let mut changes = session
            .peer()
            .changes(ChangeFilter::lists())
            .await
            .expect("it is acknowledged");
        session.close().await;
        match timeout(PATIENCE, changes.next()).await.expect("it ends") {
            None | Some(Err(CallError::Closed)) => {}
            other => panic!("{revision}: {other:?}"),
        }
        assert!(next(&mut changes).await.is_none());
    }
}

/// Our client in a session with a hand-written server.
async fn client_with(revision: Revision, capabilities: Value) -> (ClientSession, Lined) {
    let (transport, mut server) = pipe();
    let connecting = connect_to(transport, options(revision));
    let connecting = tokio::spawn(connecting);
    let asked = server.receive().await;
    let info = json!({"name": "server", "version": "1"});
    let result = match asked["method"].as_str() {
        Some("initialize") => {
            json!({"protocolVersion": revision.as_str(), "capabilities": capabilities, "serverInfo": info})
        }
        _ => json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": [revision.as_str()],
            "capabilities": capabilities,
        }),
    };
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        .await;
    let session = connecting.await.expect("no panic").expect("there is a session");
    if session.peer().era() == Some(Era::Handshake) {
        assert_eq!(server.receive().await["method"], "notifications/initialized");
    }
    (session, server)
}

fn acknowledgement(id: &Value, filter: Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
    let params = json!({"notifications": filter, "_meta": meta});
    json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
}

fn tagged(method: &str, id: &Value, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[tokio::test]
async fn changes_outside_the_filter_or_of_another_subscription_are_ignored() {
    let (session, mut server) = client_with(stateless(), json!({"tools": {"listChanged": true}})).await;
    let peer = session.peer().clone();
    let filter = ChangeFilter {
        tool_list: true,
        ..ChangeFilter::default()
    };
    let asking = tokio::spawn(async move { peer.changes(filter).await });
    let asked = server.receive().await;
    assert_eq!(asked["method"], "subscriptions/listen", "{asked}");
    assert_eq!(asked["params"]["notifications"], json!({"toolsListChanged": true}));
    stateless()
        .validate_call(asked.to_string().as_bytes())
        .expect("it conforms to the schema");
    let id = &asked["id"];
    let text = json!(id.to_string());
    let more = json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["test://x"]});
    server.send(acknowledgement(&json!(999), more.clone())).await;
    server.send(acknowledgement(id, more)).await;
    let mut changes = asking.await.expect("no panic").expect("it is acknowledged");
    assert!(changes.acknowledged().resources.is_empty() && !changes.acknowledged().prompt_list);
    let tools = "notifications/tools/list_changed";
    for message in [
        tagged("notifications/resources/updated", id, json!({"uri": "test://x"})),
        tagged("notifications/prompts/list_changed", id, json!({})),
        tagged(tools, &json!(999), json!({})),
        tagged(tools, &text, json!({})),
        json!({"jsonrpc": "2.0", "method": tools}),
        tagged(tools, id, json!({})),
    ] {
        server.send(message).await;
    }
    assert!(matches!(next(&mut changes).await, Some(Ok(Change::ToolList))));
    // The server ends it.
    server.send(tagged(tools, id, json!({}))).await;
    let result = json!({"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": id}});
    server.send(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    assert!(matches!(next(&mut changes).await, Some(Ok(Change::ToolList))));
    assert!(next(&mut changes).await.is_none());
}

#[tokio::test]
async fn a_subscription_that_is_dropped_is_cancelled() {
    let (session, mut server) = client_with(stateless(), json!({})).await;
    let peer = session.peer().clone();
    let asking = tokio::spawn(async move { peer.changes(ChangeFilter::lists()).await });
    let asked = server.receive().await;
    server.send(acknowledgement(&asked["id"], json!({}))).await;
    drop(asking.await.expect("no panic").expect("it is acknowledged"));
    let cancelled = server.receive().await;
    assert_eq!(cancelled["method"], "notifications/cancelled", "{cancelled}");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
    // So is a subscription whose caller is dropped before it is acknowledged.
    let peer = session.peer().clone();
    let asking = tokio::spawn(async move { peer.changes(ChangeFilter::lists()).await });
    let asked = server.receive().await;
    asking.abort();
    assert_eq!(server.receive().await["params"]["requestId"], asked["id"]);
}

#[tokio::test]
async fn an_error_instead_of_the_acknowledgement_fails_the_call() {
    let (session, mut server) = client_with(stateless(), json!({})).await;
    let peer = session.peer().clone();
    let asking = tokio::spawn(async move { peer.changes(ChangeFilter::lists()).await });
    let asked = server.receive().await;
    let error = json!({"code": -32601, "message": "no"});
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
        .await;
    assert!(matches!(asking.await.expect("no panic"), Err(CallError::Peer(error)) if error.code == -32601));
}

#[tokio::test]
async fn a_connection_that_is_lost_ends_the_stream_with_an_error() {
    let (session, mut server) = client_with(stateless(), json!({})).await;
    let peer = session.peer().clone();
    let asking = tokio::spawn(async move { peer.changes(ChangeFilter::lists()).await });
    let asked = server.receive().await;
    server.send(acknowledgement(&asked["id"], json!({}))).await;
    let mut changes = asking.await.expect("no panic").expect("it is acknowledged");
    drop(server);
    assert!(matches!(next(&mut changes).await, Some(Err(_))));
    assert!(next(&mut changes).await.is_none());
}

#[tokio::test]
async fn resources_of_a_session_are_subscribed_to_once_and_unsubscribed_by_the_last_stream() {
    let capabilities = json!({"resources": {"subscribe": true}});
    let (session, mut server) = client_with(handshake(), capabilities).await;
    let peer = session.peer().clone();
    let filter = ChangeFilter::default().with_resource("test://a");
    let subscribing = {
        let (peer, filter) = (peer.clone(), filter.clone().with_resource("test://no"));
        tokio::spawn(async move { peer.changes(filter).await })
    };
    let asked = server.receive().await;
    assert_eq!(
        (&asked["method"], &asked["params"]),
        (&json!("resources/subscribe"), &json!({"uri": "test://a"}))
    );
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {}}))
        .await;
    let asked = server.receive().await;
    let error = json!({"code": -32002, "message": "there is none"});
    server
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
        .await;
    let first = subscribing.await.expect("no panic").expect("there is a stream");
    assert_eq!(first.acknowledged(), filter);
    let second = peer.changes(filter).await.expect("there is a stream");
    drop(first);
    // The next request comes first, so the dropped stream hasn't unsubscribed.
    let listing = tokio::spawn({
        let peer = peer.clone();
        async move { peer.call_unknown(UnknownMethod::new("x/y")).await }
    });
    assert_eq!(server.receive().await["method"], "x/y");
    drop(second);
    let asked = server.receive().await;
    assert_eq!(
        (&asked["method"], &asked["params"]),
        (&json!("resources/unsubscribe"), &json!({"uri": "test://a"}))
    );
    listing.abort();
}
