//! The bridge between our own client and our own servers, over stdio and HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::servers::{HttpServer, REVISIONS, everything, mcp_rev, run, stderr, stdout, succeeds, weather};
use serde_json::{Value, json};

const BRIDGE: &str = env!("CARGO_BIN_EXE_mcp-rev");

/// A bridge that serves over HTTP. It is killed when this is dropped.
pub struct HttpBridge {
    pub url: String,
    child: Child,
    /// Reads the rest of its standard error.
    stderr: Option<JoinHandle<String>>,
}

impl HttpBridge {
    pub fn start(args: &[&str]) -> Self {
        let args = [&["bridge", "--listen", "http://127.0.0.1:0/mcp"], args].concat();
        let mut child = mcp_rev(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("[listening] ").unwrap().to_owned();
        let stderr = std::thread::spawn(move || {
            let mut rest = String::new();
            let _ = output.read_to_string(&mut rest);
            rest
        });
        Self {
            url: format!("http://{address}/mcp"),
            child,
            stderr: Some(stderr),
        }
    }

    /// Terminates the bridge as a service manager does, and returns its standard error.
    fn end(mut self) -> String {
        terminate(&self.child);
        assert!(self.child.wait().unwrap().success());
        self.stderr.take().unwrap().join().unwrap()
    }
}

impl Drop for HttpBridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn terminate(child: &Child) {
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
}

/// Calls a tool that requests text of a model, which clients of every revision support.
fn samples(client: &str, server: &[&str]) -> String {
    let answers = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(answers.path(), json!({"sampling": ["a model's text"]}).to_string()).unwrap();
    let answers = answers.path().to_str().unwrap();
    let args = [
        "call",
        "test_sampling",
        "--arg",
        "prompt=hello",
        "--revision",
        client,
        "--answers",
        answers,
    ];
    succeeds(&[&args[..], server].concat())
}

#[test]
fn a_client_of_any_revision_uses_a_server_of_any_other_over_pipes() {
    for server in REVISIONS {
        for client in REVISIONS {
            let bridged = ["--", BRIDGE, "bridge", "--speak", server, "--", everything()];
            let shown = samples(client, &bridged);
            assert!(shown.contains("a model's text"), "{client} {server}: {shown}");
            let inspected = [&["inspect", "--format", "json", "--revision", client][..], &bridged].concat();
            let inspected: Value = serde_json::from_str(&succeeds(&inspected)).unwrap();
            assert_eq!(inspected["revision"], client);
            assert_eq!(inspected["server"]["name"], "everything");
            assert!(
                inspected["tools"].as_array().unwrap().len() > 10,
                "every page is listed"
            );
        }
    }
}

#[test]
fn a_client_of_any_revision_uses_a_server_of_any_other_over_http() {
    for server in REVISIONS {
        let bridge = HttpBridge::start(&["--speak", server, "--", everything()]);
        for client in REVISIONS {
            let shown = samples(client, &[&bridge.url]);
            assert!(shown.contains("a model's text"), "{client} {server}: {shown}");
        }
        bridge.end();
    }
}

#[test]
fn a_server_over_http_is_bridged_to_clients_over_stdio_and_http() {
    let behind = HttpServer::start();
    for server in REVISIONS {
        let bridge = HttpBridge::start(&["--speak", server, "--to", &behind.url]);
        for client in REVISIONS {
            let piped = ["--", BRIDGE, "bridge", "--speak", server, "--to", &behind.url];
            for way in [&piped[..], &[bridge.url.as_str()]] {
                let shown = samples(client, way);
                assert!(shown.contains("a model's text"), "{client} {server} {way:?}: {shown}");
            }
        }
    }
}

#[test]
fn the_bridge_never_forwards_credentials_of_a_client() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = std::thread::spawn(move || {
        let mut heads = String::new();
        // The server answers every request with an error; the bridge tries each era.
        for connection in listener.incoming().take(2) {
            let mut connection = connection.unwrap();
            let mut head = [0; 4096];
            let read = connection.read(&mut head).unwrap();
            heads.push_str(&String::from_utf8_lossy(&head[..read]));
            let _ = connection.write_all(b"HTTP/1.1 503 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        heads
    });
    let bridge = HttpBridge::start(&["--to", &url, "--header", "Authorization: Bearer of-the-bridge"]);
    for revision in ["2025-11-25", "2026-07-28"] {
        let header = [
            "--header",
            "Authorization: Bearer of-the-client",
            "--revision",
            revision,
        ];
        let output = run(&[&["inspect"], &header[..], &[&bridge.url]].concat());
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    drop(bridge);
    let heads = heads.join().unwrap().to_lowercase();
    assert!(heads.contains("bearer of-the-bridge"), "{heads}");
    assert!(!heads.contains("of-the-client"), "{heads}");
}

#[test]
fn messages_and_losses_are_written_to_files() {
    let directory = tempfile::tempdir().unwrap();
    let (record, losses) = (
        directory.path().join("record.jsonl"),
        directory.path().join("losses.jsonl"),
    );
    let (record, losses) = (record.to_str().unwrap(), losses.to_str().unwrap());
    let files = ["--record", record, "--losses", losses];
    let bridged = [
        &["--", BRIDGE, "bridge", "--speak", "2026-07-28"],
        &files[..],
        &["--", weather()],
    ]
    .concat();
    succeeds(&[&["inspect", "--revision", "2024-11-05"], &bridged[..]].concat());
    let read = |file| -> Vec<Value> {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(record).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "messages may contain private data");
    }
    let messages = read(record);
    for (side, direction, revision) in [
        ("client", "received", "2024-11-05"),
        ("client", "sent", "2024-11-05"),
        ("server", "received", "2026-07-28"),
        ("server", "sent", "2026-07-28"),
    ] {
        let of = |entry: &&Value| entry["side"] == side && entry["direction"] == direction;
        let written: Vec<_> = messages.iter().filter(of).collect();
        assert!(!written.is_empty(), "{side} {direction}");
        assert!(
            written.iter().skip(1).all(|entry| entry["revision"] == revision),
            "{written:?}"
        );
        assert!(
            written
                .iter()
                .all(|entry| entry["message"]["jsonrpc"] == "2.0" && entry["time"].is_f64())
        );
    }
    let checked = succeeds(&["check", "--transcript", record]);
    for side in [
        "from the server to the bridge, revision 2026-07-28",
        "from the bridge to its client, revision 2024-11-05",
    ] {
        assert!(checked.contains(side), "{side}: {checked}");
    }
    let places: Vec<Value> = read(losses);
    assert!(
        places
            .iter()
            .any(|loss| loss["method"] == "tools/list" && loss["kind"] == "dropped"),
        "{places:?}"
    );
    let distinct: std::collections::HashSet<String> = places.iter().map(Value::to_string).collect();
    assert_eq!(distinct.len(), places.len(), "each place is reported once");
}

#[test]
fn headers_of_both_sides_are_recorded_without_credentials() {
    let behind = HttpServer::start();
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record.jsonl");
    let record = record.to_str().unwrap();
    let header = ["--header", "Authorization: Bearer of-the-bridge"];
    let to = [
        &["--record", record, "--speak", "2025-11-25", "--to", &behind.url],
        &header[..],
    ]
    .concat();
    let bridge = HttpBridge::start(&to);
    for revision in ["2025-11-25", "2026-07-28"] {
        let header = ["--header", "X-Api-Key: of-the-client", "--revision", revision];
        succeeds(&[&["inspect"], &header[..], &[&bridge.url]].concat());
    }
    bridge.end();
    let text = std::fs::read_to_string(record).unwrap();
    assert!(!text.contains("of-the-"), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let heads: Vec<Value> = lines.filter(|line| line.get("http").is_some()).collect();
    let of = |side: &str, header: &str| -> Vec<Value> {
        let of_side = heads.iter().filter(|line| line["side"] == side);
        let values = of_side.map(|line| line["http"]["request"][header].clone());
        values.filter(|value| !value.is_null()).collect()
    };
    assert!(
        of("client", "x-api-key").iter().all(|value| value == "***"),
        "{heads:?}"
    );
    assert!(
        of("server", "authorization").iter().all(|value| value == "***"),
        "{heads:?}"
    );
    assert!(of("client", "mcp-session-id").contains(&json!("***")), "{heads:?}");
    assert!(of("server", "mcp-session-id").contains(&json!("***")), "{heads:?}");
    assert!(
        of("client", "mcp-protocol-version").contains(&json!("2026-07-28")),
        "{heads:?}"
    );
    assert!(
        heads
            .iter()
            .all(|line| line["http"]["path"] == "/mcp" && line["http"]["status"].is_u64())
    );
    assert!(!of("client", "x-api-key").is_empty() && !of("server", "authorization").is_empty());
    // The lines with headers aren't taken for messages.
    assert!(succeeds(&["check", "--transcript", record]).contains("from the server to the bridge"));
}

#[test]
fn an_error_response_with_an_http_error_status_is_recorded_as_a_message() {
    let behind = HttpServer::start();
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("record.jsonl");
    let record = record.to_str().unwrap();
    let mut bridge = mcp_rev(&["bridge", "--record", record, "--to", &behind.url]);
    let mut child = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    });
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "vendor/nothing", "params": {"_meta": meta}});
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut answer)
        .unwrap();
    drop(input);
    child.wait().unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
    let text = std::fs::read_to_string(record).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_server = |line: &&Value| line["side"] == "server" && line["message"]["error"] == answer["error"];
    assert_eq!(lines.iter().filter(of_server).count(), 1, "{text}");
    assert!(lines.iter().any(|line| line["http"]["status"] == 404), "{text}");
}

