//! Clients and servers with tasks in different forms, in separate processes, with a bridge between them.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bridge::{HttpBridge, Stateless};
use crate::servers::{HttpServer, everything, mcp_rev};

const CORE: &str = "2025-11-25";
const EXTENSION: &str = "2026-07-28";

/// A client over pipes that accepts every elicitation.
struct Piped {
    bridge: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The metadata of each request, if the client is stateless.
    meta: Value,
    last_id: u64,
    asked: Vec<Value>,
}

impl Piped {
    /// Starts a bridge that speaks the other revision with the server, and a client of it.
    fn start(is_core: bool, server: &[&str]) -> Self {
        let mut bridge = mcp_rev(&[&["bridge", "--speak", if is_core { EXTENSION } else { CORE }], server].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (bridge.stdin.take(), bridge.stdout.take().unwrap());
        let mut client = Self {
            bridge,
            input,
            output: BufReader::new(output),
            meta: Value::Null,
            last_id: 0,
            asked: Vec::new(),
        };
        let info = json!({"name": "test", "version": "1.0"});
        if is_core {
            let params = json!({"protocolVersion": CORE, "clientInfo": info, "capabilities": {"elicitation": {}}});
            let agreed = client.call("initialize", params);
            assert_eq!(agreed["protocolVersion"], CORE);
            assert!(agreed["capabilities"]["tasks"]["cancel"].is_object(), "{agreed}");
            client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        } else {
            client.meta = json!({
                "io.modelcontextprotocol/protocolVersion": EXTENSION,
                "io.modelcontextprotocol/clientInfo": info,
                "io.modelcontextprotocol/clientCapabilities":
                    {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
            });
        }
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Returns the result of a request, or its error.
    fn call(&mut self, method: &str, mut params: Value) -> Value {
        self.last_id += 1;
        if !self.meta.is_null() {
            params["_meta"] = self.meta.clone();
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the bridge ends");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message["method"].is_string() {
                if !message["id"].is_null() {
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "accept"}});
                    self.send(&answer);
                    self.asked.push(message);
                }
                continue;
            }
            let outcome = if message["error"].is_null() { "result" } else { "error" };
            return message[outcome].take();
        }
    }

    /// Returns the state of a task, in either form, once its status is no longer this one.
    fn after(&mut self, id: &Value, status: &str) -> Value {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let state = self.call("tasks/get", json!({"taskId": id}));
            if state["status"] != status {
                return state;
            }
            assert!(Instant::now() < deadline, "{state}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.bridge.wait();
    }
}

fn confirmed(result: &Value) {
    assert_eq!(
        result["content"][0]["text"], "The user has answered: accept",
        "{result}"
    );
}

/// Uses a server that has the tasks extension with a client that has tasks in its core.
fn uses_as_core(server: &[&str]) {
    let mut client = Piped::start(true, server);
    let begin = |client: &mut Piped, tool: &str, arguments: Value| {
        let created = client.call(
            "tools/call",
            json!({"name": tool, "arguments": arguments, "task": {"ttl": 60_000}}),
        );
        created["task"]["taskId"].clone()
    };
    let confirms = begin(&mut client, "confirm_delete", json!({}));
    confirmed(&client.call("tasks/result", json!({"taskId": confirms})));
    let related = &client.asked[0]["params"]["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
    assert_eq!((client.asked.len(), related), (1, &confirms));

    let slow = begin(&mut client, "slow_compute", json!({"seconds": 60.0}));
    assert_eq!(client.call("tasks/get", json!({"taskId": slow}))["status"], "working");
    assert_eq!(
        client.call("tasks/cancel", json!({"taskId": slow}))["status"],
        "cancelled"
    );
    let crashes = begin(&mut client, "protocol_error_job", json!({}));
    assert_eq!(
        client.call("tasks/result", json!({"taskId": crashes}))["message"],
        "the job has crashed"
    );
    assert_eq!(client.after(&crashes, "working")["status"], "failed");
}

/// Uses a server that has tasks in its core with a client that has the tasks extension.
fn uses_as_extension(server: &[&str]) {
    let mut client = Piped::start(false, server);
    let begin = |client: &mut Piped, tool: &str, arguments: Value| {
        let created = client.call("tools/call", json!({"name": tool, "arguments": arguments}));
        assert_eq!(created["resultType"], "task", "{created}");
        created["taskId"].clone()
    };
    let confirms = begin(&mut client, "confirm_delete", json!({}));
    let asks = client.after(&confirms, "working");
    assert_eq!(asks["status"], "input_required", "{asks}");
    let (name, question) = asks["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["params"]["message"], "Delete it?");
    let answers = json!({"taskId": confirms, "inputResponses": {name: {"action": "accept"}}});
    client.call("tasks/update", answers);
    let mut done = client.after(&confirms, "input_required");
    if done["status"] == "working" {
        done = client.after(&confirms, "working");
    }
    assert_eq!(done["status"], "completed", "{done}");
    confirmed(&done["result"]);

    let slow = begin(&mut client, "slow_compute", json!({"seconds": 60.0}));
    assert_eq!(
        client.call("tasks/cancel", json!({"taskId": slow}))["resultType"],
        "complete"
    );
    assert_eq!(client.after(&slow, "working")["status"], "cancelled");
    let crashes = begin(&mut client, "protocol_error_job", json!({}));
    assert_eq!(
        client.after(&crashes, "working")["error"]["message"],
        "the job has crashed"
    );
}

#[test]
fn tasks_are_translated_in_both_directions_over_stdio() {
    uses_as_core(&["--", everything()]);
    uses_as_extension(&["--", everything()]);
}

#[test]
fn tasks_are_translated_in_both_directions_to_a_server_over_http() {
    let behind = HttpServer::start();
    uses_as_core(&["--to", &behind.url]);
    uses_as_extension(&["--to", &behind.url]);
}

#[test]
fn a_client_over_http_finds_its_task_on_another_connection() {
    let bridge = HttpBridge::start(&["--speak", CORE, "--", everything()]);
    let connect = || {
        let mut client = Stateless::connect(&bridge);
        client.extensions = json!({"io.modelcontextprotocol/tasks": {}});
        client
    };
    let mut client = connect();
    let params = json!({"name": "slow_compute", "arguments": {"seconds": 0.1}});
    client.request(1, "tools/call", "slow_compute", params);
    let id = client.answer()["result"]["taskId"].as_str().unwrap().to_owned();
    drop(client);
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut client = connect();
        client.request(2, "tasks/get", &id, json!({"taskId": id}));
        let state = client.answer();
        if state["result"]["status"] == "completed" {
            break;
        }
        assert_eq!(state["result"]["status"], "working", "{state}");
        assert!(Instant::now() < deadline, "{state}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
