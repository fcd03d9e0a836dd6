//! Messages as lines, over pipes and with real children.
#![cfg(all(feature = "stdio", unix))]

use std::io::{self, IoSlice, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use mcp_runtime::transport::stdio::{self, ChildReceiver, ChildSender, LineLimits, LineTransport, SpawnOptions};
use mcp_runtime::transport::{Incoming, Outgoing, ProcessExit, Purpose, Receiver, Sender, Transport, TransportError};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::process::Command;
use tokio::time::timeout;

fn message(json: impl Into<Vec<u8>>) -> Outgoing {
    Outgoing {
        json: json.into(),
        purpose: Purpose::Unsolicited,
    }
}

/// What comes next: a message's text, or the code of what was refused.
async fn next(receiver: &mut impl Receiver) -> Option<Result<String, i64>> {
    let received = timeout(Duration::from_secs(10), receiver.receive()).await;
    match received
        .expect("something comes in time")
        .expect("the connection goes on")?
    {
        Incoming::Message { json, .. } => Some(Ok(String::from_utf8(json).expect("messages are UTF-8"))),
        Incoming::Refused(error) => Some(Err(error.code)),
        Incoming::Failed { .. } | Incoming::Renewed | Incoming::Closing => panic!("lines have no such thing"),
    }
}

/// How the child has ended.
async fn exit(receiver: &mut ChildReceiver) -> ProcessExit {
    let received = timeout(Duration::from_secs(10), receiver.receive()).await;
    match received.expect("the child ends in time") {
        Err(TransportError::Exited(exit)) => exit,
        received => panic!("{received:?} isn't an end of a child"),
    }
}

fn text(text: &str) -> Option<Result<String, i64>> {
    Some(Ok(text.to_owned()))
}

fn shell(script: &str, grace: Duration) -> (ChildSender, ChildReceiver) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    let options = SpawnOptions::default()
        .grace(grace)
        .limits(LineLimits::default().message_bytes(1000));
    stdio::spawn(command, options).expect("the shell starts").split()
}

async fn all_of(input: &[u8], limit: usize) -> Vec<Result<String, i64>> {
    let (mut peer, ours) = duplex(7);
    let (_sender, mut receiver) =
        LineTransport::new(ours, tokio::io::sink(), LineLimits::default().message_bytes(limit)).split();
    let input = input.to_vec();
    tokio::spawn(async move { peer.write_all(&input).await });
    let mut all = Vec::new();
    while let Some(received) = next(&mut receiver).await {
        all.push(received);
    }
    assert_eq!(next(&mut receiver).await, None, "the end stays the end");
    all
}

