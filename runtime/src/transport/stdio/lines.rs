//! Lines of bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    /// The line so far. All that is known about it is here, so that a future of [`Lines::next`] may be dropped.
    line: Vec<u8>,
    /// The line was too long, and its rest is of no interest.
    skipping: bool,
}

/// A line without its end.
#[derive(Debug)]
pub(super) enum Line {
    /// All of it.
    Whole(Vec<u8>),
    /// The beginning of one that is over the limit.
    TooLong(Vec<u8>),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(CHUNK, reader),
            limit,
            line: Vec::new(),
            skipping: false,
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The next line; a last one need not have an end. One that is too long is told of as soon as that is known.
    pub(super) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let last = std::mem::take(&mut self.line);
                return Ok((!last.is_empty()).then_some(Line::Whole(last)));
            }
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let read = part.len() + usize::from(end.is_some());
            let room = self.limit - self.line.len();
            let fits = part.len() <= room;
            if !self.skipping {
                self.line.extend(part.iter().take(room));
            }
            self.reader.consume(read);

            let skipped = self.skipping;
            self.skipping = end.is_none() && (skipped || !fits);
            if skipped || (fits && end.is_none()) {
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
