//! Messages as lines, over pipes and with real children.
#![cfg(all(feature = "stdio", unix))]

use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_runtime::transport::stdio::{self, ChildReceiver, ChildSender, LineLimits, LineTransport, SpawnOptions};
use mcp_runtime::transport::{Incoming, Outgoing, ProcessExit, Purpose, Receiver, Sender, Transport, TransportError};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
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
        received => panic!("{received:?} is no end of a child"),
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

/// The test below runs this one in a process of its own, whose standard input and output it then has.
#[tokio::test]
async fn own_streams_in_a_child() {
    if std::env::var_os("MCP_TEST_OWN").is_none() {
        return;
    }
    let (sender, mut receiver) = stdio::stdio(LineLimits::default()).expect("a thread starts").split();
    while let Some(Ok(json)) = next(&mut receiver).await {
        if json == "\"stop\"" {
            // The standard input is still open; nothing waits for it.
            break;
        }
        sender.send(message(json)).await.expect("the parent reads");
    }
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
