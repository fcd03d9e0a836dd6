//! The record of a task, as stores keep it.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use mcp_ext_tasks::{
    CreateTaskResult, EXTENSION, GetTaskResult, GetTaskResultCancelled, GetTaskResultCompleted, GetTaskResultFailed,
    GetTaskResultInputRequired, GetTaskResultWorking, TaskStatus,
};
use mcp_runtime_core::internal::internal_error;
use mcp_runtime_core::mcp_wire::RawObject;
use mcp_runtime_core::transport::Principal;
use mcp_runtime_core::{ErrorObject, error_code, hub};
use mcp_runtime_router::to_extended;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::stored;

/// The record of a task, as a [`TaskStore`](crate::TaskStore) keeps it. Serde serializes it to JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskRecord {
    pub(crate) id: String,
    /// The principal that may see it. Without one, everyone who knows its id may.
    pub(crate) owner: Option<String>,
    /// The instance that runs it.
    pub(crate) runner: Option<String>,
    /// Whether its work is in a queue of the program, which gives it to another instance if one is gone.
    pub(crate) is_queued: bool,
    pub(crate) created: DateTime<Utc>,
    pub(crate) updated: DateTime<Utc>,
    pub(crate) ttl: Duration,
    pub(crate) poll_interval: Duration,
    pub(crate) message: Option<String>,
    pub(crate) state: State,
}

/// The state of the work.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum State {
    /// In progress, with the input requests that aren't answered yet.
    Working {
        asks: hub::InputRequests,
    },
    /// The result of the tool, in the revision that the extension extends.
    Completed {
        result: RawObject,
    },
    Failed {
        error: hub::base::Error,
    },
    Cancelled,
}

impl State {
    pub(crate) fn working() -> Self {
        let asks = hub::InputRequests::new();
        Self::Working { asks }
    }

    pub(crate) fn failed(error: ErrorObject) -> Self {
        Self::Failed { error: stored(error) }
    }

    /// Creates the state for a failure of the server.
    pub(crate) fn lost(what: &str) -> Self {
        Self::failed(ErrorObject::new(error_code::INTERNAL_ERROR, what))
    }
}

impl TaskRecord {
    /// Returns the id of the task, which can't be guessed.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the task has ended. It doesn't change any more then.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !matches!(self.state, State::Working { .. })
    }

    /// Returns how long the task is still kept.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        let age = (Utc::now() - self.created).to_std().unwrap_or_default();
        self.ttl.saturating_sub(age)
    }

    pub(crate) fn is_of(&self, principal: Option<&Principal>) -> bool {
        self.owner.as_deref() == principal.map(|principal| principal.0.as_str())
    }

    /// Returns the size of the result in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.state {
            State::Completed { result } => result.text().len(),
            State::Working { .. } | State::Failed { .. } | State::Cancelled => 0,
        }
    }

    /// Returns the error text of a result with which the tool reports that it has failed.
    pub(crate) fn tool_error(&self) -> Option<String> {
        let State::Completed { result } = &self.state else {
            return None;
        };
        let has_failed: bool = result.get("isError")?.parse().ok()?;
        has_failed.then(|| {
            let content: Option<Value> = result.get("content").and_then(|content| content.parse().ok());
            let blocks = content.iter().filter_map(Value::as_array).flatten();
            let text = blocks.filter_map(|block| block["text"].as_str()).next();
            text.unwrap_or("the tool has failed").to_owned()
        })
    }

    /// Ends the task, unless it has already ended. Returns whether this call ended it.
    pub(crate) fn end(&mut self, state: State) -> bool {
        let ends = !self.has_ended();
        if ends {
            // The last message of the work doesn't describe the end.
            self.message = match &state {
                State::Failed { error } => Some(error.message.clone()),
                State::Working { .. } | State::Completed { .. } | State::Cancelled => None,
            };
            self.state = state;
            self.updated = Utc::now();
        }
        ends
    }

    pub(crate) fn created(&self) -> CreateTaskResult {
        let (created, updated) = (timestamp(self.created), timestamp(self.updated));
        let ttl = Some(millis(self.ttl));
        let mut result = CreateTaskResult::new(created, updated, TaskStatus::Working, &self.id, ttl);
        result.poll_interval_ms = Some(millis(self.poll_interval));
        result.status_message.clone_from(&self.message);
        result
    }

    /// Returns the current state, in the form of `tasks/get`.
    ///
    /// # Errors
    /// When an input request of the task can't be represented in the revision that the extension extends.
    pub(crate) fn result(&self) -> Result<GetTaskResult, ErrorObject> {
        let (created, updated) = (timestamp(self.created), timestamp(self.updated));
        /// Creates a result with the members that tasks in all states have.
        macro_rules! state {
            ($result:ident $(, $argument:expr)*) => {{
                let mut result = $result::new(created, updated, &self.id, Some(millis(self.ttl)) $(, $argument)*);
                result.poll_interval_ms = Some(millis(self.poll_interval));
                result.status_message.clone_from(&self.message);
                result.into()
            }};
        }
        Ok(match &self.state {
            State::Working { asks } if asks.is_empty() => state!(GetTaskResultWorking),
            State::Working { asks } => {
                let asks = to_extended(&EXTENSION, "InputRequests", asks).map_err(internal_error)?;
                state!(GetTaskResultInputRequired, asks)
            }
            State::Completed { result } => state!(GetTaskResultCompleted, result.clone()),
            State::Failed { error } => {
                let error = to_extended(&EXTENSION, "Error", error).map_err(internal_error)?;
                state!(GetTaskResultFailed, error)
            }
            State::Cancelled => state!(GetTaskResultCancelled),
        })
    }
}

fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

fn millis(duration: Duration) -> i64 {
    duration.as_millis().try_into().unwrap_or(i64::MAX)
}