#[test]
fn a_server_that_cannot_be_started_is_reported_to_the_client() {
    let mut bridge = mcp_rev(&["bridge", "--", "/nowhere/server"]);
    bridge
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = bridge.spawn().unwrap();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
    }});
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{initialize}").unwrap();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(answer["id"], 1);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("/nowhere/server"),
        "{answer}"
    );
}

#[cfg(unix)]
#[test]
fn a_client_gets_an_error_after_the_connect_timeout() {
    let bridge = ["--", BRIDGE, "bridge", "--connect-timeout", "1", "--", "sleep", "60"];
    for revision in REVISIONS {
        // Without the option, the client times out first.
        let waited = run(&[&["inspect", "--timeout", "20", "--revision", revision][..], &bridge].concat());
        assert_eq!(waited.status.code(), Some(3));
        let told = stderr(&waited);
        assert!(told.contains("no answer came within 1s"), "{told}");
    }
    let refused = run(&["bridge", "--connect-timeout", "0", "--", "sleep", "60"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn the_longest_connect_timeout_can_be_extended_by_a_login() {
    let longest = u64::MAX.to_string();
    succeeds(&[
        "bridge",
        "--connect-timeout",
        &longest,
        "--auth",
        "--to",
        "http://127.0.0.1:9/mcp",
    ]);
}

/// A bank with a handshake. Its tool `transfer` requests confirmation once the file `gate` exists in the folder given
/// as its argument, and its tool `wait` does nothing. Each call creates a file.
const BANK: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9][0-9]*\).*/\1/p')
  account=$(printf '%s' "$line" | sed -n 's/.*"account":"\([^"]*\)".*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bank","version":"1"}}}\n' "$id" ;;
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}\n' "$id" ;;
    *'"transfer"'*)
      call=$id
      touch "$1/called-$$-$id"
      ( while [ ! -e "$1/gate" ]; do sleep 0.02; done
        printf '{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":{"message":"Confirm transfer from %s","requestedSchema":{"type":"object","properties":{}}}}\n' "$id" "$account" ) & ;;
    *'"wait"'*) touch "$1/called-$$-$id" ;;
    *'"action"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"transferred"}]}}\n' "$call" ;;
  esac
