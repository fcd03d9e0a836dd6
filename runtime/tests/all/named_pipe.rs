//! Sessions over named pipes.

use std::io::ErrorKind;
use std::time::Duration;

use mcp_runtime::transport::named_pipe::{NamedPipeListener, connect, serve};
use mcp_runtime::{Client, ClientSession, Options, Revision, Router};
use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::common::PATIENCE;

/// The name of a test's pipe.
fn name(test: &str) -> String {
    format!(r"\\.\pipe\mcp-{}-{test}", std::process::id())
}

async fn session(name: &str, revision: Revision) -> ClientSession {
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let client = Client::new("client", "1.0").options(options);
    client.connect(connect(name).await.unwrap()).await.unwrap()
}

#[tokio::test]
async fn each_client_of_a_pipe_has_a_session_in_its_revision() {
    let name = name("revisions");
    let shutdown = CancellationToken::new();
    let router = Router::new("test", "1.0").tool("echo", "Greets", || "Hello");
    let start = move |client| router.clone().serve(Options::default(), client);
    let serving = serve(NamedPipeListener::bind(&name).unwrap(), start).shutdown(shutdown.clone());
    let serving = tokio::spawn(serving.into_future());
    let mut sessions = Vec::new();
    for revision in Revision::ALL {
        sessions.push(session(&name, revision).await);
    }
    for (session, revision) in sessions.iter().zip(Revision::ALL) {
        assert_eq!(session.peer().revision(), Some(revision));
        let result = timeout(PATIENCE, session.call_tool("echo", ())).await.unwrap().unwrap();
        assert_eq!(json!(result.content), json!([{"type": "text", "text": "Hello"}]));
    }
    let last = sessions.pop().unwrap();
    for session in sessions {
        timeout(PATIENCE, session.close()).await.unwrap();
    }
    shutdown.cancel();
    timeout(PATIENCE, serving).await.unwrap().unwrap();
    timeout(PATIENCE, last.closed()).await.unwrap();
    assert_eq!(connect(&name).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_client_beyond_the_limit_is_served_when_another_disconnects() {
    let name = name("room");
    let router = Router::new("test", "1.0").tool("echo", "Greets", || "Hello");
    let start = move |client| router.clone().serve(Options::default(), client);
    let serving = serve(NamedPipeListener::bind(&name).unwrap(), start).max_connections(1);
    tokio::spawn(serving.into_future());
    let first = session(&name, Revision::HUB).await;
    let next = name.clone();
    let second = tokio::spawn(async move { session(&next, Revision::HUB).await });
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!second.is_finished(), "only one client is served at a time");
    first.close().await;
    let second = timeout(PATIENCE, second).await.unwrap().unwrap();
    timeout(PATIENCE, second.call_tool("echo", ())).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_pipe_with_a_server_cannot_be_bound_again() {
    let name = name("one");
    let _listener = NamedPipeListener::bind(&name).unwrap();
    let refused = NamedPipeListener::bind(&name).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::PermissionDenied);
}
