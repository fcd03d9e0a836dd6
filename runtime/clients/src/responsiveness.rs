//! Whether a server answers in time, so that one that hangs is waited for only once.

use std::time::Duration;

use mcp_runtime_core::{CallError, ConnectError};
use tokio::sync::watch;
use tokio::task::JoinError;
use tokio::time::{sleep, timeout};
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
    /// Waits for the answer of the server until the limit.
    ///
    /// # Errors
    /// Those of [`Self::until`].
    pub async fn in_time<T: Send + 'static>(
        &self,
        limit: Duration,
        request: impl Future<Output = Result<T, ConnectError>> + Send + 'static,
    ) -> Result<T, ConnectError> {
        self.until(sleep(limit), limit, request).await
    }

    /// Waits for the answer of the server until `expiry`, which is the limit in a time that the caller measures. If the
    /// server has exceeded this limit before, it waits only briefly, but the request continues: once the server answers,
    /// the next request waits again.
    ///
    /// # Errors
    /// Those of the request, and that the server exceeds the limit.
    pub async fn until<T: Send + 'static>(
        &self,
        expiry: impl Future<Output = ()> + Send + 'static,
        limit: Duration,
        request: impl Future<Output = Result<T, ConnectError>> + Send + 'static,
    ) -> Result<T, ConnectError> {
        let patience = match self.is_exceeded_by(limit) {
            true => limit.min(BRIEFLY),
            false => Duration::MAX,
        };
        let exceeded = self.exceeded.clone();
        let mut asked = AbortOnDropHandle::new(tokio::spawn(async move {
            let answered = tokio::select! {
                biased;
                answered = request => Some(answered),
                () = expiry => None,
            };
            match &answered {
                Some(answered) if is_answer(answered) => _ = exceeded.send_replace(Duration::ZERO),
                Some(_) => {}
                None => exceeded.send_modify(|exceeded| *exceeded = limit.max(*exceeded)),
            }
            answered.unwrap_or_else(|| Err(CallError::TimedOut(limit).into()))
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
    #[must_use]
    pub fn is_exceeded(&self) -> bool {
        !self.exceeded.borrow().is_zero()
    }

    fn is_exceeded_by(&self, limit: Duration) -> bool {
        *self.exceeded.borrow() >= limit
    }
}

/// Whether this comes from the server. A lost connection isn't an answer: that to a hanging server, for
/// example, ends when the client for which it was asked has gone.
fn is_answer<T>(result: &Result<T, ConnectError>) -> bool {
    match result {
        Ok(_) | Err(ConnectError::Mismatch(_) | ConnectError::NotStateless(_)) => true,
        Err(ConnectError::Call(error)) => matches!(
            error,
            CallError::Peer(_)
                | CallError::Http(_)
                | CallError::InvalidResult(_)
                | CallError::InputNotProvided(_)
                | CallError::TooManyRounds(_)
        ),
        Err(_) => false,
    }
}
