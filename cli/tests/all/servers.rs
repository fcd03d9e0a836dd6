//! Our own example servers as child processes, and helpers that run `mcp-rev`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;

/// The example server that implements every feature.
pub fn everything() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| build("everything"))
}

/// The example server of the README.
pub fn weather() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| build("weather"))
}

/// Builds an example of the runtime, because cargo doesn't build examples for the tests of other packages. The
/// selection of packages is the same as for the tests of the README, so that the build is reused.
fn build(example: &str) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--all-features"]);
    cargo.args(["--example", example]).current_dir(workspace);
    // These variables would change the build: the script of `ring` would run again, and everything that depends on it
    // would be rebuilt.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name.to_string_lossy().starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(name);
        }
    }
    let built = cargo.status().unwrap();
    assert!(built.success(), "the build of {example} failed");
    let programs: PathBuf = Path::new(env!("CARGO_BIN_EXE_mcp-rev")).parent().unwrap().into();
    let program = programs.join("examples").join(example);
    program.to_str().unwrap().to_owned()
}

/// A server over HTTP on 127.0.0.1. It ends when this is dropped.
pub struct HttpServer {
    pub url: String,
    child: Child,
    input: Option<ChildStdin>,
}

impl HttpServer {
    pub fn start() -> Self {
        let mut child = Command::new(everything())
            .arg("--http")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut url)
            .unwrap();
        let input = child.stdin.take();
        Self {
            url: url.trim().to_owned(),
            child,
            input,
        }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The revisions of both eras that the tests use.
pub const REVISIONS: [&str; 3] = ["2024-11-05", "2025-11-25", "2026-07-28"];

pub fn mcp_rev(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-rev"));
    command.args(args).stdin(Stdio::null());
    command
}

pub fn run(args: &[&str]) -> Output {
    mcp_rev(args).output().unwrap()
}

#[track_caller]
pub fn succeeds(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    stdout(&output)
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A server in a shell script. It responds to each method with a result, or with an error if the text has a `code`, and
/// runs `first` before anything else.
#[cfg(unix)]
pub fn script(first: &str, results: &[(&str, &str)]) -> Vec<String> {
    let mut program =
        format!("{first}\nwhile read -r line; do\nid=$(printf %s \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n");
    program.push_str("case \"$line\" in\n");
    for (method, result) in results {
        let member = if result.starts_with("{\"code\"") {
            "error"
        } else {
            "result"
        };
        program.push_str(&format!(
            "*'\"method\":\"{method}\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"{member}\":{result}}}';;\n"
        ));
    }
    program.push_str(
        "*'\"id\":'*) echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"error\":{\"code\":-32601,\"message\":\"no\"}}';;\n",
    );
    program.push_str("esac\ndone");
    ["--", "sh", "-c", &program].map(str::to_owned).into()
}

#[cfg(unix)]
pub const HELLO: (&str, &str) = (
    "initialize",
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}"#,
);
