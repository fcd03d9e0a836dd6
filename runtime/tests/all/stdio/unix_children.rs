//! Children that are Unix shells.

use std::os::unix::process::ExitStatusExt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_runtime::transport::stdio::{self, ChildReceiver, ChildSender, LineLimits, SpawnOptions};
use mcp_runtime::transport::{Sender, Transport, TransportError};
use tokio::process::Command;
use tokio::time::timeout;

use crate::common::subscribe;
use crate::stdio::{exit, message, next, text};

fn shell(script: &str, grace: Duration) -> (ChildSender, ChildReceiver) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script]);
    let options = SpawnOptions::default()
        .grace(grace)
        .limits(LineLimits::default().message_bytes(1000));
    stdio::spawn(command, options).expect("the shell starts").split()
}

#[tokio::test]
async fn a_child_gets_messages_responds_and_exits_when_its_input_closes() {
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
    assert_eq!(next(&mut receiver).await, Some(Err(-32700)));
    assert_eq!(
        exit(&mut receiver).await.status.and_then(|status| status.signal()),
        Some(9)
    );
    let sent = timeout(Duration::from_secs(5), sender.send(message("{}")))
        .await
        .expect("no hanging");
    assert!(matches!(sent, Err(TransportError::Exited(_))));
}

/// Ignores its input, and says when it is terminated.
const IGNORES_INPUT: &str = "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.05; done";

/// Runs a script that ignores its input, and closes it.
async fn is_terminated(script: &str) {
    let (sender, mut receiver) = shell(script, Duration::from_millis(300));
    assert_eq!(next(&mut receiver).await, text("ready"));
    sender.close().await;
    assert_eq!(next(&mut receiver).await, text("bye"));
    assert_eq!(next(&mut receiver).await, None);
}

#[tokio::test]
async fn a_child_that_ignores_its_input_is_terminated() {
    is_terminated(IGNORES_INPUT).await;
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
async fn the_processes_that_a_child_has_started_are_terminated_with_it() {
    is_terminated(&format!("({IGNORES_INPUT}) & wait")).await;
}

#[tokio::test]
async fn a_child_has_a_process_group_of_its_own() {
    // Only the leader of a group has its number.
    let (_sender, mut receiver) = shell("kill -s 0 -- -$$ && echo own", Duration::from_secs(1));
    assert_eq!(next(&mut receiver).await, text("own"));
}

#[tokio::test]
async fn a_child_ends_when_its_sender_is_dropped() {
    let (sender, mut receiver) = shell("while :; do sleep 0.05; done", Duration::from_millis(100));
    drop(sender);
    assert_eq!(next(&mut receiver).await, None);
}

#[tokio::test]
async fn a_grandchild_that_keeps_the_pipe_open_does_not_keep_the_connection() {
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
async fn the_limit_on_lines_applies_to_children_too() {
    let (_sender, mut receiver) = shell("head -c 5000 /dev/zero; echo; echo '{}'", Duration::from_secs(1));
    assert_eq!(next(&mut receiver).await, Some(Err(-32600)));
    assert_eq!(next(&mut receiver).await, text("{}"));
}

/// Collects the lines that children write to their standard error, each followed by the name of its server, if it has
/// one.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl tracing::field::Visit for Told {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
        if ["message", "server"].contains(&field.name()) {
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
    let _guards = subscribe(told.clone());
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

#[tokio::test]
async fn a_childs_standard_error_is_logged_with_the_name_of_its_server() {
    let told = Told::default();
    let _guards = subscribe(told.clone());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo one >&2"]);
    let options = SpawnOptions::default().server("weather");
    let (_sender, mut receiver) = stdio::spawn(command, options).expect("the shell starts").split();
    // The exit is known once the standard error has been read.
    exit(&mut receiver).await;
    assert_eq!(*told.0.lock().expect("no panic"), ["one", "\"weather\""]);
}
