//! A sender of lines that never leaves a line unfinished.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

use mcp_runtime_core::transport::{Outgoing, Sender, TransportError};
use mcp_runtime_util::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt};
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
    queue: Arc<Queue>,
    /// Locked only while a sender is polled, so that a sender which isn't polled any more holds up no other: each writes
    /// all lines.
    state: Mutex<Option<State<W>>>,
    /// Whether several messages arrived together, so that their responses will be ready together.
    in_burst: Arc<AtomicBool>,
    closing: CancellationToken,
}

/// The senders and their lines that wait. As a waker, it wakes all of them.
#[derive(Debug, Default)]
struct Queue(Mutex<Waiting>);

impl Wake for Queue {
    fn wake(self: Arc<Self>) {
        let senders = std::mem::take(&mut self.0.lock().senders);
        senders.into_values().for_each(Waker::wake);
    }
}

/// The waiting lines, the number of lines so far, and the same of the wakers of senders. Lines are numbered from 1.
#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<(u64, Vec<u8>)>,
    count: u64,
    senders: BTreeMap<u64, Waker>,
    joined: u64,
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
    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        while !self.lines.is_empty() {
            match ready!(self.poll_write(context))? {
                0 => return Poll::Ready(Err(std::io::ErrorKind::WriteZero.into())),
                written => self.done += written,
            }
            while let Some((number, line)) = self.lines.front()
                && let Some(done) = self.done.checked_sub(line.len())
            {
                (self.written, self.done) = (*number, done);
                self.lines.pop_front();
            }
        }
        ready!(Pin::new(&mut self.writer).poll_flush(context))?;
        self.flushed = self.written;
        Poll::Ready(Ok(()))
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<std::io::Result<usize>> {
        let writer = Pin::new(&mut self.writer);
        if let (Some((_, line)), 1) = (self.lines.front(), self.lines.len()) {
            return writer.poll_write(context, line.get(self.done..).unwrap_or_default());
        }
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut skipped = self.done;
        for (slice, (_, line)) in slices.iter_mut().zip(&self.lines) {
            *slice = IoSlice::new(line.get(std::mem::take(&mut skipped)..).unwrap_or_default());
        }
        writer.poll_write_vectored(context, slices.get(..self.lines.len()).unwrap_or(&slices))
    }
}

/// The lines of a waiting sender. Dropping this removes those that aren't being written yet.
struct Place<'a> {
    queue: &'a Queue,
    sender: u64,
    first: u64,
    last: u64,
}

impl<'a> Place<'a> {
    fn take(queue: &'a Queue, messages: impl IntoIterator<Item = Outgoing>) -> Self {
        let mut waiting = queue.0.lock();
        waiting.joined += 1;
        let before = waiting.count;
        for message in messages {
            let line = waiting.number(message);
            waiting.lines.push_back(line);
        }
        Self {
            queue,
            sender: waiting.joined,
            first: before + 1,
            last: waiting.count,
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.queue.0.lock();
        let start = waiting.lines.partition_point(|(number, _)| *number < self.first);
        let end = waiting.lines.partition_point(|(number, _)| *number <= self.last);
        waiting.lines.drain(start..end);
        waiting.senders.remove(&self.sender);
    }
}

impl<W: AsyncWrite + Unpin> LineSender<W> {
    pub(super) fn new(writer: W, in_burst: Arc<AtomicBool>) -> Self {
        Self {
            queue: Arc::default(),
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
        let place = Place::take(&self.queue, messages);
        let written = async {
            if !alone {
                // Lets other senders add their lines, to write them together.
                yield_now().await;
            }
            poll_fn(|context| self.poll_written(&place, context)).await
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

    fn poll_written(&self, place: &Place<'_>, context: &Context<'_>) -> Poll<Result<(), TransportError>> {
        let waker = Waker::from(Arc::clone(&self.queue));
        let written = ready!(self.poll_lines(place, context, &waker));
        // The lines of other senders are written as well, or can be now.
        waker.wake();
        Poll::Ready(written)
    }

    fn poll_lines(&self, place: &Place<'_>, context: &Context<'_>, all: &Waker) -> Poll<Result<(), TransportError>> {
        let mut state = self.state.lock();
        let state = state.as_mut().ok_or(TransportError::Closed)?;
        let mut is_queued = false;
        while state.flushed < place.last {
            if state.written < place.last && state.lines.is_empty() {
                state.lines.append(&mut self.queue.0.lock().lines);
            }
            match state.poll_finish(&mut Context::from_waker(all)) {
                Poll::Ready(finished) => finished?,
                Poll::Pending if is_queued => return Poll::Pending,
                Poll::Pending => {
                    // The peer may have read before this sender could be woken, so it tries again.
                    self.queue
                        .0
                        .lock()
                        .senders
                        .insert(place.sender, context.waker().clone());
                    is_queued = true;
                }
            }
        }
        Poll::Ready(Ok(()))
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
        let mut state = self.state.lock();
        let Some(state) = state.as_mut().filter(|state| state.lines.is_empty()) else {
            return false;
        };
        {
            let mut waiting = self.queue.0.lock();
            if !waiting.lines.is_empty() {
                return false;
            }
            state
                .lines
                .extend(messages.drain(..).map(|message| waiting.number(message)));
        }
        // If the peer doesn't read everything now, `send_all` finishes the lines. Unconstrained, because the task's budget
        // (tokio's cooperative scheduling) can be used up although the peer reads.
        let waker = Waker::from(Arc::clone(&self.queue));
        let finished = unconstrained(poll_fn(|context| state.poll_finish(context)));
        let finished = pin!(finished).poll(&mut Context::from_waker(&waker));
        matches!(finished, Poll::Ready(Ok(())))
    }

    /// Senders that are still waiting for the peer to read get an error.
    async fn close(&self) {
        self.closing.cancel();
        let Some(mut state) = self.state.lock().take() else {
            return;
        };
        let ended = tokio::time::timeout(CLOSING, async {
            poll_fn(|context| state.poll_finish(context)).await?;
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