done
"#;

/// A stateless client with its own connection, which supports elicitation by forms.
pub struct Stateless {
    stream: BufReader<TcpStream>,
    /// The user that a proxy would name in a header.
    user: Option<String>,
    /// The extensions that it declares.
    pub extensions: Value,
}

impl Stateless {
    pub fn connect(bridge: &HttpBridge) -> Self {
        let address = bridge.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self {
            stream: BufReader::new(stream),
            user: None,
            extensions: json!({}),
        }
    }

    fn call(&mut self, id: u64, tool: &str, mut params: Value) {
        params["name"] = tool.into();
        self.request(id, "tools/call", tool, params);
    }

    /// Sends a request, with its method and name in the headers.
    pub fn request(&mut self, id: u64, method: &str, name: &str, mut params: Value) {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": self.extensions},
            "io.modelcontextprotocol/clientInfo": {"name": "same", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nMcp-Name: {name}\r\nContent-Length: {}\r\n",
            body.len()
        );
        let user = self.user.as_ref().map(|user| format!("X-User: {user}\r\n"));
        let message = head + &user.unwrap_or_default() + "\r\n" + &body;
        self.stream.get_mut().write_all(message.as_bytes()).unwrap();
    }

    /// Reads the next message, from a JSON body or an event.
    pub fn answer(&mut self) -> Value {
        let mut length = None;
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).expect("an answer comes in time");
            assert_ne!(read, 0, "the connection ends");
            let header = line.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse().unwrap());
            } else if let (true, Some(length)) = (line == "\r\n", length) {
                let mut body = vec![0; length];
                self.stream.read_exact(&mut body).expect("an answer comes in time");
                return serde_json::from_slice(&body).unwrap();
            } else if let Some(event) = line.strip_prefix("data: {") {
                return serde_json::from_str(&format!("{{{event}")).unwrap();
            }
        }
    }

    /// Accepts the input requests in the result of a transfer.
    fn accept(&mut self, id: u64, account: &str, asked: &Value) {
        let questions = asked["result"]["inputRequests"]
            .as_object()
            .expect("the result requests input");
        let answers: serde_json::Map<String, Value> = questions
            .keys()
            .map(|name| (name.clone(), json!({"action": "accept", "content": {}})))
            .collect();
        let state = &asked["result"]["requestState"];
        let params = json!({"arguments": {"account": account}, "inputResponses": answers, "requestState": state});
        self.call(id, "transfer", params);
    }
}

