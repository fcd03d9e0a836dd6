//! Whole lines, whatever becomes of those who send them.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::error::TransportError;

/// How long closing waits for the peer to read what has been begun.
const CLOSING: Duration = Duration::from_secs(1);

/// Writes lines.
#[derive(Debug)]
pub(super) struct Writer<W> {
    place: Mutex<Option<Place<W>>>,
    closing: CancellationToken,
}

#[derive(Debug)]
struct Place<W> {
    writer: W,
    /// The line that is being written, and how much of it is done. If its sender is dropped halfway then the next one
    /// finishes it, since the peer would otherwise read two halves as one message.
    line: Vec<u8>,
    done: usize,
}

impl<W: AsyncWrite + Unpin> Place<W> {
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

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            place: Mutex::new(Some(Place {
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
            let mut place = self.place.lock().await;
            let place = place.as_mut().ok_or(TransportError::Closed)?;
            if !place.line.is_empty() {
                place.finish().await?;
            }
            (place.line, place.done) = (line, 0);
            Ok(place.finish().await?)
        });
        let written: Result<(), TransportError> = written.await.unwrap_or(Err(TransportError::Closed));
        match written {
            Err(TransportError::Io(error)) if is_gone(&error) => Err(TransportError::Closed),
            written => written,
        }
    }

    /// Ends the stream. Whoever is still waiting for a peer that doesn't read is told that it is closed.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let Some(mut place) = self.place.lock().await.take() else {
            return;
        };
        let ended = tokio::time::timeout(CLOSING, async {
            place.finish().await?;
            place.writer.shutdown().await
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
