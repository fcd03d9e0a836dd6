//! Tests that both programs of a pair do the same.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A program that is killed when this is dropped.
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
    output: Receiver<String>,
}

impl Server {
    fn start(program: &str) -> Self {
        let mut server = Self::spawn(&mut Command::new(program));
        server.initialize();
        server
    }

    fn spawn(command: &mut Command) -> Self {
        let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = Running(process.expect("it starts"));
        let lines = BufReader::new(process.0.stdout.take().expect("it has an output")).lines();
        let (sender, output) = channel();
        // The thread ends with the process.
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { process, output }
    }

    fn initialize(&mut self) -> Value {
        let result = self.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"elicitation": {}, "sampling": {}},
                "clientInfo": {"name": "test", "version": "1.0"},
            }),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    fn send(&mut self, message: &Value) {
        let input = self.process.0.stdin.as_mut().expect("it has an input");
        writeln!(input, "{message}").expect("it reads");
    }

    fn receive(&mut self) -> Value {
        let line = self.output.recv_timeout(Duration::from_secs(60));
        let line = line.expect("it writes within a minute");
        serde_json::from_str(&line).expect("it writes JSON")
    }

    /// Subscribes in a stateless revision, and returns the acknowledged filter.
    fn listen(&mut self, wanted: Value) -> Value {
        let params = with_meta(json!({"notifications": wanted}));
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": params}));
        let agreed = self.wait_for("notifications/subscriptions/acknowledged");
        // A server with rmcp starts listening only after it has sent this.
        std::thread::sleep(Duration::from_millis(300));
        agreed["params"]["notifications"].clone()
    }

    /// Returns the next message with this method.
    fn wait_for(&mut self, method: &str) -> Value {
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message;
            }
        }
    }

    /// Calls a tool that reports progress, and returns the numbers of each report and the result.
    fn call_with_progress(&mut self, tool: &str, arguments: Value) -> (Vec<Value>, Value) {
        let meta = json!({"progressToken": "token"});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        let mut reports = Vec::new();
        loop {
            let message = self.receive();
            if message["method"] == "notifications/progress" {
                let report = &message["params"];
                assert_eq!(report["progressToken"], "token");
                reports.push(json!([report["progress"].as_f64(), report["total"].as_f64()]));
            } else if message["id"] == 1 {
                return (reports, message["result"].clone());
            }
        }
    }

    /// Sends a request, and returns its result or the code of its error.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == 1 && message.get("method").is_none() {
                return message
                    .get("result")
                    .cloned()
                    .unwrap_or_else(|| message["error"]["code"].clone());
            }
        }
    }

    /// Calls a tool, and returns its content and whether it failed.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        json!([result["content"], result["isError"].as_bool().unwrap_or_default()])
    }

    /// Calls a tool, and returns its structured content.
    fn structured(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        result["structuredContent"].clone()
    }

    /// Returns the names and descriptions of the tools, and the value that `more` returns for each.
    fn tools(&mut self, more: impl Fn(&Value) -> Value) -> Vec<Value> {
        let listed = self.request("tools/list", json!({}));
        let mut tools = listed["tools"].as_array().expect("they are listed").clone();
        tools.sort_by_key(|tool| tool["name"].to_string());
        let told = tools
            .iter()
            .map(|tool| json!([tool["name"], tool["description"], more(tool)]));
        told.collect()
    }
}