/// Waits until this number of calls has reached servers.
fn wait_for_calls(folder: &Path, calls: usize) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while std::fs::read_dir(folder).unwrap().count() < calls {
        assert!(Instant::now() < deadline, "the calls arrive in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for calls of the bank, and lets it request confirmation.
fn open_gate(folder: &Path, calls: usize) {
    wait_for_calls(folder, calls);
    std::fs::write(folder.join("gate"), "").unwrap();
}

#[test]
fn an_elicitation_during_a_call_never_reaches_another_client() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = HttpBridge::start(&["--", "sh", "-c", BANK, "sh", folder.path().to_str().unwrap()]);
    let (mut alice, mut mallory) = (Stateless::connect(&bridge), Stateless::connect(&bridge));
    alice.call(1, "transfer", json!({"arguments": {"account": "ALICE-1234"}}));
    wait_for_calls(folder.path(), 1);
    mallory.call(1, "wait", json!({}));
    open_gate(folder.path(), 2);
    let asked = alice.answer();
    assert!(
        asked.to_string().contains("Confirm transfer from ALICE-1234"),
        "{asked}"
    );
    // The answer can come on another connection.
    let mut alice = Stateless::connect(&bridge);
    alice.accept(2, "ALICE-1234", &asked);
    let done = alice.answer();
    assert_eq!(done["result"]["content"][0]["text"], "transferred", "{done}");
}

#[test]
fn concurrent_elicitations_over_http_all_reach_their_clients() {
    let folder = tempfile::tempdir().unwrap();
    let bridge = HttpBridge::start(&["--", "sh", "-c", BANK, "sh", folder.path().to_str().unwrap()]);
    let mut clients: Vec<Stateless> = (0..8).map(|_| Stateless::connect(&bridge)).collect();
    for (account, client) in clients.iter_mut().enumerate() {
        client.call(1, "transfer", json!({"arguments": {"account": account.to_string()}}));
    }
    open_gate(folder.path(), clients.len());
    for (account, client) in clients.iter_mut().enumerate() {
        let asked = client.answer();
        assert!(asked.to_string().contains(&format!("from {account}")), "{asked}");
        client.accept(2, &account.to_string(), &asked);
        let done = client.answer();
        assert_eq!(done["result"]["content"][0]["text"], "transferred", "{done}");
    }
}

/// The number of server processes that get a call of each of these users, each on its own connection.
fn servers_of(options: &[&str], users: &[Option<&str>]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let behind = ["--", "sh", "-c", BANK, "sh", folder.path().to_str().unwrap()];
    let bridge = HttpBridge::start(&[options, &behind].concat());
    let call = |user: &Option<&str>| {
        let mut client = Stateless::connect(&bridge);
        client.user = user.map(str::to_owned);
        client.call(1, "wait", json!({}));
        client
    };
    let _clients: Vec<Stateless> = users.iter().map(call).collect();
    wait_for_calls(folder.path(), users.len());
    let names = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let processes: std::collections::HashSet<String> = names
        .filter_map(|name| Some(name.to_str()?.strip_prefix("called-")?.split('-').next()?.to_owned()))
        .collect();
    processes.len()
}

#[test]
fn clients_share_a_server_only_with_the_same_principal() {
    let users = [Some("ann"), Some("ann"), Some("bob")];
    assert_eq!(servers_of(&["--principal-header", "X-User"], &users), 2);
}

#[test]
fn each_connection_has_its_own_server_unless_one_user_is_declared() {
    assert_eq!(servers_of(&[], &[None, None]), 2);
    assert_eq!(servers_of(&["--one-user"], &[None, None]), 1);
}

#[test]
fn the_start_option_starts_the_server_before_the_first_client() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"touch "$1/started"; exec cat"#;
    let _bridge = HttpBridge::start(&[
        "--start",
        "--",
        "sh",
        "-c",
        script,
        "sh",
        folder.path().to_str().unwrap(),
    ]);
    wait_for_calls(folder.path(), 1);
}

#[test]
fn a_verbose_bridge_reports_no_members_that_the_session_takes_over() {
    let call = [
        "call",
        "weather",
        "--arg",
        "city=Bern",
        "--revision",
        "2026-07-28",
        "-v",
    ];
    let bridge = ["--", BRIDGE, "bridge", "-v", "--speak", "2025-06-18", "--", weather()];
    let called = run(&[&call[..], &bridge].concat());
    assert!(called.status.success());
    let log = stderr(&called);
    assert!(log.contains("[lost] initialize: elicitation.url dropped"), "{log}");
    assert!(!log.contains("_meta") && !log.contains("lost in conversion"), "{log}");
}
