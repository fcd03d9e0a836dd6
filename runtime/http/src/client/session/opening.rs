//! The standalone stream while it is being opened.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long other messages wait for the standalone stream to open.
const OPENING: Duration = Duration::from_secs(1);

/// The standalone stream while it is being opened.
#[must_use]
pub(super) struct OpeningStream(pub(super) oneshot::Receiver<()>);

impl OpeningStream {
    /// Waits a moment until the stream is open: many servers lose messages while nobody reads it.
    pub(super) async fn opened(self) {
        if timeout(OPENING, self.0).await.is_err() {
            tracing::debug!("the standalone stream is slow to open");
        }
    }
}
