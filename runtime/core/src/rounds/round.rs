//! One run of a handler that can request input from the client.

use std::future::Future;

use mcp_adapters::hub::{InputRequest, InputResponse};
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_util::Mutex;
use tokio::sync::{Notify, Semaphore};

use super::round_requests::RoundRequests;
use crate::error::CallError;

/// One run of a handler that can request input. It ends when the handler returns, or can't continue without input.
#[derive(Debug)]
pub struct Round {
    /// The input requests for the result. `None` if the client is called instead.
    requests: Option<Mutex<RoundRequests>>,
    refusal: Mutex<Option<Refusal>>,
    /// Notified when the handler can't continue.
    stopped: Notify,
    /// Closed when the handler no longer runs. Tasks that it has spawned can still be waiting for input.
    over: Semaphore,
}

impl Default for Round {
    /// Creates a run in which the client is called.
    fn default() -> Self {
        Self {
            requests: None,
            refusal: Mutex::default(),
            stopped: Notify::new(),
            // Unlike a `CancellationToken`, this doesn't allocate.
            over: Semaphore::const_new(0),
        }
    }
}

/// Ends a run when it is dropped.
struct Running<'r>(&'r Round);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.over.close();
    }
}

/// The reason why a request gets an error instead of a result.
#[derive(Debug)]
pub enum Refusal {
    /// The client can't get the input request: it hasn't declared the capability for it, or has no session.
    NotOffered(ErrorObject),
    /// Any other error.
    Other(ErrorObject),
}

impl From<ErrorObject> for Refusal {
    fn from(error: ErrorObject) -> Self {
        Self::Other(error)
    }
}

impl From<Refusal> for ErrorObject {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotOffered(error) | Refusal::Other(error) => error,
        }
    }
}

impl Round {
    /// Creates a run whose input requests are sent in the result.
    pub fn with_requests(requests: RoundRequests) -> Self {
        Self {
            requests: Some(Mutex::new(requests)),
            ..Self::default()
        }
    }

    /// Whether input requests are sent in the result.
    pub fn asks_in_result(&self) -> bool {
        self.requests.is_some()
    }

    /// Takes the input requests.
    pub fn take_requests(&self) -> RoundRequests {
        let requests = self.requests.as_ref();
        requests
            .map(|requests| std::mem::take(&mut *requests.lock()))
            .unwrap_or_default()
    }

    /// Runs a handler until it returns or can't continue, and then drops its future. `None` if input is missing.
    ///
    /// # Errors
    /// The error of the handler, or the refusal of the run.
    pub async fn run<T>(&self, handler: impl Future<Output = Result<T, ErrorObject>>) -> Result<Option<T>, Refusal> {
        let _running = Running(self);
        tokio::select! {
            // All input requests that a handler makes concurrently are recorded before the run ends.
            biased;
            returned = handler => Ok(Some(returned?)),
            () = self.stopped.notified() => match self.refusal.lock().take() {
                Some(refusal) => Err(refusal),
                None => Ok(None),
            }
        }
    }

    /// Requests input. If there is no response yet, the run ends.
    ///
    /// # Errors
    /// [`CallError::InputRequired`] in a task that outlives the run.
    pub async fn ask(&self, name: Option<&str>, request: InputRequest) -> Result<InputResponse, CallError> {
        let asked = match &self.requests {
            Some(requests) => requests.lock().ask(name, request),
            None => Ok(None),
        };
        match asked {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => self.stop().await,
            Err(error) => self.refuse(error.into()).await,
        }
    }

    /// Ends the run with an error for the request.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub async fn refuse<T>(&self, refusal: Refusal) -> Result<T, CallError> {
        self.refusal.lock().get_or_insert(refusal);
        self.stop().await
    }

    async fn stop<T>(&self) -> Result<T, CallError> {
        self.stopped.notify_one();
        // It has no permits, so this waits until it is closed.
        let _closed = self.over.acquire().await;
        Err(CallError::InputRequired)
    }
}
