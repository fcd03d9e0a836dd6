//! Lines over any two streams.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_runtime::transport::stdio::{LineLimits, LineTransport};
use mcp_runtime::transport::{Receiver, Sender, Transport, TransportError};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::time::timeout;

use crate::stdio::{message, next, text};

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
async fn each_line_is_a_message_without_byte_order_mark_and_the_last_one_needs_no_newline() {
    let all = all_of("\u{feff}{\"a\":1}\n\n  \r\n\"ü\"\r\n[]".as_bytes(), 100).await;
    assert_eq!(
        all,
        [Ok("{\"a\":1}".to_owned()), Ok("\"ü\"".to_owned()), Ok("[]".to_owned())]
    );
}

#[tokio::test]
async fn a_line_over_the_limit_is_refused_once_and_the_session_continues() {
    let long = "x".repeat(100_000);
    let input = format!("1234567890\n{long}\n12345678901\n1234567890\r\n2\n{long}");
    let all = all_of(input.as_bytes(), 10).await;
    let ten = || Ok("1234567890".to_owned());
    // The carriage return counts too: whether it ends the line isn't known before the next byte.
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
async fn lines_of_any_length_arrive_whole_through_pipes_of_any_size() {
    let lengths = [1, 32_767, 32_768, 65_535, 65_536, 200_000, 2];
    let lines = lengths.map(|length| "x".repeat(length));
    for buffer in [1_000, 65_536, 1 << 20] {
        let (ours, mut theirs) = duplex(buffer);
        let (_sender, mut receiver) = LineTransport::new(ours, tokio::io::sink(), LineLimits::default()).split();
        let input = lines.join("\n") + "\n";
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
async fn a_dropped_send_still_writes_its_whole_line() {
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

/// Counts the completed writes of a stream.
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
async fn lines_that_wait_are_written_together_and_in_order() {
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
    // A write for each line until the stream is full, one for the rest of the last of these, and one for all that wait.
    assert_eq!(writes.load(Ordering::Relaxed), 1024_usize.div_ceil(31) + 2);
}

#[tokio::test]
async fn responses_to_requests_that_arrive_together_are_one_write() {
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
        let response = output.next_line().await.expect("it answers").expect("it continues");
        assert!(response.contains("\"result\""), "{response}");
    }
    assert_eq!(writes.load(Ordering::Relaxed), 1);
    session.close().await;
}

#[tokio::test]
async fn what_is_sent_without_waiting_is_finished_by_the_next_send() {
    let (mut peer, ours) = duplex(16);
    let (sender, _receiver) = LineTransport::new(tokio::io::empty(), ours, LineLimits::default()).split();
    let mut messages = vec![message("1"), message("2")];
    assert!(sender.try_send_all(&mut messages) && messages.is_empty());
    let long = "x".repeat(100);
    let mut messages = vec![message(long.clone()), message("3")];
    assert!(!sender.try_send_all(&mut messages), "the stream is full");
    assert!(messages.is_empty(), "both are being written");
    let mut later = vec![message("4")];
    assert!(!sender.try_send_all(&mut later));
    assert_eq!(later.len(), 1, "it can't pass the others");
    let read = tokio::spawn(async move {
        let mut all = String::new();
        peer.read_to_string(&mut all).await.map(|_| all)
    });
    sender.send_all(messages).await.expect("the peer reads");
    assert!(sender.try_send_all(&mut later) && later.is_empty());
    sender.close().await;
    assert!(!sender.try_send_all(&mut vec![message("5")]), "it is closed");
    let all = read.await.expect("no panic").expect("valid text");
    assert_eq!(all, format!("1\n2\n{long}\n3\n4\n"));
}

#[tokio::test]
async fn a_send_that_is_no_longer_polled_holds_up_no_other() {
    let (near, mut far) = duplex(16);
    let (reader, writer) = tokio::io::split(near);
    let (sender, _receiver) = LineTransport::new(reader, writer, LineLimits::default()).split();
    let lines = ["first", "second", "third", "fourth"].map(|name| name.repeat(10));
    let [mut first, mut second, mut third, fourth] = lines
        .each_ref()
        .map(|line| Box::pin(sender.send(message(line.as_str()))));
    for send in [&mut first, &mut second, &mut third] {
        assert!(timeout(Duration::ZERO, send).await.is_err(), "nobody reads");
    }
    // The first is in the middle of its line, and the others wait. Only the second and the last are polled further.
    let reads = async {
        let mut read = vec![0; lines.iter().map(|line| line.len() + 1).sum()];
        far.read_exact(&mut read).await.expect("it is connected");
        String::from_utf8(read).expect("it is text")
    };
    let all = async { tokio::join!(reads, second, fourth) };
    let (read, second, fourth) = timeout(Duration::from_secs(5), all).await.expect("nothing is held up");
    second.and(fourth).expect("it is sent");
    assert_eq!(read, lines.map(|line| line + "\n").concat());
    for sent in [first, third] {
        sent.await.expect("another has written it");
    }
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

#[tokio::test(start_paused = true)]
async fn closing_ends_even_if_the_peer_never_reads() {
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
