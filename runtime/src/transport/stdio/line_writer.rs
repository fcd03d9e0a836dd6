//! A writer of lines that never leaves one unfinished.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::error::TransportError;

/// The time that the peer has to read an unfinished line when the connection is closed.
const CLOSING: Duration = Duration::from_secs(1);

/// A writer of lines.
#[derive(Debug)]
pub(super) struct LineWriter<W> {
    state: Mutex<Option<State<W>>>,
    closing: CancellationToken,
}

#[derive(Debug)]
struct State<W> {
    writer: W,
    /// The line that is being written, and the bytes of it that are. If its sender is dropped, the next one finishes the
    /// line: otherwise the peer would read two halves as one message.
    line: Vec<u8>,
    done: usize,
}

impl<W: AsyncWrite + Unpin> State<W> {
    async fn finish(&mut self) -> std::io::Result<()> {
        while let Some(rest) = self.line.get(self.done..).filter(|rest| !rest.is_empty()) {
            match self.writer.write(rest).await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                written => self.done += written,
            }
        }
        (self.line, self.done) = (Vec::new(), 0);
        self.writer.flush().await
    }
}

impl<W: AsyncWrite + Unpin> LineWriter<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            state: Mutex::new(Some(State {
                writer,
                line: Vec::new(),
                done: 0,
            })),
            closing: CancellationToken::new(),
        }
    }

    pub(super) async fn write(&self, mut line: Vec<u8>) -> Result<(), TransportError> {
        line.push(b'\n');
        let written = self.closing.run_until_cancelled(async {
            let mut state = self.state.lock().await;
            let state = state.as_mut().ok_or(TransportError::Closed)?;
            if !state.line.is_empty() {
                state.finish().await?;
            }
            (state.line, state.done) = (line, 0);
            Ok(state.finish().await?)
        });
        let written: Result<(), TransportError> = written.await.unwrap_or(Err(TransportError::Closed));
        match written {
            Err(TransportError::Io(error)) if is_gone(&error) => Err(TransportError::Closed),
            written => written,
        }
    }

    /// Closes the stream. Senders that wait for a peer that doesn't read get an error.
    pub(super) async fn close(&self) {
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
