//! Children on Windows.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcp_runtime::transport::stdio::{self, ChildReceiver, ChildSender, SpawnOptions};
use mcp_runtime::transport::{Sender, Transport};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::stdio::{exit, message, next, text};

/// A shell script in its own folder.
fn script(lines: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("server.cmd");
    std::fs::write(&path, ["@echo off", &lines.join("\r\n"), ""].join("\r\n")).expect("a file");
    (folder, path)
}

fn spawn(command: Command) -> (ChildSender, ChildReceiver) {
    let options = SpawnOptions::default().grace(Duration::from_millis(200));
    stdio::spawn(command, options).expect("the script starts").split()
}

#[tokio::test]
async fn a_script_is_found_without_its_extension() {
    let (folder, _path) = script(&["echo {}", "exit 3"]);
    // The path of a program without its extension is completed in the same way.
    let (_sender, mut receiver) = spawn(stdio::command(folder.path().join("server")));
    assert_eq!(next(&mut receiver).await, text("{}"));
    assert_eq!(
        exit(&mut receiver).await.status.and_then(|status| status.code()),
        Some(3)
    );
}

#[tokio::test]
async fn the_arguments_of_a_script_are_quoted() {
    let (_folder, path) = script(&["echo \"%~1\"", "echo \"%~2\""]);
    let mut command = stdio::command(path);
    command.args(["a b", "c&echo d"]);
    let (_sender, mut receiver) = spawn(command);
    assert_eq!(next(&mut receiver).await, text("\"a b\""));
    assert_eq!(next(&mut receiver).await, text("\"c&echo d\""));
    exit(&mut receiver).await;
}

#[tokio::test]
async fn an_argument_that_cannot_be_quoted_is_an_error() {
    let (_folder, path) = script(&["echo {}"]);
    let mut command = stdio::command(path);
    command.arg("two\nlines");
    let error = stdio::spawn(command, SpawnOptions::default()).expect_err("it can't be quoted");
    assert_eq!(error.error.kind(), std::io::ErrorKind::InvalidInput);
}

/// A test below runs this one in a separate process: it writes to a file until it is killed.
#[test]
fn grandchild() {
    let Some(path) = std::env::var_os("MCP_TEST_GRANDCHILD") else {
        return;
    };
    for count in 0..600 {
        std::fs::write(&path, count.to_string()).expect("a file");
        std::thread::sleep(Duration::from_millis(50));
    }
}

async fn ends_writing(path: &Path) {
    let written = || std::fs::read_to_string(path).unwrap_or_default();
    let has_ended = async {
        loop {
            let before = written();
            sleep(Duration::from_millis(500)).await;
            if before == written() {
                break;
            }
        }
    };
    timeout(Duration::from_secs(10), has_ended).await.expect("it is ended");
}

#[tokio::test]
async fn processes_that_a_script_starts_end_with_it() {
    let test = std::env::current_exe().expect("a test has a path");
    let run = format!("\"{}\" --exact stdio::windows_children::grandchild", test.display());
    let (folder, path) = script(&["echo {}", &run]);
    let alive = folder.path().join("alive");
    let mut command = stdio::command(path);
    command.env("MCP_TEST_GRANDCHILD", &alive);
    let (sender, mut receiver) = spawn(command);
    assert_eq!(next(&mut receiver).await, text("{}"));
    let begins = async {
        while !alive.exists() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(Duration::from_secs(10), begins).await.expect("it is started");
    sender.close().await;
    ends_writing(&alive).await;
}

#[tokio::test]
async fn a_child_gets_messages_and_answers() {
    let (_folder, path) = script(&["set /p line=", "echo got %line%"]);
    let (sender, mut receiver) = spawn(stdio::command(path));
    sender.send(message("17")).await.expect("the script reads");
    assert_eq!(next(&mut receiver).await, text("got 17"));
    assert_eq!(
        exit(&mut receiver).await.status.and_then(|status| status.code()),
        Some(0)
    );
}
