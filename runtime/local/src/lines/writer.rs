//! A sender of lines that never leaves a line unfinished.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mcp_runtime_core::transport::{Outgoing, Sender, TransportError};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::{unconstrained, yield_now};
use tokio_util::sync::CancellationToken;

/// The time that the peer has to read partly written lines when the connection is closed.
const CLOSING: Duration = Duration::from_secs(1);
/// The maximum number of lines in one write.
const SLICES: usize = 64;

/// The half of a [`LineTransport`](super::LineTransport) that sends. Lines that wait while others are written are then
/// written together.
#[derive(Debug)]
pub struct LineSender<W> {
    waiting: mcp_runtime_util::Mutex<Waiting>,
    state: Mutex<Option<State<W>>>,
    /// Whether several messages arrived together, so that their responses will be ready together.
    in_burst: Arc<AtomicBool>,
    closing: CancellationToken,
}

/// The waiting lines, and the number of lines so far. Lines are numbered from 1.
#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<(u64, Vec<u8>)>,
    count: u64,
}

impl Waiting {
    /// Returns a message as the next line.
    fn number(&mut self, Outgoing { mut json, .. }: Outgoing) -> (u64, Vec<u8>) {
        json.push(b'\n');
        self.count += 1;
        (self.count, json)
    }
}

#[derive(Debug)]
struct State<W> {
    writer: W,
    /// The lines that are being written, and the number of bytes written of the first. If the future that writes them
    /// is dropped, the next sender finishes them: otherwise the peer would read half of a line and the next line as one
    /// message.
    lines: VecDeque<(u64, Vec<u8>)>,
    done: usize,
    /// The numbers of the last line that is written, and of the last one that is also flushed.
    written: u64,
    flushed: u64,
}

impl<W: AsyncWrite + Unpin> State<W> {
    async fn finish(&mut self) -> std::io::Result<()> {
        while !self.lines.is_empty() {
            let (writer, lines, done) = (&mut self.writer, &self.lines, self.done);
            // The slices are created for each poll: keeping them across polls would make each sender's future a
            // kilobyte larger.
            let writing = poll_fn(|context| {
                if let (Some((_, line)), 1) = (lines.front(), lines.len()) {
                    let rest = line.get(done..).unwrap_or_default();
                    return Pin::new(&mut *writer).poll_write(context, rest);
                }
                let mut slices = [IoSlice::new(&[]); SLICES];
                let mut skipped = done;
                for (slice, (_, line)) in slices.iter_mut().zip(lines) {
                    *slice = IoSlice::new(line.get(std::mem::take(&mut skipped)..).unwrap_or_default());
                }
                let slices = slices.get(..lines.len()).unwrap_or(&slices);
                Pin::new(&mut *writer).poll_write_vectored(context, slices)
            });
            match writing.await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                written => self.done += written,
            }
            while let Some((number, line)) = self.lines.front()
                && let Some(done) = self.done.checked_sub(line.len())
            {
                (self.written, self.done) = (*number, done);
                self.lines.pop_front();
            }
        }
        self.writer.flush().await?;
        self.flushed = self.written;
        Ok(())
    }
}

/// The lines of a waiting sender. Dropping this removes those that aren't being written yet.
struct Place<'a> {
    waiting: &'a mcp_runtime_util::Mutex<Waiting>,
    first: u64,
    last: u64,
}

impl<'a> Place<'a> {
    fn take(waiting: &'a mcp_runtime_util::Mutex<Waiting>, messages: impl IntoIterator<Item = Outgoing>) -> Self {
        let mut guard = waiting.lock();
        let before = guard.count;
        for message in messages {
            let line = guard.number(message);
            guard.lines.push_back(line);
        }
        Self {
            waiting,
            first: before + 1,
            last: guard.count,
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock();
        let start = waiting.lines.partition_point(|(number, _)| *number < self.first);
        let end = waiting.lines.partition_point(|(number, _)| *number <= self.last);
        waiting.lines.drain(start..end);
    }
}

impl<W: AsyncWrite + Unpin> LineSender<W> {
    pub(super) fn new(writer: W, in_burst: Arc<AtomicBool>) -> Self {
        Self {
            waiting: mcp_runtime_util::Mutex::default(),
            state: Mutex::new(Some(State {
                writer,
                lines: VecDeque::new(),
                done: 0,
                written: 0,
                flushed: 0,
            })),
            in_burst,
            closing: CancellationToken::new(),
        }
    }

    /// Writes waiting lines until these are written, possibly by another sender. Unless they are `alone`, waits briefly
    /// for other lines that are about to be ready.
    async fn write(&self, messages: impl IntoIterator<Item = Outgoing>, alone: bool) -> Result<(), TransportError> {
        let place = Place::take(&self.waiting, messages);
        let written = async {
            let mut state = self.state.lock().await;
            let state = state.as_mut().ok_or(TransportError::Closed)?;
            while state.flushed < place.last {
                if state.written < place.last && state.lines.is_empty() {
                    if !alone {
                        // Lets other senders add their lines, to write them together.
                        yield_now().await;
                    }
                    state.lines.append(&mut self.waiting.lock().lines);
                }
                state.finish().await?;
            }
            Ok(())
        };
        let written = tokio::select! {
            biased;
            written = written => written,
            // The block costs nothing until it is polled.
            () = async { self.closing.cancelled().await } => Err(TransportError::Closed),
        };
        match written {
            Err(TransportError::Io(error)) if is_gone(&error) => Err(TransportError::Closed),
            written => written,
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Sender for LineSender<W> {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        let alone = !self.in_burst.load(Ordering::Relaxed);
        self.write([message], alone).await
    }

    /// These are all messages that are ready, so it doesn't wait for others.
    async fn send_all(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        self.write(messages, true).await
    }

    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        let Ok(mut state) = self.state.try_lock() else {
            return false;
        };
        let Some(state) = state.as_mut().filter(|state| state.lines.is_empty()) else {
            return false;
        };
        {
            let mut waiting = self.waiting.lock();
            if !waiting.lines.is_empty() {
                return false;
            }
            state
                .lines
                .extend(messages.drain(..).map(|message| waiting.number(message)));
        }
        // If the peer doesn't read everything now, `send_all` finishes the lines. Unconstrained, because the task's budget
        // (tokio's cooperative scheduling) can be used up although the peer reads.
        let finished = pin!(unconstrained(state.finish())).poll(&mut Context::from_waker(Waker::noop()));
        matches!(finished, Poll::Ready(Ok(())))
    }

    /// Senders that are still waiting for the peer to read get an error.
    async fn close(&self) {
        self.closing.cancel();
        let Some(mut state) = self.state.lock().await.take() else {
            return;
        };
        let ended = tokio::time::timeout(CLOSING, async {
            state.finish().await?;
            state.writer.shutdown().await
        });
        if !matches!(ended.await, Ok(Ok(()))) {
            tracing::debug!("the peer didn't read everything before the connection was closed");
        }
    }
}

fn is_gone(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, WriteZero};
    matches!(
        error.kind(),
        BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | WriteZero
    )
}
