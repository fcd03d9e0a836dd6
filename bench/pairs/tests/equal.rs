//! Both programs of a pair do the same.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A program that is stopped in the end.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server in a session of revision 2025-11-25.
struct Server {
    process: Running,
    output: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(program: &str) -> Self {
        let process = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = Running(process.expect("it starts"));
        let output = BufReader::new(process.0.stdout.take().expect("it has an output"));
        let mut server = Self { process, output };
        server.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}, "sampling": {}},
                "clientInfo": {"name": "test", "version": "1.0"},
            }),
        );
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        let input = self.process.0.stdin.as_mut().expect("it has an input");
        writeln!(input, "{message}").expect("it reads");
    }

    /// The result of a request, or the code of its error.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("it writes");
            let message: Value = serde_json::from_str(&line).expect("it writes JSON");
            if message["id"] == 1 && message.get("method").is_none() {
                return message
                    .get("result")
                    .cloned()
                    .unwrap_or_else(|| message["error"]["code"].clone());
            }
        }
    }

    /// What a tool gives, or that it fails.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        json!([result["content"], result["isError"].as_bool().unwrap_or_default()])
    }
}

#[test]
fn servers_with_five_tools_do_the_same() {
    let [ours, theirs] = [env!("CARGO_BIN_EXE_tools"), env!("CARGO_BIN_EXE_rmcp-tools")].map(|program| {
        let mut server = Server::start(program);
        let listed = server.request("tools/list", json!({}));
        let mut tools: Vec<Value> = listed["tools"].as_array().expect("they are listed").clone();
        tools.sort_by_key(|tool| tool["name"].to_string());
        let told = tools
            .iter()
            .map(|tool| json!([tool["name"], tool["description"], tool["inputSchema"]["required"]]));
        let mut told: Vec<Value> = told.collect();
        for (tool, arguments) in [
            ("add", json!({"text": "Buy bread"})),
            ("add", json!({"text": "Bake"})),
            ("list", json!({})),
            ("show", json!({"number": 1})),
            ("finish", json!({"number": 0})),
            ("finish", json!({"number": 7})),
            ("clear", json!({})),
            ("show", json!({"number": 0})),
        ] {
            told.push(server.call(tool, arguments));
        }
        told
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[8], json!([[{"type": "text", "text": "Bake"}], false]));
}

#[test]
fn servers_with_a_prompt_do_the_same() {
    let [ours, theirs] = [env!("CARGO_BIN_EXE_prompts"), env!("CARGO_BIN_EXE_rmcp-prompts")].map(|program| {
        let mut server = Server::start(program);
        let listed = server.request("prompts/list", json!({}))["prompts"][0].clone();
        let got = server.request("prompts/get", json!({"name": "greet", "arguments": {"name": "Ada"}}));
        let complete =
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "language", "value": "R"}});
        let completed = server.request("completion/complete", complete);
        let complete =
            json!({"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "language", "value": "R"}});
        let unknown = server.request("completion/complete", complete);
        (
            listed["description"].clone(),
            got["messages"].clone(),
            completed["completion"]["values"].clone(),
            unknown,
        )
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.2, json!(["Romansh"]));
}

#[test]
fn servers_ask_and_clients_answer_the_same() {
    for server in [env!("CARGO_BIN_EXE_asks"), env!("CARGO_BIN_EXE_rmcp-asks")] {
        // Our client begins in the revision of 2026-07-28, in which rmcp's server can't ask.
        let clients = [env!("CARGO_BIN_EXE_answers"), env!("CARGO_BIN_EXE_rmcp-answers")];
        let both = server == env!("CARGO_BIN_EXE_asks");
        for client in &clients[usize::from(!both)..] {
            let output = Command::new(client).arg(server).output().expect("it runs");
            let told: Value = serde_json::from_slice(&output.stdout).expect("it writes JSON");
            assert_eq!(told[0]["text"], "3 nights. Welcome!", "{client} with {server}");
        }
    }
}

#[test]
fn servers_in_an_axum_app_do_the_same() {
    for program in [env!("CARGO_BIN_EXE_http"), env!("CARGO_BIN_EXE_rmcp-http")] {
        let mut process = Running(Command::new(program).stdout(Stdio::piped()).spawn().expect("it starts"));
        let mut url = String::new();
        let output = process.0.stdout.as_mut().expect("it has an output");
        BufReader::new(output).read_line(&mut url).expect("it says where it is");
        let address = url
            .trim()
            .trim_start_matches("http://")
            .trim_end_matches("/mcp")
            .to_owned();
        let post = |headers: &str, body: &Value| {
            let (body, mut response) = (body.to_string(), String::new());
            let mut stream = TcpStream::connect(&address).expect("it listens");
            let request = format!(
                "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\nconnection: close\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
                body.len()
            );
            stream.write_all(request.as_bytes()).expect("it reads");
            stream.read_to_string(&mut response).expect("it answers");
            response
        };
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "user",
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1.0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let revision = "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: user\r\n";
        assert!(post(revision, &call).starts_with("HTTP/1.1 401"), "{program}");
        let answer = post(&format!("{revision}authorization: Bearer ada\r\n"), &call);
        assert!(answer.contains(r#""text":"ada""#), "{program}: {answer}");
    }
}

#[test]
fn servers_are_tested_within_the_process() {
    for program in [env!("CARGO_BIN_EXE_in-process"), env!("CARGO_BIN_EXE_rmcp-in-process")] {
        let status = Command::new(program).status().expect("it runs");
        assert!(status.success(), "{program}");
    }
}
