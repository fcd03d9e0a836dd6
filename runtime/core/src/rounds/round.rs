//! One run of a handler that may ask questions.

use std::future::Future;

use mcp_adapters::hub::{InputRequest, InputResponse};
use mcp_adapters::mcp_wire::ErrorObject;
use mcp_runtime_util::Mutex;
use tokio::sync::{Notify, Semaphore};

use super::questions::Questions;
use crate::error::CallError;

/// One run of a handler that may ask questions. It ends with the handler, or where the handler can't go on.
#[derive(Debug)]
pub struct Round {
    /// Questions that are asked in the result. Without them, the client is called.
    questions: Option<Mutex<Questions>>,
    refusal: Mutex<Option<Refusal>>,
    /// The handler can't go on.
    stopped: Notify,
    /// Closed when the handler runs no more. What it has spawned may still wait for an answer.
    over: Semaphore,
}

impl Default for Round {
    /// A run in which the client is called.
    fn default() -> Self {
        Self {
            questions: None,
            refusal: Mutex::default(),
            stopped: Notify::new(),
            // Nothing is allocated for it, as would be for a token.
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

/// Why the request of a run gets no result.
#[derive(Debug)]
pub enum Refusal {
    /// The client hasn't declared what a question needs.
    NotOffered(ErrorObject),
    /// Whatever else is wrong.
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
    /// A run whose questions are asked in the result.
    pub fn with_questions(questions: Questions) -> Self {
        Self {
            questions: Some(Mutex::new(questions)),
            ..Self::default()
        }
    }

    /// Whether questions are asked in the result.
    pub fn asks_in_result(&self) -> bool {
        self.questions.is_some()
    }

    /// The questions.
    pub fn take_questions(&self) -> Questions {
        let questions = self.questions.as_ref();
        questions
            .map(|questions| std::mem::take(&mut *questions.lock()))
            .unwrap_or_default()
    }

    /// Runs a handler until it ends or can't go on, and then drops its future. `None` if questions have no answer yet.
    ///
    /// # Errors
    /// That of the handler, or if the run was refused.
    pub async fn run<T>(&self, handler: impl Future<Output = Result<T, ErrorObject>>) -> Result<Option<T>, Refusal> {
        let _running = Running(self);
        tokio::select! {
            // Questions that a handler asks at once are all asked before the run ends.
            biased;
            returned = handler => Ok(Some(returned?)),
            () = self.stopped.notified() => match self.refusal.lock().take() {
                Some(refusal) => Err(refusal),
                None => Ok(None),
            }
        }
    }

    /// Asks a question. Without an answer, the run ends.
    ///
    /// # Errors
    /// [`CallError::InputRequired`] in a task that outlives the run.
    pub async fn ask(&self, name: Option<&str>, request: InputRequest) -> Result<InputResponse, CallError> {
        let asked = match &self.questions {
            Some(questions) => questions.lock().ask(name, request),
            None => Ok(None),
        };
        match asked {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => self.stop().await,
            Err(error) => self.refuse(error.into()).await,
        }
    }

    /// Ends the run. The request gets an error.
    ///
    /// # Errors
    /// Those of [`Self::ask`].
    pub async fn refuse<T>(&self, refusal: Refusal) -> Result<T, CallError> {
        self.refusal.lock().get_or_insert(refusal);
        self.stop().await
    }

    async fn stop<T>(&self) -> Result<T, CallError> {
        self.stopped.notify_one();
        // It has no permits.
        let _closed = self.over.acquire().await;
        Err(CallError::InputRequired)
    }
}
