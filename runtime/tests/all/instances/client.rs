//! A client that chooses the instance for each message.

use std::net::SocketAddr;
use std::time::Duration;

use mcp_runtime::Revision;
use mcp_runtime::transport::http::client::reqwest::{Client as Http, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::instances::programs::{Instance, PATIENCE};

/// A client with a session.
pub struct Client {
    http: Http,
    pub session: String,
}

fn revision() -> &'static str {
    Revision::V2025_11_25.as_str()
}

pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

pub fn call(id: u64, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// The client's response to an input request.
pub fn answer(question: &Value) -> Value {
    let result = match question["method"].as_str() {
        Some("elicitation/create") => json!({"action": "accept", "content": {}}),
        Some("sampling/createMessage") => {
            json!({"role": "assistant", "content": {"type": "text", "text": "something"}, "model": "model"})
        }
        other => panic!("not an input request: {other:?}"),
    };
    json!({"jsonrpc": "2.0", "id": question["id"], "result": result})
}

/// The text of a tool's result.
pub fn text(response: &Value) -> &str {
    response["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {response}"))
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}/mcp")
}

impl Client {
    /// Begins a session at an instance.
    pub async fn begin(instance: &Instance) -> Self {
        let http = Http::builder().pool_max_idle_per_host(0).build().expect("a client");
        let mut client = Self {
            http,
            session: String::new(),
        };
        let params = json!({
            "protocolVersion": revision(),
            "capabilities": {"elicitation": {}, "sampling": {}},
            "clientInfo": {"name": "client", "version": "1.0"},
        });
        let response = client.post(instance.address, &request(0, "initialize", params)).await;
        assert_eq!(response.status(), 200);
        let id = response.headers()["mcp-session-id"].to_str().expect("it is text");
        client.session = id.to_owned();
        let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(instance.address, &begun).await.status(), 202);
        client
    }

    pub async fn post(&self, to: SocketAddr, message: &Value) -> Response {
        let request = self.http.post(url(to)).body(message.to_string());
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        self.send(request).await
    }

    /// Sends a request, and returns the stream of its response.
    pub async fn stream(&self, to: &Instance, message: &Value) -> Events {
        let response = self.post(to.address, message).await;
        assert_eq!(response.status(), 200);
        Events::of(response)
    }

    /// Resumes a stream.
    pub async fn resume(&self, at: &Instance, last: &str) -> Response {
        self.listen(at, Some(last)).await
    }

    /// Reads the standalone stream, or resumes a stream.
    pub async fn listen(&self, at: &Instance, last: Option<&str>) -> Response {
        let mut request = self.http.get(url(at.address)).header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.send(request).await
    }

    /// Ends the session.
    pub async fn delete(&self, at: &Instance) {
        let response = self.send(self.http.delete(url(at.address))).await;
        assert_eq!(response.status(), 204);
    }

    async fn send(&self, request: RequestBuilder) -> Response {
        let mut request = request.header("mcp-protocol-version", revision());
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session);
        }
        let response = timeout(PATIENCE, request.send()).await.expect("it answers in time");
        response.expect("it answers")
    }
}

/// The events of a stream.
pub struct Events {
    response: Response,
    text: String,
    /// The id of the last event.
    pub last: String,
}

impl Events {
    pub fn of(response: Response) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            text: String::new(),
            last: String::new(),
        }
    }

    /// The next message; `None` when the stream ends or is cut.
    pub async fn next(&mut self) -> Option<Value> {
        timeout(PATIENCE, self.read())
            .await
            .expect("a message comes, or the end")
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                if let Some(id) = field("id: ") {
                    self.last = id.to_owned();
                }
                let data = field("data: ").map(|data| serde_json::from_str(data).expect("it is JSON"));
                self.text = rest.to_owned();
                if data.is_some() {
                    return data;
                }
            }
            let chunk = self.response.chunk().await.ok()??;
            self.text.push_str(std::str::from_utf8(&chunk).expect("it is text"));
        }
    }

    /// The next message, which must come soon.
    pub async fn soon(&mut self) -> Value {
        let next = timeout(Duration::from_secs(20), self.next()).await;
        next.expect("it comes soon").expect("there is another message")
    }

    /// All messages up to the end.
    pub async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }
}