#[test]
fn servers_with_five_tools_do_the_same() {
    let [ours, theirs] = [env!("CARGO_BIN_EXE_tools"), env!("CARGO_BIN_EXE_rmcp-tools")].map(|program| {
        let mut server = Server::start(program);
        let mut told = server.tools(|tool| tool["inputSchema"]["required"].clone());
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

/// Adds the metadata that each request needs in 2026-07-28.
fn with_meta(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1.0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

#[test]
fn servers_report_the_same_changes_of_a_resource() {
    let programs = [env!("CARGO_BIN_EXE_resources"), env!("CARGO_BIN_EXE_rmcp-resources")];
    let [ours, theirs] = programs.map(|program| {
        let mut server = Server::start(program);
        let all = json!({"uri": "notes://all"});
        let mut told = vec![
            server.request("resources/list", json!({}))["resources"].clone(),
            server.request("resources/read", json!({"uri": "notes://none"})),
            server.request("resources/subscribe", json!({"uri": "notes://none"})),
            server.request("resources/subscribe", all.clone()),
        ];
        let add = json!({"name": "add", "arguments": {"text": "Buy bread"}});
        // The notification can arrive before the response.
        server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": add}));
        told.push(server.wait_for("notifications/resources/updated")["params"].clone());
        told.push(server.request("resources/read", all.clone())["contents"].clone());
        told.push(server.request("resources/unsubscribe", all));
        server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": add}));
        // After unsubscribing, the two responses arrive without a notification.
        server.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "ping"}));
        let ids = [server.receive(), server.receive()].map(|message| message["id"].as_u64());
        assert!(ids.iter().all(Option::is_some), "{program}: {ids:?}");
        told
    });
    assert_eq!(ours, theirs);
    assert_eq!(
        ours[1..5],
        [json!(-32002), json!(-32002), json!({}), json!({"uri": "notes://all"})]
    );
    assert_eq!(ours[5][0]["text"], "Buy bread\n");
}

#[test]
fn servers_report_the_same_changes_of_a_resource_without_a_session() {
    let programs = [env!("CARGO_BIN_EXE_resources"), env!("CARGO_BIN_EXE_rmcp-resources")];
    let [ours, theirs] = programs.map(|program| {
        let mut server = Server::spawn(&mut Command::new(program));
        let agreed = server.listen(json!({"resourceSubscriptions": ["notes://all"], "toolsListChanged": true}));
        let add = with_meta(json!({"name": "add", "arguments": {"text": "Buy bread"}}));
        server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": add}));
        let updated = server.wait_for("notifications/resources/updated")["params"].clone();
        let read = server.request("resources/read", with_meta(json!({"uri": "notes://all"})));
        (
            agreed["resourceSubscriptions"].clone(),
            updated,
            read["contents"].clone(),
        )
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours.0, json!(["notes://all"]));
}

#[test]
fn clients_list_the_same_tools_and_get_the_same_results() {
    for server in [env!("CARGO_BIN_EXE_tools"), env!("CARGO_BIN_EXE_rmcp-tools")] {
        let [ours, theirs] = [env!("CARGO_BIN_EXE_lists"), env!("CARGO_BIN_EXE_rmcp-lists")].map(|client| {
            let output = Command::new(client).arg(server).output().expect("it runs");
            String::from_utf8(output.stdout).expect("it writes UTF-8")
        });
        assert_eq!(ours, theirs, "{server}");
        assert!(ours.contains("\nshow\n[{") && ours.contains("task 0"), "{ours}");
    }
}

#[test]
fn proxies_change_the_same_messages_in_the_same_way() {
    let server = env!("CARGO_BIN_EXE_tools");
    let [ours, theirs] = [env!("CARGO_BIN_EXE_proxy"), env!("CARGO_BIN_EXE_rmcp-proxy")].map(|program| {
        let mut proxy = Server::spawn(Command::new(program).arg(server));
        let listed_without_session = proxy.request("tools/list", with_meta(json!({})));
        let mut told = vec![
            listed_without_session,
            proxy.initialize(),
            proxy.request("tools/list", json!({})),
        ];
        told.push(proxy.call("add", json!({"text": "Buy bread"})));
        told.push(proxy.request("prompts/get", json!({"name": "none"})));
        told.push(proxy.request("ping", json!({})));
        told
    });
    assert_eq!(ours, theirs);
    for listed in [&ours[0], &ours[2]] {
        let description = listed["tools"][0]["description"].as_str().expect("it has one");
        assert!(description.starts_with("[proxied] "), "{description}");
    }
}

#[test]
fn clients_answer_elicitation_and_sampling_requests_of_servers_in_the_same_way() {
    for server in [env!("CARGO_BIN_EXE_asks"), env!("CARGO_BIN_EXE_rmcp-asks")] {
        // Our client starts with 2026-07-28, in which rmcp's server doesn't support elicitation and sampling.
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
        BufReader::new(output).read_line(&mut url).expect("it prints its URL");
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
fn in_process_tests_of_servers_succeed() {
    for program in [env!("CARGO_BIN_EXE_in-process"), env!("CARGO_BIN_EXE_rmcp-in-process")] {
        let status = Command::new(program).status().expect("it runs");
        assert!(status.success(), "{program}");
    }
}

#[test]
fn an_rmcp_server_and_a_router_can_be_combined_into_one_server() {
    assert!(Command::new(env!("CARGO_BIN_EXE_steps")).status().unwrap().success());
}

/// Returns a path without a file.
fn absent_file(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn servers_keep_the_same_notes_in_a_database() {
    let programs = [env!("CARGO_BIN_EXE_notes"), env!("CARGO_BIN_EXE_rmcp-notes")];
    let [ours, theirs] = programs.map(|program| {
        let name = Path::new(program).file_name().expect("it has a name").to_string_lossy();
        let database = absent_file(&format!("{name}.db"));
        let start = || {
            let mut server = Server::spawn(Command::new(program).arg(&database));
            server.initialize();
            server
        };
        let mut server = start();
        let mut told = server.tools(|tool| {
            let hints = &tool["annotations"];
            json!([tool["inputSchema"]["required"], tool["outputSchema"]["required"], hints])
        });
        let add = json!({"name": "add_note", "arguments": {"title": "Shopping", "text": "Buy bread"}});
        // The notification can arrive before the response.
        server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": add}));
        server.wait_for("notifications/resources/list_changed");
        told.push(server.structured("add_note", json!({"title": "Work", "text": "Call Ada"})));
        let resources = |server: &mut Server| server.request("resources/list", json!({}))["resources"].clone();
        told.push(resources(&mut server));
        let templates = server.request("resources/templates/list", json!({}));
        told.push(templates["resourceTemplates"].clone());
        told.push(server.structured("search_notes", json!({"text": "bread"})));
        told.push(server.request("resources/read", json!({"uri": "notes://1"}))["contents"].clone());
        told.push(server.request("resources/read", json!({"uri": "notes://9"})));
        told.push(server.request("prompts/list", json!({}))["prompts"].clone());
        for arguments in [json!({}), json!({"topic": "Ada"})] {
            let params = json!({"name": "summarize", "arguments": arguments});
            told.push(server.request("prompts/get", params)["messages"].clone());
        }
        told.push(server.call("delete_note", json!({"id": 1})));
        told.push(server.call("delete_note", json!({"id": 1})));
        drop(server);
        told.push(resources(&mut start()));
        told
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[3], json!({"id": 2, "title": "Work", "text": "Call Ada"}));
    assert_eq!(ours[8], json!(-32002));
    assert_eq!(
        ours[11][0]["content"]["text"],
        "Summarize these notes:\n\n# Work\n\nCall Ada"
    );
    assert_eq!(ours[14][0]["uri"], "notes://2");
}

#[test]
fn servers_report_changes_of_a_list_in_a_database_without_a_session() {
    for program in [env!("CARGO_BIN_EXE_notes"), env!("CARGO_BIN_EXE_rmcp-notes")] {
        let mut server = Server::spawn(Command::new(program).arg(":memory:"));
        let agreed = server.listen(json!({"resourcesListChanged": true, "toolsListChanged": true}));
        assert_eq!(agreed["resourcesListChanged"], true, "{program}");
        let add = with_meta(json!({"name": "add_note", "arguments": {"title": "Shopping", "text": "Buy bread"}}));
        server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": add}));
        server.wait_for("notifications/resources/list_changed");
    }
}

#[test]
fn gateways_offer_the_same_tools_and_results() {
    let programs = [env!("CARGO_BIN_EXE_gateway"), env!("CARGO_BIN_EXE_rmcp-gateway")];
    let [ours, theirs] = programs.map(|program| {
        let mut gateway = Server::spawn(Command::new(program).args([
            concat!("tasks=", env!("CARGO_BIN_EXE_tools")),
            concat!("plugins=", env!("CARGO_BIN_EXE_plugins")),
            "none=/nonexistent",
        ]));
        let offered = gateway.initialize();
        let mut told = vec![
            offered["capabilities"]["tools"].clone(),
            gateway.tools(|tool| tool["inputSchema"]["required"].clone()).into(),
            gateway.call("tasks_add", json!({"text": "Buy bread"})),
            gateway.call("tasks_finish", json!({"number": 7})),
            gateway.request("tools/call", json!({"name": "others_add", "arguments": {}})),
            gateway.request("tools/call", json!({"name": "tasks_none", "arguments": {}})),
        ];
        let (reports, result) = gateway.call_with_progress("plugins_work", json!({}));
        told.push(json!([reports, result["content"]]));
        let learn = json!({"name": "plugins_learn", "arguments": {}});
        gateway.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": learn}));
        gateway.wait_for("notifications/tools/list_changed");
        told.push(gateway.tools(|_| Value::Null).into());
        told.push(gateway.call("plugins_recall", json!({})));
        told
    });
    assert_eq!(ours, theirs);
    assert_eq!(ours[2], json!([[{"type": "text", "text": "task 0"}], false]));
    assert_eq!(ours[4..6], [json!(-32602), json!(-32602)]);
    assert_eq!(ours[6][0], json!([[1.0, 3.0], [2.0, 3.0], [3.0, 3.0]]));
    assert_eq!(ours[8][0][0]["text"], "known");
}

#[test]
fn gateways_report_changes_of_tools_without_a_session() {
    for program in [env!("CARGO_BIN_EXE_gateway"), env!("CARGO_BIN_EXE_rmcp-gateway")] {
        let mut gateway = Server::spawn(Command::new(program).arg(concat!("plugins=", env!("CARGO_BIN_EXE_plugins"))));
        let agreed = gateway.listen(json!({"toolsListChanged": true}));
        assert_eq!(agreed["toolsListChanged"], true, "{program}");
        let learn = with_meta(json!({"name": "plugins_learn", "arguments": {}}));
        gateway.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": learn}));
        gateway.wait_for("notifications/tools/list_changed");
        let recalled = gateway.request("tools/call", with_meta(json!({"name": "plugins_recall"})));
        assert_eq!(recalled["content"][0]["text"], "known", "{program}");
    }
}

#[test]
fn clients_use_the_same_servers_from_a_configuration_file() {
    let mut web = Command::new(env!("CARGO_BIN_EXE_http"));
    let mut web = Running(web.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut url = String::new();
    let output = web.0.stdout.as_mut().expect("it has an output");
    BufReader::new(output).read_line(&mut url).expect("it prints its URL");
    let servers = json!({"mcpServers": {
        "absent": {"command": "/nonexistent"},
        "refused": {"url": url.trim()},
        "tasks": {"command": "sh", "args": ["-c", "exec \"$SERVER\""], "env": {"SERVER": env!("CARGO_BIN_EXE_tools")}},
        "web": {"url": url.trim(), "headers": {"Authorization": "Bearer ada"}},
    }});
    let file = absent_file("mcp.json");
    std::fs::write(&file, servers.to_string()).expect("it is written");
    let [ours, theirs] = [env!("CARGO_BIN_EXE_hosts"), env!("CARGO_BIN_EXE_rmcp-hosts")].map(|host| {
        let run = |call: &[&str]| {
            let output = Command::new(host).arg(&file).args(call).output().expect("it runs");
            let told = String::from_utf8(output.stdout).expect("it writes UTF-8");
            // The messages of errors differ between the libraries.
            let lines = told.lines().map(|line| match line.split_once(" failed: ") {
                Some((server, reason)) if !reason.is_empty() => format!("{server} failed"),
                _ => line.to_owned(),
            });
            (output.status.success(), lines.collect::<Vec<_>>())
        };
        [
            run(&[]),
            run(&["tasks/add", r#"{"text": "Buy bread"}"#]),
            run(&["web/user"]),
            run(&["absent/user"]),
            run(&["none/user"]),
        ]
    });
    assert_eq!(ours, theirs);
    let (_, listed) = &ours[0];
    assert_eq!(listed[..2], ["absent failed", "refused failed"]);
    assert!(listed.contains(&"tasks/show".to_owned()) && listed.contains(&"web/user".to_owned()));
    assert_eq!(
        ours[1].1.last().expect("it called"),
        r#"[{"type":"text","text":"task 0"}]"#
    );
    assert_eq!(
        ours[2].1.last().expect("it called"),
        r#"[{"type":"text","text":"ada"}]"#
    );
    assert_eq!(ours.each_ref().map(|run| run.0), [true, true, true, false, false]);
}

#[test]
fn servers_find_the_same_lines_in_a_log() {
    let path = absent_file("25000.log");
    let levels = ["INFO", "INFO", "WARN", "INFO", "ERROR"];
    let lines = (1..=25_000).map(|line| format!("12:00 {} line {line}\n", levels[line % 5]));
    std::fs::write(&path, lines.collect::<String>()).expect("it is written");
    let [ours, theirs] = [env!("CARGO_BIN_EXE_logs"), env!("CARGO_BIN_EXE_rmcp-logs")].map(|program| {
        let mut server = Server::start(program);
        let mut told = server.tools(|tool| {
            let members = |schema: &str| {
                tool[schema]["properties"]
                    .as_object()
                    .map(|all| json!(all.keys().collect::<Vec<_>>()))
            };
            json!([
                members("inputSchema"),
                tool["inputSchema"]["required"],
                members("outputSchema")
            ])
        });
        let (reports, counted) = server.call_with_progress("count_levels", json!({"path": path}));
        told.push(json!([reports, counted["structuredContent"]]));
        let mut search = json!({"path": path, "pattern": "ERROR line 1.{4}$", "limit": 1000});
        for _ in 0..3 {
            let mut page = server.structured("search", search.clone());
            search["after"] = page["next"].clone();
            let lines = page["lines"].as_array_mut().expect("there are lines");
            let (count, first, last) = (lines.len(), lines.first().cloned(), lines.pop());
            told.push(json!([count, first, last, page["next"]]));
        }
        for invalid in [json!({"pattern": "("}), json!({"path": "/nonexistent"})] {
            let mut search = json!({"path": path, "pattern": "ERROR"});
            search
                .as_object_mut()
                .expect("it is one")
                .extend(invalid.as_object().expect("it is one").clone());
            told.push(server.call("search", search));
        }
        let too_many = server.call("search", json!({"path": path, "pattern": "ERROR", "limit": 2000}));
        told.push(too_many[1].clone());
        told
    });
    assert_eq!(ours, theirs);
    assert_eq!(
        ours[2][1],
        json!({"lines": 25_000, "levels": {"ERROR": 5000, "INFO": 15_000, "WARN": 5000}})
    );
    assert_eq!(ours[2][0].as_array().map(Vec::len), Some(2));
    assert_eq!(ours[3][1], json!({"number": 10_004, "text": "12:00 ERROR line 10004"}));
    assert_eq!(ours[5][3], Value::Null);
    assert_eq!(ours[8], json!(true));
}

#[test]
fn servers_stop_reading_a_log_when_the_call_is_cancelled() {
    for program in [env!("CARGO_BIN_EXE_logs"), env!("CARGO_BIN_EXE_rmcp-logs")] {
        let pipe = absent_file(&format!(
            "{}.pipe",
            Path::new(program).file_name().expect("it has a name").display()
        ));
        let made = Command::new("mkfifo").arg(&pipe).status().expect("it runs");
        assert!(made.success());
        let mut server = Server::start(program);
        let count = json!({"name": "count_levels", "arguments": {"path": pipe}});
        server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": count}));
        let mut log = OpenOptions::new().write(true).open(&pipe).expect("the server reads it");
        writeln!(log, "12:00 INFO").expect("the server reads it");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}));
        // Writing fails once the server has stopped reading.
        let begin = Instant::now();
        while writeln!(log, "12:00 INFO").is_ok() {
            assert!(begin.elapsed() < Duration::from_secs(10), "{program} keeps reading");
            std::thread::sleep(Duration::from_millis(10));
        }
        server.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "ping"}));
        assert_eq!(server.receive()["id"], 3, "{program}");
    }
}

#[test]
fn methods_and_notifications_of_a_vendor_work_in_the_same_way() {
    for program in [
        env!("CARGO_BIN_EXE_custom-method"),
        env!("CARGO_BIN_EXE_rmcp-custom-method"),
    ] {
        let output = Command::new(program).output().expect("it runs");
        assert!(output.status.success(), "{program}");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "140 visits, a hundred visits\n",
            "{program}"
        );
    }
}
