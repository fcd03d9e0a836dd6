//! `mcp-rev bridge` and `mcp-rev gateway` on Unix sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::servers::{mcp_rev, run, stderr, weather};

/// A command that listens on a socket. It is killed when this is dropped.
struct Listening(Child);

impl Listening {
    fn start(socket: &Path, args: &[&str]) -> Self {
        let listen = format!("unix:{}", socket.display());
        let (command, args) = args.split_first().unwrap();
        let args = [&[command, "--listen", &listen][..], args].concat();
        let mut child = mcp_rev(&args).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line.trim(), format!("[listening] {listen}"));
        Self(child)
    }

    fn end(mut self) {
        let id = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a message of a stateless client, and returns the head and body of the response.
fn post(socket: &Path, headers: &[(&str, &str)], method: &str, mut params: Value) -> (String, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

fn calls(socket: &Path, tool: &str) {
    for host in ["localhost", "mcp"] {
        let params = json!({"name": tool, "arguments": {"city": "Bern"}});
        let (head, body) = post(socket, &[("Host", host), ("Mcp-Name", tool)], "tools/call", params);
        assert!(
            head.starts_with("HTTP/1.1 200 OK") && body.contains("21.5"),
            "{host}: {head} {body}"
        );
    }
    let page = [("Host", "localhost"), ("Origin", "https://evil.example")];
    let (head, _) = post(socket, &page, "tools/list", json!({}));
    assert!(head.starts_with("HTTP/1.1 403"), "{head}");
}

/// Writes a host's configuration file with the server `weather`.
fn host_file(directory: &Path) -> PathBuf {
    let file = directory.join("mcp.json");
    std::fs::write(&file, json!({"mcpServers": {"w": {"command": weather()}}}).to_string()).unwrap();
    file
}

#[test]
fn bridge_and_gateway_serve_http_on_a_unix_socket_and_remove_it() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("s");
    let file = host_file(directory.path());
    for (args, tool) in [
        (&["bridge", "--", weather()][..], "weather"),
        (&["gateway", file.to_str().unwrap()], "w_weather"),
    ] {
        // Leaves a stale socket, as a crashed server does.
        drop(UnixListener::bind(&socket).unwrap());
        let listening = Listening::start(&socket, args);
        assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
        calls(&socket, tool);
        listening.end();
        assert!(!socket.exists());
    }
}

#[test]
fn a_socket_in_use_and_a_file_that_is_not_a_socket_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (file, live) = (host_file(directory.path()), directory.path().join("live"));
    let _live = UnixListener::bind(&live).unwrap();
    let file = file.to_str().unwrap();
    for (path, reason) in [
        (file, "there is a file that isn't a socket"),
        (live.to_str().unwrap(), "another server listens on this socket"),
    ] {
        for args in [&["gateway", file][..], &["bridge", "--", weather()]] {
            let listen = format!("unix:{path}");
            let (command, args) = args.split_first().unwrap();
            let refused = run(&[&[command, "--listen", &listen][..], args].concat());
            assert_eq!(refused.status.code(), Some(2));
            assert_eq!(stderr(&refused), format!("error: {path}: {reason}\n"));
        }
    }
    assert!(std::fs::read_to_string(file).unwrap().contains("mcpServers"));
    let empty = run(&["gateway", file, "--listen", "unix:"]);
    assert!(
        stderr(&empty).contains("the path of the socket is missing"),
        "{}",
        stderr(&empty)
    );
}

#[test]
fn a_call_in_flight_is_completed_when_the_gateway_is_terminated() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let (socket, seen, file) = (path("gateway.sock"), path("seen"), path("mcp.json"));
    // Requests are recorded immediately, and each response takes a while.
    let slow = format!(
        "tee '{}' | '{}' | while read -r line; do sleep 0.7; printf '%s\\n' \"$line\"; done",
        seen.display(),
        weather()
    );
    let servers = json!({"mcpServers": {"w": {"command": "sh", "args": ["-c", slow]}}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let gateway = Listening::start(&socket, &["gateway", file.to_str().unwrap(), "--flat"]);
    let call = std::thread::spawn(move || {
        let params = json!({"name": "weather", "arguments": {"city": "Bern"}});
        let headers = [("Host", "localhost"), ("Mcp-Name", "weather")];
        post(&socket, &headers, "tools/call", params)
    });
    let is_in_flight = || std::fs::read_to_string(&seen).is_ok_and(|seen| seen.contains("\"tools/call\""));
    while !is_in_flight() {
        assert!(!call.is_finished(), "{:?}", call.join());
        std::thread::sleep(Duration::from_millis(10));
    }
    gateway.end();
    let (head, body) = call.join().unwrap();
    assert!(
        head.starts_with("HTTP/1.1 200 OK") && body.contains("21.5"),
        "{head} {body}"
    );
}

#[test]
fn a_pipe_for_a_transcript_keeps_its_mode() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o644);
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
    let before = std::fs::metadata(&pipe).unwrap().permissions();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    let bridged = run(&["bridge", "--record", pipe.to_str().unwrap(), "--", weather()]);
    assert!(bridged.status.success(), "{}", stderr(&bridged));
    assert!(reader.join().unwrap().is_empty(), "the client has sent nothing");
    assert_eq!(std::fs::metadata(&pipe).unwrap().permissions(), before);
}
