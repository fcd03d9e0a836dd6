//! A reader of lines of bounded length.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes that are read at once.
const CHUNK: usize = 64 * 1024;

/// A reader of lines.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    /// The line so far. It is kept here, so that a future of [`LineReader::next`] may be dropped.
    line: Vec<u8>,
    /// The line was too long, and its rest is skipped.
    skipping: bool,
    in_burst: Arc<AtomicBool>,
}

/// A line without its end.
#[derive(Debug)]
pub(super) enum Line {
    /// A whole line.
    Whole(Vec<u8>),
    /// The beginning of one that is over the limit.
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, reader),
            limit,
            line: Vec::new(),
            skipping: false,
            in_burst: Arc::default(),
        }
    }

    /// Whether the last lines came together. What answers them may then go out together.
    pub(super) fn in_burst(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.in_burst)
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The next line. The last one need not have an end. A line over the limit is returned as soon as it exceeds it.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let is_first = self.reader.buffer().is_empty();
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok((!last.is_empty()).then_some(Line::Whole(last)));
            }
            let mut rest = chunk;
            let read = rest.skip_until(b'\n')?;
            let part = chunk.get(..read).unwrap_or_default();
            let (part, is_ended) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
            let room = self.limit - self.line.len();
            let fits = part.len() <= room;
            if !self.skipping {
                self.line.extend_from_slice(part.get(..room).unwrap_or(part));
            }
            self.reader.consume(read);
            let is_last = self.reader.buffer().is_empty();
            if !(is_first && is_last) {
                self.in_burst.store(true, Ordering::Relaxed);
            } else if is_ended {
                self.in_burst.store(false, Ordering::Relaxed);
            }

            let skipped = self.skipping;
            self.skipping = !is_ended && (skipped || !fits);
            if skipped || (fits && !is_ended) {
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            if !fits {
                return Ok(Some(Line::TooLong(line)));
            }
            line.pop_if(|last| *last == b'\r');
            return Ok(Some(Line::Whole(line)));
        }
    }
}
