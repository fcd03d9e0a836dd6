//! Subscriptions to the changes of a stateless server.

use futures_util::StreamExt;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::{CallError, Change, ChangeFilter, Changes, ClientSession, Era, Options, Peer, UnknownMethod};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::common::connect_to;
use crate::http_client::server::*;
use crate::http_client::stateless::{discovered, revision};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

/// A client that has one request in flight at most.
async fn connected(server: &Server) -> ClientSession {
    let mut http = HttpOptions::default();
    http.requests = 1;
    let transport = HttpClient::new(&server.url(), http).expect("the address is one");
    let options = Options {
        supported: vec![revision()],
        era: Some(Era::Stateless),
        ..Options::default()
    };
    let connecting = tokio::spawn(connect_to(transport, options));
    let asked = server.next().await;
    let answer = discovered(&asked.body["id"]);
    asked.json(200, "", &answer).await;
    let session = timeout(PATIENCE, connecting).await.expect("it doesn't hang");
    session.expect("no panic").expect("there is a session")
}

fn event(method: &str, id: &Value, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({TAG: id});
    let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    format!("event: message\ndata: {message}\n\n")
}

/// Subscribes to changes: the acknowledged request at the server, and the client's stream.
async fn listened(server: &Server, session: &ClientSession) -> (Asked, Changes) {
    let peer = session.peer().clone();
    let asking: JoinHandle<Result<Changes, CallError>> = tokio::spawn(async move {
        let filter = ChangeFilter::lists();
        Peer::changes(&peer, filter).await
    });
    let mut asked = server.next().await;
    assert_eq!(asked.header("mcp-method"), Some("subscriptions/listen"));
    let agreed = json!({"notifications": {"toolsListChanged": true}});
    let acknowledged = event("notifications/subscriptions/acknowledged", &asked.body["id"], agreed);
    asked.say(&format!("{STREAM}{acknowledged}")).await;
    let changes = timeout(PATIENCE, asking).await.expect("it doesn't hang");
    (asked, changes.expect("no panic").expect("it is acknowledged"))
}

async fn next(changes: &mut Changes) -> Option<Result<Change, CallError>> {
    timeout(PATIENCE, changes.next()).await.expect("it comes")
}

#[tokio::test]
async fn changes_arrive_beside_other_requests_and_a_cut_stream_ends_with_an_error() {
    let server = Server::start().await;
    let session = connected(&server).await;
    let (mut stream, mut changes) = listened(&server, &session).await;
    let changed = event("notifications/tools/list_changed", &stream.body["id"], json!({}));
    stream.say(&changed).await;
    assert!(matches!(next(&mut changes).await, Some(Ok(Change::ToolList))));

    let peer = session.peer().clone();
    let calling = tokio::spawn(async move { peer.call_unknown(UnknownMethod::new("odd/method")).await });
    let asked = server.next().await;
    let answer = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {"resultType": "complete"}});
    asked.json(200, "", &answer).await;
    let called = timeout(PATIENCE, calling).await.expect("it doesn't hang");
    assert!(called.expect("no panic").is_ok());

    drop(stream);
    assert!(matches!(next(&mut changes).await, Some(Err(CallError::Cut(_)))));
    assert!(next(&mut changes).await.is_none());
}

#[tokio::test]
async fn dropping_the_changes_closes_their_stream() {
    let server = Server::start().await;
    let session = connected(&server).await;
    let (stream, changes) = listened(&server, &session).await;
    drop(changes);
    stream.left().await;
    drop(session);
}

#[tokio::test]
async fn a_subscription_ended_by_the_server_ends_the_stream_without_an_error() {
    let server = Server::start().await;
    let session = connected(&server).await;
    let (mut stream, mut changes) = listened(&server, &session).await;
    let id = stream.body["id"].clone();
    let result = json!({"resultType": "complete", "_meta": {TAG: id}});
    let response = json!({"jsonrpc": "2.0", "id": id, "result": result});
    stream.say(&format!("event: message\ndata: {response}\n\n")).await;
    assert!(next(&mut changes).await.is_none());
}
