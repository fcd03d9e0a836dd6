//! Sessions over Unix sockets, and the files of the sockets.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::transport::LineLimits;
use mcp_runtime::transport::http::server::{self, HttpServer, Listener};
use mcp_runtime::transport::unix::{self, Serve, UnixListener, UnixTransport, connect};
use mcp_runtime::{Client, ClientSession, Options, Revision, Router, ServerSession};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Barrier;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::common::PATIENCE;

/// A server on a socket in its own directory.
struct Server {
    path: PathBuf,
    shutdown: CancellationToken,
    serving: JoinHandle<()>,
    _directory: TempDir,
}

fn router() -> Router {
    Router::new("test", "1.0")
        .tool("echo", "Greets", || "Hello")
        .tool("slow", "Takes its time", || async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            "Done"
        })
}

/// Starts the session with a client.
type Start = fn(UnixTransport) -> ServerSession;

async fn serve(settings: impl FnOnce(Serve<Start>) -> Serve<Start>) -> Server {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = UnixListener::bind(&path).await.unwrap();
    let shutdown = CancellationToken::new();
    let start: Start = |client| router().serve(Options::default(), client);
    let serving = settings(unix::serve(listener, start).shutdown(shutdown.clone()));
    Server {
        path,
        shutdown,
        serving: tokio::spawn(serving.into_future()),
        _directory: directory,
    }
}

async fn session(path: &Path, revision: Revision) -> ClientSession {
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let client = Client::new("client", "1.0").options(options);
    client.connect(connect(path).await.unwrap()).await.unwrap()
}

async fn calls(session: &ClientSession) {
    let result = timeout(PATIENCE, session.call_tool("echo", ())).await.unwrap().unwrap();
    assert_eq!(json!(result.content), json!([{"type": "text", "text": "Hello"}]));
}

#[tokio::test]
async fn each_client_of_a_socket_has_a_session_in_its_revision() {
    let server = serve(|serving| serving).await;
    let mut sessions = Vec::new();
    for revision in Revision::ALL {
        sessions.push(session(&server.path, revision).await);
    }
    for (session, revision) in sessions.iter().zip(Revision::ALL) {
        assert_eq!(session.peer().revision(), Some(revision));
        calls(session).await;
    }
    for session in sessions {
        session.close().await;
    }
}

#[tokio::test]
async fn a_shutdown_answers_the_calls_in_flight_ends_the_sessions_and_removes_the_socket() {
    let server = serve(|serving| serving).await;
    let session = session(&server.path, Revision::HUB).await;
    let shutdown = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        server.shutdown.cancel();
    };
    let (result, ()) = tokio::join!(session.call_tool("slow", ()), shutdown);
    assert_eq!(
        json!(result.unwrap().content),
        json!([{"type": "text", "text": "Done"}])
    );
    timeout(PATIENCE, server.serving).await.unwrap().unwrap();
    timeout(PATIENCE, session.closed()).await.unwrap();
    assert!(!server.path.exists());
}

#[tokio::test]
async fn a_client_that_sends_nothing_more_during_a_shutdown_gets_its_response() {
    let server = serve(|serving| serving).await;
    let mut stream = BufReader::new(UnixStream::connect(&server.path).await.unwrap());
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "slow"}}),
    ] {
        stream.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let mut lines = stream.lines();
    timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.shutdown.cancel();
    tokio::time::sleep(Duration::from_millis(50)).await;
    lines.get_mut().shutdown().await.unwrap();
    let answer = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap();
    assert!(answer.is_some_and(|answer| answer.contains("Done")));
}

#[tokio::test]
async fn dropping_the_server_ends_the_sessions_and_removes_the_socket() {
    let server = serve(|serving| serving).await;
    let session = session(&server.path, Revision::HUB).await;
    server.serving.abort();
    timeout(PATIENCE, session.closed()).await.unwrap();
    assert!(!server.path.exists());
}

#[tokio::test]
async fn a_client_beyond_the_limit_is_served_when_another_disconnects() {
    let server = serve(|serving| serving.max_connections(1)).await;
    let first = session(&server.path, Revision::HUB).await;
    let second = connect(&server.path).await.unwrap();
    let second = tokio::spawn(Client::new("client", "1.0").connect(second));
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!second.is_finished(), "only one client is served at a time");
    first.close().await;
    calls(&timeout(PATIENCE, second).await.unwrap().unwrap().unwrap()).await;
}

