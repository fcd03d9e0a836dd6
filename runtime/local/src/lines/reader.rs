//! A reader of lines of bounded length.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::yield_now;

/// The bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// The minimum length of a line that takes over the buffer instead of being copied, if nothing else is in the buffer.
const LONG: usize = CHUNK / 2;
/// The bytes that are kept of the end of a line that is too long, which can have the id of a message.
const END: usize = 1024;

/// The number of lines after which other tasks get their turn, if no read has waited meanwhile.
const TURN: usize = 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A reader of lines.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    limit: usize,
    /// The bytes that are read but not yet returned. They are kept here so that a future of [`LineReader::next`] can be
    /// dropped.
    buffer: Vec<u8>,
    /// The start of the next line in the buffer, and the number of its bytes that have been searched without finding an
    /// end of line.
    start: usize,
    scanned: usize,
    in_burst: Arc<AtomicBool>,
    /// The number of lines returned since a read has waited.
    returned: usize,
}

/// A line without its end, and without a byte order mark.
#[derive(Debug)]
pub enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// The last line, without a line ending: it may be cut.
    Last(Vec<u8>),
    /// The start of a line that exceeds the limit, as long as the limit, and its end.
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader,
            limit,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            in_burst: Arc::default(),
            returned: 0,
        }
    }

    /// Returns a flag that is set while the latest lines arrived together, so that their responses can be sent
    /// together.
    pub fn in_burst(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.in_burst)
    }

    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns the next line. The last line needn't have a line ending.
    pub async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            if let Some(length) = self.scan() {
                self.returned += 1;
                // The reads of a peer that never pauses don't wait, and a timeout of this task couldn't fire.
                if self.returned == TURN {
                    self.returned = 0;
                    yield_now().await;
                }
                return Ok(Some(self.take_line(length)));
            }
            if self.fill().await? == 0 {
                let last = std::mem::take(&mut self.buffer);
                return Ok((!last.is_empty()).then(|| match self.line(last) {
                    Line::Whole(line) => Line::Last(line),
                    other => other,
                }));
            }
        }
    }

    /// Searches for the end of the line, and returns its length. Of a line that is too long, it drops the middle.
    fn scan(&mut self) -> Option<usize> {
        let rest = self.buffer.get(self.start + self.scanned..).unwrap_or_default();
        if let Some(end) = memchr(b'\n', rest) {
            return Some(std::mem::take(&mut self.scanned) + end);
        }
        self.scanned += rest.len();
        let dropped = self.start.saturating_add(self.limit)..self.buffer.len().saturating_sub(END);
        if !dropped.is_empty() {
            self.scanned -= dropped.len();
            self.buffer.drain(dropped);
        }
        None
    }

    /// Takes the scanned line out of the buffer.
    fn take_line(&mut self, length: usize) -> Line {
        let (start, end) = (self.start, self.start + length);
        let is_last = end + 1 == self.buffer.len();
        self.in_burst.store(start > 0 || !is_last, Ordering::Relaxed);
        let line = if is_last && start == 0 && length >= LONG {
            let mut line = std::mem::take(&mut self.buffer);
            line.truncate(length);
            line
        } else {
            self.buffer.get(start..end).unwrap_or_default().to_vec()
        };
        self.start = end + 1;
        if is_last {
            self.start = 0;
            self.buffer.clear();
            // Frees the memory of a long line.
            self.buffer.shrink_to(CHUNK);
        }
        self.line(line)
    }

    fn line(&self, mut line: Vec<u8>) -> Line {
        if line.len() > self.limit {
            return Line::TooLong(line);
        }
        line.pop_if(|last| *last == b'\r');
        // Programs on Windows can start their output with it.
        if line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        Line::Whole(line)
    }

    /// Reads the available bytes, and returns their number; 0 at the end of the stream.
    async fn fill(&mut self) -> std::io::Result<usize> {
        if self.start > 0 {
            self.buffer.drain(..std::mem::take(&mut self.start));
        }
        self.buffer.reserve(CHUNK);
        let mut read = pin!(self.reader.read_buf(&mut self.buffer));
        poll_fn(|context| {
            let read = read.as_mut().poll(context);
            if read.is_pending() {
                self.returned = 0;
            }
            read
        })
        .await
    }
}
