//! Our own example servers as child processes, and `mcp-rev` with them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;

/// The example server with a fixture for everything.
pub fn everything() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| build("everything"))
}

/// The example server of the README.
pub fn weather() -> &'static str {
    static BUILT: OnceLock<String> = OnceLock::new();
    BUILT.get_or_init(|| build("weather"))
}

/// Builds an example of the runtime, which cargo doesn't do for tests of other packages.
fn build(example: &str) -> String {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "mcp-runtime",
            "--all-features",
            "--example",
            example,
        ])
        .current_dir(workspace)
        .status()
        .unwrap();
    assert!(built.success(), "{example} isn't built");
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
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", said(&output));
    printed(&output)
}

pub fn printed(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
