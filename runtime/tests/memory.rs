//! Compares the memory that concurrent calls use with the limit that the server enforces. It is a separate program,
//! because it measures its own process.
#![cfg(target_os = "linux")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Args, Options, Revision, Router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const CALLS: usize = 300;
const TEXT: usize = 1 << 20;
const MAX_BYTES: usize = 128 << 20;

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

/// Reads a figure of this process from `/proc/self/status`, in bytes.
fn figure(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("it can be read");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    kilobytes.expect("it is a number") << 10
}

/// Makes a call, discards the response, and returns its HTTP status, or 0 if there is none.
async fn call(address: SocketAddr, request: Arc<String>) -> u16 {
    let mut socket = TcpStream::connect(address).await.expect("it listens");
    let _ = socket.write_all(request.as_bytes()).await;
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = socket.read(&mut buffer).await {
        read.extend_from_slice(&buffer[..count.min(64_usize.saturating_sub(read.len()))]);
    }
    let head = String::from_utf8_lossy(&read);
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    status.unwrap_or(0)
}

#[tokio::test]
async fn concurrent_calls_use_at_most_a_quarter_more_memory_than_the_limit() {
    let (inside, arrived) = (Arc::new(AtomicUsize::new(0)), Arc::new(tokio::sync::Notify::new()));
    let (gate, counted) = (arrived.clone(), inside.clone());
    // Handlers return only once every call has arrived or was refused, so that all hold their memory at the same time.
    let echo = move |Args(Text { text }): Args<Text>| {
        let (gate, counted) = (gate.clone(), counted.clone());
        async move {
            counted.fetch_add(1, SeqCst);
            gate.notified().await;
            text
        }
    };
    let echoes = Router::new("echoes", "1.0").tool("echo", "Echoes", echo);
    let server = HttpServer::from_fn(move |transport, _| {
        let options = Options {
            supported: Revision::ALL.to_vec(),
            ..Options::default()
        };
        echoes.clone().serve(options, transport);
    });
    let server = server.max_bytes(MAX_BYTES).revisions(Revision::ALL).json_only(true);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
    let address = listener.local_addr().expect("it has an address");
    let serving = tokio::spawn(serve(listener, server).into_future());

    let modern = Revision::ALL.into_iter().max().expect("there are revisions");
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"text": "x".repeat(TEXT)}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": modern.as_str(),
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let body = body.to_string();
    let request = Arc::new(format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json\r\nmcp-protocol-version: {}\r\nmcp-method: tools/call\r\nmcp-name: echo\r\n\
         content-length: {}\r\n\r\n{body}",
        modern.as_str(),
        body.len(),
    ));
    drop(body);
    let before = figure("VmRSS:");
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(call(address, request.clone()));
    }
    let mut refused = 0;
    while inside.load(SeqCst) + refused < CALLS {
        tokio::select! {
            Some(status) = calls.join_next() => {
                assert!(matches!(status.expect("it doesn't panic"), 503 | 0), "a connection may be cut while the body is sent");
                refused += 1;
            }
            () = tokio::time::sleep(Duration::from_millis(10)) => {}
        }
    }
    let held = figure("VmRSS:") - before;
    arrived.notify_waiters();
    while let Some(status) = calls.join_next().await {
        assert_eq!(status.expect("it doesn't panic"), 200);
    }
    let peak = figure("VmHWM:") - before;
    serving.abort();
    let percent = |bytes: usize| bytes * 100 / MAX_BYTES;
    println!(
        "{} calls of 1 MiB at once, {refused} refused: they held {} % of the limit, and {} % at most",
        CALLS - refused,
        percent(held),
        percent(peak)
    );
    assert!(peak < MAX_BYTES * 5 / 4, "{} % of the limit", percent(peak));
}
