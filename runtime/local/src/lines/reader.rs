//! A reader of lines of bounded length.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The bytes that are read at once.
const CHUNK: usize = 64 * 1024;
/// The minimum length of a line that takes over the buffer instead of being copied, if nothing else is in the buffer.
const LONG: usize = CHUNK / 2;

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
    /// Whether the rest of a line that was too long is being skipped.
    skipping: bool,
    in_burst: Arc<AtomicBool>,
}

/// A line without its end.
#[derive(Debug)]
pub enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// The start of a line that exceeds the limit.
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
            skipping: false,
            in_burst: Arc::default(),
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

    /// Returns the next line. The last line needn't have a line ending. A line over the limit is returned as soon as it
    /// exceeds it.
    pub async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            while let Some(ended) = self.scan() {
                if let Some(line) = self.take_line(ended) {
                    return Ok(Some(line));
                }
            }
            if self.fill().await? == 0 {
                let last = std::mem::take(&mut self.buffer);
                return Ok((!last.is_empty()).then_some(Line::Whole(last)));
            }
        }
    }

    /// Searches for the end of the line: `true` if it is found, `false` if it isn't and the line is too long or
    /// skipped, and `None` if more has to be read.
    fn scan(&mut self) -> Option<bool> {
        let rest = self.buffer.get(self.start + self.scanned..).unwrap_or_default();
        let end = memchr(b'\n', rest);
        let is_ended = end.is_some();
        self.scanned += end.unwrap_or(rest.len());
        let is_over = self.skipping || self.scanned > self.limit;
        (is_ended || (is_over && self.scanned > 0)).then_some(is_ended)
    }

    /// Takes the scanned line out of the buffer; `None` if it was skipped.
    fn take_line(&mut self, is_ended: bool) -> Option<Line> {
        let (start, length) = (self.start, std::mem::take(&mut self.scanned));
        let end = start + length + usize::from(is_ended);
        let is_last = end == self.buffer.len();
        self.in_burst.store(start > 0 || !is_last, Ordering::Relaxed);
        let (skipped, fits) = (self.skipping, length <= self.limit);
        self.skipping = !is_ended;
        let is_owned = is_last && start == 0 && length >= LONG;
        let line = match (skipped, fits) {
            (true, _) => None,
            (false, true) if is_owned => {
                let mut line = std::mem::take(&mut self.buffer);
                line.truncate(length);
                Some(line)
            }
            (false, _) => {
                let line = self.buffer.get(start..start + length.min(self.limit));
                line.map(<[u8]>::to_vec)
            }
        };
        self.start = end;
        if is_last {
            self.start = 0;
            self.buffer.clear();
            // Frees the memory of a long line.
            self.buffer.shrink_to(CHUNK);
        }
        let mut line = line?;
        if !fits {
            return Some(Line::TooLong(line));
        }
        line.pop_if(|last| *last == b'\r');
        Some(Line::Whole(line))
    }

    /// Reads the available bytes, and returns their number; 0 at the end of the stream.
    async fn fill(&mut self) -> std::io::Result<usize> {
        if self.start > 0 {
            self.buffer.drain(..std::mem::take(&mut self.start));
        }
        self.buffer.reserve(CHUNK);
        self.reader.read_buf(&mut self.buffer).await
    }
}
