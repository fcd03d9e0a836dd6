//! The standalone stream while it is being opened.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// The time for which other messages wait until the standalone stream is open.
const OPENING: Duration = Duration::from_secs(1);

/// The standalone stream while it is being opened.
#[must_use]
pub(super) struct OpeningStream(pub(super) oneshot::Receiver<()>);

impl OpeningStream {
    /// Waits until the stream is open, but only for a short time: many servers lose messages while no client reads the
    /// stream.
    pub(super) async fn opened(self) {
        if timeout(OPENING, self.0).await.is_err() {
            tracing::debug!("the standalone stream is slow to open");
        }
    }
}