#[tokio::test]
async fn each_line_is_a_message_and_the_last_one_needs_no_end() {
    let all = all_of("{\"a\":1}\n\n  \r\n\"ü\"\r\n[]".as_bytes(), 100).await;
    assert_eq!(
        all,
        [Ok("{\"a\":1}".to_owned()), Ok("\"ü\"".to_owned()), Ok("[]".to_owned())]
    );
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_once_and_the_session_goes_on() {
    let long = "x".repeat(100_000);
    let input = format!("1234567890\n{long}\n12345678901\n1234567890\r\n2\n{long}");
    let all = all_of(input.as_bytes(), 10).await;
    let ten = || Ok("1234567890".to_owned());
    // The return counts as well: whether it ends the line isn't known before the next byte.
    assert_eq!(
        all,
        [
            ten(),
            Err(-32600),
            Err(-32600),
            Err(-32600),
            Ok("2".to_owned()),
            Err(-32600)
        ]
    );
}

#[tokio::test]
async fn a_line_that_is_no_utf_8_is_refused_and_the_session_goes_on() {
    let all = all_of(b"\"\xff\"\n{}\n", 100).await;
    assert_eq!(all, [Err(-32700), Ok("{}".to_owned())]);
}

#[tokio::test]
async fn lines_are_whole_whatever_their_length_and_however_they_come() {
    let lengths = [1, 32_767, 32_768, 65_535, 65_536, 200_000, 2];
    let lines = lengths.map(|length| "x".repeat(length));
    for buffer in [1_000, 65_536, 1 << 20] {
        let (ours, mut theirs) = duplex(buffer);
        let (_sender, mut receiver) = LineTransport::new(ours, tokio::io::sink(), LineLimits::default()).split();
        let input = lines.join("\n");
        let writing = tokio::spawn(async move { theirs.write_all(input.as_bytes()).await });
        for line in &lines {
            let received = next(&mut receiver).await;
            assert!(received == text(line), "{} bytes, {buffer} at once", line.len());
        }
        assert_eq!(next(&mut receiver).await, None);
        writing.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_dropped_receive_loses_nothing() {
    let (mut peer, ours) = duplex(64);
    let (_sender, mut receiver) = LineTransport::new(ours, tokio::io::sink(), LineLimits::default()).split();
    for part in ["{\"a\"", ":[1", ",2]}", "\n"] {
        assert!(timeout(Duration::from_millis(10), receiver.receive()).await.is_err());
        peer.write_all(part.as_bytes()).await.expect("there is room");
    }
    assert_eq!(next(&mut receiver).await, text("{\"a\":[1,2]}"));
}

#[tokio::test]
async fn a_dropped_send_tears_no_line() {
    let (mut peer, ours) = duplex(16);
    let (sender, _receiver) = LineTransport::new(tokio::io::empty(), ours, LineLimits::default()).split();
    let long = "x".repeat(100);
    assert!(
        timeout(Duration::from_millis(20), sender.send(message(long.clone())))
            .await
            .is_err()
    );
    let read = tokio::spawn(async move {
        let mut all = String::new();
        peer.read_to_string(&mut all).await.map(|_| all)
    });
    sender.send(message("{}")).await.expect("the peer reads");
    sender.close().await;
    assert!(matches!(sender.send(message("{}")).await, Err(TransportError::Closed)));
    let all = read.await.expect("no panic").expect("valid text");
    assert_eq!(all, format!("{long}\n{{}}\n"));
}

/// Counts the writes that a stream takes.
struct Counted<W> {
    stream: W,
    writes: Arc<AtomicUsize>,
}

impl<W: AsyncWrite + Unpin> Counted<W> {
    fn count<T>(&self, written: Poll<T>) -> Poll<T> {
        self.writes
            .fetch_add(usize::from(written.is_ready()), Ordering::Relaxed);
        written
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Counted<W> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.count(written)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.count(written)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn lines_that_wait_for_a_write_go_out_together_and_in_order() {
    let (mut peer, stream) = duplex(1024);
    let writes = Arc::new(AtomicUsize::new(0));
    let ours = Counted {
        stream,
        writes: Arc::clone(&writes),
    };
    let (sender, _receiver) = LineTransport::new(tokio::io::empty(), ours, LineLimits::default()).split();
    let sends = (0..50).map(|n| sender.send(message(format!("{n:030}"))));
    let read = async {
        let mut all = vec![0; 50 * 31];
        peer.read_exact(&mut all).await.map(|_| all)
    };
    let (sent, all) = tokio::join!(futures_util::future::join_all(sends), read);
    assert!(sent.iter().all(Result::is_ok));
    let expected: String = (0..50).map(|n| format!("{n:030}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&all.expect("they are sent")), expected);
    // Each separately until the stream is full, then the end of the last of those, and then what has waited.
    assert_eq!(writes.load(Ordering::Relaxed), 1024_usize.div_ceil(31) + 2);
}

#[tokio::test]
async fn responses_to_requests_that_came_together_are_one_write() {
    let (mut peer, input) = duplex(64 * 1024);
    let (output, stream) = duplex(64 * 1024);
    let writes = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        stream,
        writes: Arc::clone(&writes),
    };
    let transport = LineTransport::new(input, counted, LineLimits::default());
    let router = mcp_runtime::Router::new("test", "1.0");
    let session = router.serve(mcp_runtime::Options::default(), transport);
    let mut output = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(output));
    let initialize = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\
        \"capabilities\":{},\"clientInfo\":{\"name\":\"test\",\"version\":\"1.0\"}}}\n";
    let initialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
    peer.write_all(initialize.as_bytes()).await.expect("there is room");
    output.next_line().await.expect("it answers");
    peer.write_all(initialized.as_bytes()).await.expect("there is room");
    writes.store(0, Ordering::Relaxed);
    let pings: String = (1..=64)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"))
        .collect();
    peer.write_all(pings.as_bytes()).await.expect("there is room");
    for _ in 0..64 {
        let response = output.next_line().await.expect("it answers").expect("it goes on");
        assert!(response.contains("\"result\""), "{response}");
    }
    assert_eq!(writes.load(Ordering::Relaxed), 1);
    session.close().await;
}

#[tokio::test]
async fn a_send_that_is_dropped_while_it_waits_sends_nothing() {
    let (mut peer, ours) = duplex(16);
    let (sender, _receiver) = LineTransport::new(tokio::io::empty(), ours, LineLimits::default()).split();
    let long = "x".repeat(100);
    let mut first = Box::pin(sender.send(message(long.clone())));
    assert!(timeout(Duration::ZERO, &mut first).await.is_err(), "the stream is full");
    assert!(timeout(Duration::ZERO, sender.send(message("1"))).await.is_err());
    let read = tokio::spawn(async move {
        let mut all = String::new();
        peer.read_to_string(&mut all).await.map(|_| all)
    });
    first.await.expect("the peer reads");
    sender.send(message("2")).await.expect("the peer reads");
    sender.close().await;
    let all = read.await.expect("no panic").expect("valid text");
    assert_eq!(all, format!("{long}\n2\n"));
}

#[tokio::test]
async fn closing_ends_also_when_the_peer_never_reads() {
    let (_peer, ours) = duplex(16);
    let (sender, _receiver) = LineTransport::new(tokio::io::empty(), ours, LineLimits::default()).split();
    let sender = Arc::new(sender);
    let blocked = tokio::spawn({
        let sender = Arc::clone(&sender);
        async move { sender.send(message("x".repeat(100))).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    timeout(Duration::from_secs(5), sender.close())
        .await
        .expect("closing ends");
    assert!(matches!(blocked.await.expect("no panic"), Err(TransportError::Closed)));
}

#[tokio::test]
async fn a_child_gets_messages_answers_and_ends_with_its_input() {
    let (sender, mut receiver) = shell("exec cat", Duration::from_secs(5));
    for n in 0..100 {
        sender.send(message(format!("{{\"n\":{n}}}"))).await.expect("cat reads");
        assert_eq!(next(&mut receiver).await, text(&format!("{{\"n\":{n}}}")));
    }
    let since = Instant::now();
    sender.close().await;
    assert_eq!(next(&mut receiver).await, None);
    assert!(since.elapsed() < Duration::from_secs(4), "it wasn't terminated");
}

#[tokio::test]
async fn a_child_that_is_killed_ends_the_connection() {
    let (sender, mut receiver) = shell("read line; printf '{\"half\":'; kill -9 $$", Duration::from_secs(1));
    sender.send(message("{}")).await.expect("the shell reads");
    assert_eq!(next(&mut receiver).await, text("{\"half\":"));
    assert_eq!(
        exit(&mut receiver).await.status.and_then(|status| status.signal()),
        Some(9)
    );
    let sent = timeout(Duration::from_secs(5), sender.send(message("{}")))
        .await
        .expect("no hanging");
    assert!(matches!(sent, Err(TransportError::Exited(_))));
}

#[tokio::test]
async fn a_child_that_ignores_its_input_is_terminated() {
    let script = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
    let (sender, mut receiver) = shell(script, Duration::from_millis(300));
    assert_eq!(next(&mut receiver).await, text("ready"));
    sender.close().await;
    assert_eq!(next(&mut receiver).await, text("bye"));
    assert_eq!(next(&mut receiver).await, None);
}

#[tokio::test]
async fn a_child_that_ignores_termination_is_killed() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let (sender, mut receiver) = shell(script, Duration::from_millis(200));
    assert_eq!(next(&mut receiver).await, text("ready"));
    let since = Instant::now();
    timeout(Duration::from_secs(5), sender.close())
        .await
        .expect("closing ends");
    assert!(
        since.elapsed() >= Duration::from_millis(400),
        "it had its two grace periods"
    );
    assert_eq!(next(&mut receiver).await, None);
}

#[tokio::test]
async fn a_child_ends_when_its_sender_is_dropped() {
    let (sender, mut receiver) = shell("while :; do sleep 0.05; done", Duration::from_millis(100));
    drop(sender);
    assert_eq!(next(&mut receiver).await, None);
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipe_keeps_no_connection() {
    let (_sender, mut receiver) = shell("sleep 20 & echo '{}'", Duration::from_secs(1));
    let since = Instant::now();
    assert_eq!(next(&mut receiver).await, text("{}"));
    assert_eq!(
        exit(&mut receiver).await.status.and_then(|status| status.code()),
        Some(0)
    );
    assert!(since.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_childs_lines_are_limited_as_well() {
    let (_sender, mut receiver) = shell("head -c 5000 /dev/zero; echo; echo '{}'", Duration::from_secs(1));
    assert_eq!(next(&mut receiver).await, Some(Err(-32600)));
    assert_eq!(next(&mut receiver).await, text("{}"));
}

/// Keeps the lines that children said on their standard error.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl tracing::field::Visit for Told {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().expect("no panic").push(format!("{value:?}"));
        }
    }
}

impl tracing::Subscriber for Told {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "mcp_runtime::stderr"
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

#[tokio::test]
async fn a_childs_standard_error_goes_to_tracing_in_lines_of_bounded_length() {
    let told = Told::default();
    // With one subscriber alone, tracing asks only that of the thread which meets an event first, and other tests, which
    // have none, may be the first.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::new());
    let _guard = tracing::subscriber::set_default(told.clone());
    let script =
        "echo one >&2; head -c 300000 /dev/zero | tr '\\0' x >&2; echo >&2; echo three >&2; echo '{}'; read end";
    let (sender, mut receiver) = shell(script, Duration::from_secs(1));
    assert_eq!(next(&mut receiver).await, text("{}"));
    sender.close().await;
    for _ in 0..100 {
        if told.0.lock().expect("no panic").len() == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let told = told.0.lock().expect("no panic").clone();
    let lengths: Vec<usize> = told.iter().map(|line| line.chars().count()).collect();
    assert_eq!(lengths, [3, 8 * 1024 + 2, 5]);
    assert_eq!(told[0], "one");
}

/// The tests below run this one in a process of its own, whose standard input and output it then has.
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
        // The harness would say something last, and nobody reads it.
        std::process::exit(0);
    }
}

/// Gives back what comes; true when it leaves a standard output that takes nothing more.
async fn echo_own_streams() -> bool {
    let (sender, mut receiver) = stdio::stdio().expect("a thread starts").split();
    while let Some(Ok(json)) = next(&mut receiver).await {
        let answer = match json.as_str() {
            // The standard input is still open; nothing waits for it.
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
        .args(["--exact", "own_streams_in_a_child", "--nocapture"])
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

/// Whether a read of an open file doesn't block.
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
async fn a_server_speaks_over_its_own_standard_streams_and_can_end_before_them() {
    let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
    command
        .args(["--exact", "own_streams_in_a_child", "--nocapture"])
        .env("MCP_TEST_OWN", "1");
    let (sender, mut receiver) = stdio::spawn(command, SpawnOptions::default())
        .expect("the test starts")
        .split();
    let large = format!("\"{}\"", "x".repeat(1_000_000));
    for json in ["{\"a\":1}", &large] {
        sender.send(message(json)).await.expect("the child reads");
        // The harness says something first.
        while next(&mut receiver).await.expect("the child is there") != Ok(json.to_owned()) {}
    }
    sender.send(message("\"stop\"")).await.expect("the child reads");
    // The harness says something last, too.
    let ended = async { while receiver.receive().await.is_ok() {} };
    timeout(Duration::from_secs(10), ended).await.expect("the child ends");
}
