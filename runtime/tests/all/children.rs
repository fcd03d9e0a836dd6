//! Sessions with servers that are child processes, and the end of these processes.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use mcp_runtime::transport::ProcessExit;
use mcp_runtime::transport::stdio::{self, SpawnError, SpawnOptions};
use mcp_runtime::{
    CallError, CallServer, ClientSession, ConnectError, Context, Era, ErrorObject, Limits, Options, ServerHandler,
    ServerSide, hub, serve,
};
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::common::{connect_to, handshake};

/// A session with a server that is a shell script.
async fn session(script: &str) -> Result<ClientSession, ConnectError> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    let transport = stdio::spawn(command, SpawnOptions::default()).expect("the shell starts");
    let options = Options {
        era: Some(Era::Handshake),
        ..Options::default()
    };
    let connecting = connect_to(transport, options);
    timeout(Duration::from_secs(30), connecting)
        .await
        .expect("it doesn't hang")
}

fn exit(error: CallError) -> ProcessExit {
    match error {
        CallError::Exited(exit) => exit,
        error => panic!("{error:?} isn't the exit of a process"),
    }
}

#[tokio::test]
async fn the_error_of_a_server_that_dies_at_start_has_its_status_and_standard_error() {
    let script = "echo 'no such module: weather' >&2; echo 'giving up' >&2; exit 3";
    let error = session(script).await.expect_err("there is no server");
    // The text can be passed on to others, who must not read the standard error.
    assert_eq!(error.to_string(), "the server's process has ended with exit status: 3");
    let ConnectError::Call(error) = error else {
        panic!("{error:?}")
    };
    let exit = exit(error);
    assert_eq!(exit.status.and_then(|status| status.code()), Some(3));
    assert_eq!(exit.stderr, "no such module: weather\ngiving up");
}

#[tokio::test]
async fn only_the_end_of_a_long_standard_error_is_kept() {
    let script = "head -c 3000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; i=0; while [ $i -lt 2000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1";
    let error = session(script).await.expect_err("there is no server");
    let ConnectError::Call(error) = error else {
        panic!("{error:?}")
    };
    let exit = exit(error);
    assert!(exit.stderr.ends_with("line 1998\nline 1999"), "{}", exit.stderr);
    assert!((4000..=4096).contains(&exit.stderr.len()), "{}", exit.stderr.len());
}

#[tokio::test]
async fn pending_and_later_calls_of_a_server_that_dies_fail_with_its_exit() {
    let result = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {"tools": {}},
        "serverInfo": {"name": "shell", "version": "1.0"},
    });
    let answer = json!({"jsonrpc": "2.0", "id": 1, "result": result});
    let script = format!("read line; echo '{answer}'; read line; read line; echo 'out of memory' >&2; kill -9 $$");
    let session = session(&script).await.expect("the server begins");
    let call = || session.peer().list_tools(hub::PaginatedRequestParams::default());
    for _ in 0..2 {
        let called = timeout(Duration::from_secs(30), call()).await.expect("it doesn't hang");
        let exit = exit(called.expect_err("the server dies"));
        assert_eq!(exit.stderr, "out of memory");
        assert_eq!(
            exit.status.map(|status| status.to_string()).as_deref(),
            Some("signal: 9 (SIGKILL)")
        );
    }
}

#[tokio::test]
async fn the_error_of_a_missing_program_names_it() {
    let command = Command::new("/nowhere/weather-server");
    let error: SpawnError = stdio::spawn(command, SpawnOptions::default()).expect_err("there is none");
    assert_eq!(error.program, "/nowhere/weather-server");
    assert_eq!(error.error.kind(), std::io::ErrorKind::NotFound);
    assert!(
        error.to_string().starts_with("can't start `/nowhere/weather-server`: "),
        "{error}"
    );
}

#[tokio::test]
async fn the_error_of_a_missing_working_directory_names_it() {
    for (directory, of_directory) in [("/nowhere", " in `/nowhere`, which isn't a directory"), ("/", "")] {
        let mut command = Command::new("/nowhere/weather-server");
        command.current_dir(directory);
        let error = stdio::spawn(command, SpawnOptions::default()).expect_err("it isn't started");
        let beginning = format!("can't start `/nowhere/weather-server`{of_directory}: ");
        assert!(error.to_string().starts_with(&beginning), "{error}");
    }
}

/// A server whose responses are larger than the buffer of a pipe.
struct Large;

impl ServerHandler<Context<ServerSide>> for Large {
    async fn list_tools(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        let tool = hub::Tool::new("large", json!({"type": "object"})).with_description("x".repeat(200_000));
        Ok(hub::ListToolsResult::new(vec![tool]))
    }
}

/// The tests below run this one in a separate process, whose standard input and output it uses.
#[test]
fn a_server_in_a_child() {
    if std::env::var_os("MCP_TEST_SERVER").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(async {
        let info = hub::Implementation::new("large", "1.0");
        let capabilities = serde_json::from_value(json!({"tools": {}})).expect("capabilities");
        let options = Options {
            limits: Limits {
                close_timeout: Duration::from_millis(200),
                ..Limits::default()
            },
            ..Options::default()
        };
        let transport = stdio::stdio().expect("threads start");
        serve(Large, info, capabilities, None, options, transport).ended().await;
    });
    // The harness would print its result, which nobody reads.
    std::process::exit(7);
}

/// Starts a session with the server above, sends it these lines, closes its input, and reads nothing more. The server
/// must end.
fn ends_unread(lines: &[String]) {
    let mut command = std::process::Command::new(std::env::current_exe().expect("a test has a path"));
    command
        .args(["--exact", "children::a_server_in_a_child", "--nocapture"])
        .env("MCP_TEST_SERVER", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn().expect("the test starts");
    let mut input = child.stdin.take().expect("it has an input");
    let mut output = child.stdout.take().expect("it has an output");
    let params = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
    });
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    writeln!(input, "{initialize}").expect("the server reads");
    let (mut read, mut byte) = (Vec::new(), [0]);
    while !read.ends_with(b"}\n") {
        output.read_exact(&mut byte).expect("the server answers");
        read.extend(byte);
    }
    for line in lines {
        writeln!(input, "{line}").expect("the server reads");
    }
    drop(input);
    let begun = std::time::Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break Some(status);
        }
        if begun.elapsed() > Duration::from_secs(30) {
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if status.is_none() {
        let _ = child.kill();
    }
    assert_eq!(
        status.and_then(|status| status.code()),
        Some(7),
        "the server ends on its own"
    );
    drop(output);
}

fn requests(method: &str, ids: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    let method = method.to_owned();
    ids.map(move |id| json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string())
}

#[test]
fn a_server_ends_when_its_input_closes_and_its_output_is_not_read() {
    ends_unread(&requests("tools/list", 1..4).collect::<Vec<_>>());
}

#[test]
fn a_server_ends_when_its_input_closes_with_unread_input_and_output() {
    let lists = requests("tools/list", 1..4);
    ends_unread(&lists.chain(requests("ping", 4..500)).collect::<Vec<_>>());
}
