//! A process that serves on its own standard streams.

use std::io::{self, Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use mcp_runtime::transport::stdio::{self, SpawnOptions};
use mcp_runtime::transport::{Receiver, Sender, Transport};
use tokio::process::Command;
use tokio::time::timeout;

use crate::stdio::{message, next};

/// The tests below run this one in a separate process, whose standard input and output it uses.
#[test]
fn own_streams_in_a_child() {
    if std::env::var_os("MCP_TEST_OWN").is_none() {
        return;
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_all().build().expect("threads start");
    let flooded = runtime.block_on(echo_own_streams());
    drop(runtime);
    if flooded {
        // The harness would print its result, which nobody reads.
        std::process::exit(0);
    }
}

/// Echoes messages. Returns true if it ends because standard output is full.
async fn echo_own_streams() -> bool {
    let (sender, mut receiver) = stdio::stdio().expect("a thread starts").split();
    while let Some(Ok(json)) = next(&mut receiver).await {
        let answer = match json.as_str() {
            // Standard input is still open, and the process must not wait for its end.
            "\"stop\"" => return false,
            "\"flood\"" => {
                let flood = sender.send(message("x".repeat(10_000_000)));
                assert!(timeout(Duration::from_millis(100), flood).await.is_err());
                return true;
            }
            "\"threads\"" => threads().join(" "),
            _ => json,
        };
        sender.send(message(answer)).await.expect("the parent reads");
    }
    false
}

/// The names of this process's threads.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let name = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("comm")).ok();
    tasks.filter_map(name).map(|name| name.trim().to_owned()).collect()
}

/// This test binary as a child that echoes lines on its standard streams.
fn echo(input: impl Into<Stdio>, output: impl Into<Stdio>) -> std::process::Child {
    std::process::Command::new(std::env::current_exe().expect("a test has a path"))
        .args(["--exact", "stdio::own_streams::own_streams_in_a_child", "--nocapture"])
        .env("MCP_TEST_OWN", "1")
        .stdin(input)
        .stdout(output)
        .spawn()
        .expect("the test starts")
}

/// Waits for a child that ends on its own.
fn wait(mut child: std::process::Child) {
    let since = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        assert!(since.elapsed() < Duration::from_secs(10), "the child ends");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether an open file is in non-blocking mode.
#[cfg(target_os = "linux")]
fn is_nonblocking(file: &impl std::os::fd::AsRawFd) -> bool {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", file.as_raw_fd())).expect("an open file");
    let flags = info
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .expect("it has flags");
    u32::from_str_radix(flags.trim(), 8).expect("they are octal") & 0o4000 != 0
}

#[cfg(target_os = "linux")]
#[test]
fn standard_streams_that_are_pipes_need_no_threads_and_stay_blocking_for_others() {
    let (input, mut to_child) = io::pipe().expect("a pipe");
    let (mut from_child, output) = io::pipe().expect("a pipe");
    let (same_input, same_output) = (input.try_clone().expect("a pipe"), output.try_clone().expect("a pipe"));
    let child = echo(input, output);
    to_child.write_all(b"\"threads\"\n").expect("the child reads");
    let mut text = String::new();
    while !text.contains("tokio-rt") {
        let mut chunk = [0; 4096];
        let read = from_child.read(&mut chunk).expect("the child writes");
        text += &String::from_utf8_lossy(&chunk[..read]);
    }
    assert!(!text.contains("mcp-std"), "{text}");
    assert!(!is_nonblocking(&same_input) && !is_nonblocking(&same_output));
    to_child.write_all(b"\"stop\"\n").expect("the child reads");
    wait(child);
}

#[cfg(target_os = "linux")]
#[test]
fn a_standard_stream_that_is_a_socket_is_blocking_again_at_the_end() {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().expect("a socket");
    let same = theirs.try_clone().expect("a socket");
    let child = echo(
        std::os::fd::OwnedFd::from(theirs.try_clone().expect("a socket")),
        std::os::fd::OwnedFd::from(theirs),
    );
    ours.write_all(b"{\"a\":1}\n").expect("the child reads");
    let mut text = String::new();
    while !text.contains("{\"a\":1}\n") {
        let mut chunk = [0; 4096];
        let read = ours.read(&mut chunk).expect("the child writes");
        text += &String::from_utf8_lossy(&chunk[..read]);
    }
    assert!(is_nonblocking(&same));
    ours.write_all(b"\"stop\"\n").expect("the child reads");
    wait(child);
    assert!(!is_nonblocking(&same));
}

#[test]
fn standard_streams_that_are_files_are_read_and_written() {
    let (mut input, mut output) = (
        tempfile::tempfile().expect("a file"),
        tempfile::tempfile().expect("a file"),
    );
    input.write_all(b"{\"a\":1}\n{\"a\":2}\n").expect("there is room");
    io::Seek::rewind(&mut input).expect("a file");
    wait(echo(input, output.try_clone().expect("a file")));
    let mut text = String::new();
    io::Seek::rewind(&mut output).expect("a file");
    output.read_to_string(&mut text).expect("it is text");
    assert!(text.contains("{\"a\":1}\n{\"a\":2}\n"), "{text}");
}

#[test]
fn a_server_can_end_while_its_client_reads_nothing() {
    let (input, mut to_child) = io::pipe().expect("a pipe");
    let (_from_child, output) = io::pipe().expect("a pipe");
    let child = echo(input, output);
    to_child.write_all(b"\"flood\"\n").expect("the child reads");
    wait(child);
}

#[tokio::test]
async fn a_server_uses_its_own_standard_streams_and_can_end_before_they_close() {
    let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
    command
        .args(["--exact", "stdio::own_streams::own_streams_in_a_child", "--nocapture"])
        .env("MCP_TEST_OWN", "1");
    let (sender, mut receiver) = stdio::spawn(command, SpawnOptions::default())
        .expect("the test starts")
        .split();
    let large = format!("\"{}\"", "x".repeat(1_000_000));
    for json in ["{\"a\":1}", &large] {
        sender.send(message(json)).await.expect("the child reads");
        // The harness prints other lines first.
        while next(&mut receiver).await.expect("the child is there") != Ok(json.to_owned()) {}
    }
    sender.send(message("\"stop\"")).await.expect("the child reads");
    // The harness prints lines at the end, too.
    let ended = async { while receiver.receive().await.is_ok() {} };
    timeout(Duration::from_secs(10), ended).await.expect("the child ends");
}