#[tokio::test]
async fn a_message_over_the_limit_is_refused_and_the_session_continues() {
    let server = serve(|serving| serving.limits(LineLimits::default().message_bytes(1000))).await;
    let mut stream = BufReader::new(UnixStream::connect(&server.path).await.unwrap());
    let mut answer = async |message: Value| -> Value {
        stream.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        timeout(PATIENCE, stream.read_line(&mut line)).await.unwrap().unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let begun = answer(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
    assert_eq!(begun["result"]["serverInfo"]["name"], "test");
    let long = json!({"jsonrpc": "2.0", "id": 2, "method": "ping", "params": {"_meta": {"x": "x".repeat(1000)}}});
    assert_eq!(answer(long).await["error"]["code"], error_code::INVALID_REQUEST);
    let ping = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
    assert_eq!(answer(ping).await, json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
}

#[tokio::test]
async fn a_client_reconnects_to_a_server_that_disconnects_on_discovery() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let listener = UnixListener::bind(&path).await.unwrap();
    let serving = tokio::spawn(async move {
        let mut first = BufReader::new(listener.accept().await.unwrap());
        let mut line = String::new();
        first.read_line(&mut line).await.unwrap();
        assert!(line.contains("server/discover"), "{line}");
        drop(first);
        let second = listener.accept().await.unwrap();
        let transport = UnixTransport::new(second, LineLimits::default());
        let options = Options {
            supported: vec![Revision::V2025_11_25],
            ..Options::default()
        };
        router().serve(options, transport).ended().await;
    });
    let transport = connect(&path).await.unwrap();
    let session = Client::new("client", "1.0").connect(transport).await.unwrap();
    assert_eq!(session.peer().revision(), Some(Revision::V2025_11_25));
    calls(&session).await;
    session.close().await;
    timeout(PATIENCE, serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn only_the_owner_can_connect_unless_the_mode_allows_more() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    let listener = UnixListener::bind(&path).await.unwrap();
    assert_eq!(mode(), 0o600);
    drop(listener);
    let _listener = UnixListener::bind_with_mode(&path, 0o660).await.unwrap();
    assert_eq!(mode(), 0o660);
    let names = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["s"], "there are no other files");
}

#[tokio::test]
async fn the_socket_of_a_dead_server_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    // The standard library leaves the file.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let listener = UnixListener::bind(&path).await.unwrap();
    let (connected, accepted) = tokio::join!(connect(&path), listener.accept());
    assert!(connected.is_ok() && accepted.is_ok());
    drop(listener);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn the_socket_of_a_live_server_is_not_replaced() {
    let server = serve(|serving| serving).await;
    let refused = UnixListener::bind(&server.path).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AddrInUse);
    assert_eq!(refused.to_string(), "another server listens on this socket");
    calls(&session(&server.path, Revision::HUB).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_servers_that_start_at_the_same_time_one_replaces_the_socket_of_a_dead_one() {
    for _ in 0..50 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let at_a_time = Arc::new(Barrier::new(8));
        let mut starting = JoinSet::new();
        for _ in 0..8 {
            let (path, at_a_time) = (path.clone(), Arc::clone(&at_a_time));
            starting.spawn(async move {
                at_a_time.wait().await;
                UnixListener::bind(path).await
            });
        }
        let bound: Vec<_> = starting.join_all().await.into_iter().filter_map(Result::ok).collect();
        assert_eq!(bound.len(), 1);
        assert!(connect(&path).await.is_ok());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn a_file_that_is_not_a_socket_is_neither_replaced_nor_removed() {
    let directory = tempfile::tempdir().unwrap();
    let (file, link, folder) = (
        directory.path().join("f"),
        directory.path().join("l"),
        directory.path().join("d"),
    );
    fs::write(&file, "text").unwrap();
    symlink(&file, &link).unwrap();
    fs::create_dir(&folder).unwrap();
    for path in [&file, &link, &folder] {
        let refused = UnixListener::bind(path).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(refused.to_string(), "there is a file that isn't a socket");
    }
    assert_eq!(fs::read_to_string(&link).unwrap(), "text");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3);
    let missing = UnixListener::bind(directory.path().join("missing/s"))
        .await
        .unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_server_that_ends_does_not_remove_the_socket_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let first = UnixListener::bind(&path).await.unwrap();
    fs::remove_file(&path).unwrap();
    let _second = UnixListener::bind(&path).await.unwrap();
    drop(first);
    assert!(connect(&path).await.is_ok());
}

/// Posts a message to an HTTP server, and returns the whole response.
async fn post(path: &Path, host: &str, message: &Value) -> String {
    let message = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        message.len()
    );
    let mut stream = UnixStream::connect(path).await.unwrap();
    stream.write_all((head + &message).as_bytes()).await.unwrap();
    let mut response = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut response))
        .await
        .unwrap()
        .unwrap();
    response
}

async fn serves_http(listener: impl Listener, path: &Path) {
    let shutdown = CancellationToken::new();
    let http = HttpServer::new(router()).allow_host("*").shutdown(shutdown.clone());
    let serving = tokio::spawn(server::serve(listener, http).shutdown(shutdown.clone()).into_future());
    let params =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
    for host in ["localhost", "weather", ""] {
        let response = post(path, host, &initialize).await;
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{host}: {response}");
        assert!(response.contains(r#""serverInfo":{"name":"test""#), "{response}");
    }
    shutdown.cancel();
    timeout(PATIENCE, serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn http_is_served_on_a_socket() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, tokios) = (directory.path().join("s"), directory.path().join("t"));
    serves_http(UnixListener::bind(&ours).await.unwrap(), &ours).await;
    assert!(!ours.exists());
    serves_http(tokio::net::UnixListener::bind(&tokios).unwrap(), &tokios).await;
}
