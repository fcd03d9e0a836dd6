//! A writer of lines that never leaves one unfinished.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::yield_now;
use tokio_util::sync::CancellationToken;

use crate::error::TransportError;

/// The time that the peer has to read unfinished lines when the connection is closed.
const CLOSING: Duration = Duration::from_secs(1);
/// The lines of one write.
const SLICES: usize = 64;

/// A writer of lines. Those that wait while others are written go out together.
#[derive(Debug)]
pub struct LineWriter<W> {
    waiting: crate::sync::Mutex<Waiting>,
    state: Mutex<Option<State<W>>>,
    /// Whether several messages came together, whose answers will be ready together.
    in_burst: Arc<AtomicBool>,
    closing: CancellationToken,
}

/// The lines that wait, and how many there have been.
#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<Numbered>,
    count: u64,
}

/// A line, and its number: the first has 1.
#[derive(Debug)]
struct Numbered {
    number: u64,
    line: Vec<u8>,
}

#[derive(Debug)]
struct State<W> {
    writer: W,
    /// The lines that are being written, and the bytes of the first that are. If the sender that writes them is dropped, the
    /// next one finishes them: otherwise the peer would read two halves as one message.
    lines: VecDeque<Numbered>,
    done: usize,
    /// The numbers of the last line that is written, and of the last one that is flushed too.
    written: u64,
    flushed: u64,
}

impl<W: AsyncWrite + Unpin> State<W> {
    async fn finish(&mut self) -> std::io::Result<()> {
        while !self.lines.is_empty() {
            match self.write_some().await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                written => self.done += written,
            }
            while let Some(first) = self.lines.front()
                && let Some(done) = self.done.checked_sub(first.line.len())
            {
                (self.written, self.done) = (first.number, done);
                self.lines.pop_front();
            }
        }
        self.writer.flush().await?;
        self.flushed = self.written;
        Ok(())
    }

    async fn write_some(&mut self) -> std::io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); SLICES];
        let mut done = self.done;
        for (slice, Numbered { line, .. }) in slices.iter_mut().zip(&self.lines) {
            *slice = IoSlice::new(line.get(done..).unwrap_or_default());
            done = 0;
        }
        let count = self.lines.len().min(SLICES);
        let slices = slices.get(..count).unwrap_or(&slices);
        self.writer.write_vectored(slices).await
    }
}

/// A line of a sender that waits. Dropping it removes the line, if nobody has begun to write it.
struct Place<'a> {
    waiting: &'a crate::sync::Mutex<Waiting>,
    number: u64,
}

impl<'a> Place<'a> {
    fn take(waiting: &'a crate::sync::Mutex<Waiting>, mut line: Vec<u8>) -> Self {
        line.push(b'\n');
        let mut guard = waiting.lock();
        guard.count += 1;
        let number = guard.count;
        guard.lines.push_back(Numbered { number, line });
        Self { waiting, number }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock();
        if let Ok(index) = waiting.lines.binary_search_by_key(&self.number, |line| line.number) {
            waiting.lines.remove(index);
        }
    }
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    pub fn new(writer: W, in_burst: Arc<AtomicBool>) -> Self {
        Self {
            waiting: crate::sync::Mutex::default(),
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

    pub async fn write(&self, line: Vec<u8>) -> Result<(), TransportError> {
        let place = Place::take(&self.waiting, line);
        let is_alone = !self.in_burst.load(Ordering::Relaxed);
        self.wait(place.number, is_alone).await
    }

    /// Writes lines that are all that is ready now.
    pub async fn write_all(&self, lines: impl Iterator<Item = Vec<u8>>) -> Result<(), TransportError> {
        let places: Vec<_> = lines.map(|line| Place::take(&self.waiting, line)).collect();
        match places.last() {
            Some(place) => self.wait(place.number, true).await,
            None => Ok(()),
        }
    }

    async fn wait(&self, number: u64, is_alone: bool) -> Result<(), TransportError> {
        let written = self.closing.run_until_cancelled(self.write_until(number, is_alone));
        match written.await.unwrap_or(Err(TransportError::Closed)) {
            Err(TransportError::Io(error)) if is_gone(&error) => Err(TransportError::Closed),
            written => written,
        }
    }

    /// Writes what waits, until the line with this number is written. Another sender may do that. Unless the line `is_alone`, others
    /// may be ready soon.
    async fn write_until(&self, number: u64, is_alone: bool) -> Result<(), TransportError> {
        let mut state = self.state.lock().await;
        let state = state.as_mut().ok_or(TransportError::Closed)?;
        while state.flushed < number {
            if state.written < number && state.lines.is_empty() {
                if !is_alone {
                    // What else is ready is written with it.
                    yield_now().await;
                }
                state.lines = std::mem::take(&mut self.waiting.lock().lines);
            }
            state.finish().await?;
        }
        Ok(())
    }

    /// Closes the stream. Senders that wait for a peer that doesn't read get an error.
    pub async fn close(&self) {
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
