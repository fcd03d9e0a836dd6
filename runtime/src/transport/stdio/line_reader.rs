//! A reader of lines of bounded length.

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
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// The next line. The last one need not have an end. A line over the limit is returned as soon as it exceeds it.
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
