//! Whether a server answers in time, so that one that hangs is waited for only once.

use std::time::Duration;

use mcp_runtime_core::{CallError, ConnectError};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

/// How long a server that hasn't answered in time before is waited for.
const BRIEFLY: Duration = Duration::from_millis(250);

/// Whether a server answers in time. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Responsiveness {
    /// The longest time limit that the server has exceeded since its last answer; zero if it has exceeded none.
    exceeded: watch::Sender<Duration>,
}

impl Responsiveness {
    /// Waits for the answer of the server until the limit. If the server has exceeded this limit before, it waits only
    /// briefly, but the request continues: once the server answers, the next request waits again.
    ///
    /// # Errors
    /// Those of the request, and that the server exceeds the limit.
    pub async fn in_time<T: Send + 'static>(
        &self,
        limit: Duration,
        request: impl Future<Output = Result<T, ConnectError>> + Send + 'static,
    ) -> Result<T, ConnectError> {
        let patience = match self.is_exceeded_by(limit) {
            true => limit.min(BRIEFLY),
            false => Duration::MAX,
        };
        let exceeded = self.exceeded.clone();
        let mut asked = AbortOnDropHandle::new(tokio::spawn(async move {
            let answered = timeout(limit, request).await;
            match &answered {
                // The server wasn't asked.
                Ok(Err(ConnectError::Call(CallError::NotOffered { .. }))) => {}
                Ok(_) => _ = exceeded.send_replace(Duration::ZERO),
                Err(_) => exceeded.send_modify(|exceeded| *exceeded = limit.max(*exceeded)),
            }
            answered.unwrap_or_else(|_| Err(CallError::TimedOut(limit).into()))
        }));
        match timeout(patience, &mut asked).await {
            Ok(answered) => answered.unwrap_or_else(|error| match JoinError::try_into_panic(error) {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Err(CallError::Closed.into()),
            }),
            Err(_) => {
                asked.detach();
                Err(CallError::TimedOut(limit).into())
            }
        }
    }

    /// Waits until the server answers after it has exceeded a limit.
    pub async fn recovered(&self) {
        let mut exceeded = self.exceeded.subscribe();
        // These can't fail: this has a sender.
        let _ = exceeded.wait_for(|exceeded| !exceeded.is_zero()).await;
        let _ = exceeded.wait_for(Duration::is_zero).await;
    }

    /// Whether the server has exceeded a limit since its last answer.
    pub(super) fn is_exceeded(&self) -> bool {
        !self.exceeded.borrow().is_zero()
    }

    fn is_exceeded_by(&self, limit: Duration) -> bool {
        *self.exceeded.borrow() >= limit
    }
}
