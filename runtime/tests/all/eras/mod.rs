//! Peers of both eras: with a handshake, and stateless.

mod cache;
mod changes;
mod client;
mod listen;
mod responder;
mod server;

use mcp_runtime::transport::stdio::LineTransport;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split};
use tokio::time::timeout;

use crate::common::{PATIENCE, handshake, stateless};

/// A peer that writes and reads lines of JSON.
struct Lined {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

type OurTransport = LineTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// A peer, and our transport to it.
fn pipe() -> (OurTransport, Lined) {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let transport = LineTransport::new(reader, writer, Default::default());
    let (reader, writer) = split(theirs);
    let lines = BufReader::new(reader).lines();
    (transport, Lined { lines, writer })
}

impl Lined {
    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.expect("it is read");
    }

    async fn receive(&mut self) -> Value {
        let line = timeout(PATIENCE, self.lines.next_line()).await.expect("it comes");
        let line = line.expect("it can be read").expect("there is one");
        serde_json::from_str(&line).expect("it is JSON")
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.receive().await
    }
}

/// The `_meta` of a stateless request.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": stateless().as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A stateless request.
fn request(id: i64, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = meta();
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
