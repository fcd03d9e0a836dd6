//! Clients whose calls can return tasks.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use mcp_adapters::Revision;
use mcp_ext_tasks::{
    CancelTaskRequest, CancelTaskRequestParams, CreateTaskResult, EXTENSION, GetTaskRequest, GetTaskRequestParams,
    GetTaskResult, UpdateTaskRequest, UpdateTaskRequestParams,
};
use mcp_runtime_core::internal::tolerated;
use mcp_runtime_core::mcp_wire::{Decode, Encode, RawJson, RawObject, Request, UnknownMethod};
use mcp_runtime_core::{CallError, ClientSide, ErrorObject, Peer, hub};
use mcp_runtime_router::{to_extended, to_hub};
use tokio::time::sleep;

/// The poll interval for the state of a task, if the server sets none.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum poll interval.
const SHORTEST_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The reason why a tool that runs as a task has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A request failed, or this client didn't answer an input request of the task.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The task has failed, with the error that a call without a task would have returned.
    #[error("the task has failed with error {}: {}", .0.code, .0.message)]
    Failed(ErrorObject),
    /// The task was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
}

/// Calls of tools for which servers can return tasks.
///
/// The client has to declare the extension: [`Client::extension`](mcp_runtime_core::Client::extension) does, and over HTTP,
/// `HttpOptions::extension` adds its headers.
pub trait CallTasks {
    /// Calls a tool, and waits for the end of the task if the server creates one. The client's handler answers the
    /// input requests of the task; if it doesn't answer one, the task is cancelled.
    ///
    /// # Errors
    /// When there is no result: see [`TaskError`].
    fn call_tool_to_end(
        &self,
        params: hub::CallToolRequestParams,
    ) -> impl Future<Output = Result<hub::CallToolResult, TaskError>> + Send;

    /// Calls a tool, and returns the task if the server creates one.
    ///
    /// # Errors
    /// Those of the call.
    fn call_tool_as_task(
        &self,
        params: hub::CallToolRequestParams,
    ) -> impl Future<Output = Result<ToolAnswer, CallError>> + Send;
}

/// The outcome of a tool call.
#[derive(Debug)]
pub enum ToolAnswer {
    /// The result.
    Result(hub::CallToolResult),
    /// A task that will have the result.
    Task(TaskHandle),
}

impl CallTasks for Peer<ClientSide> {
    async fn call_tool_to_end(&self, params: hub::CallToolRequestParams) -> Result<hub::CallToolResult, TaskError> {
        match self.call_tool_as_task(params).await? {
            ToolAnswer::Result(result) => Ok(result),
            ToolAnswer::Task(task) => task.wait(|_| ()).await,
        }
    }

    async fn call_tool_as_task(&self, params: hub::CallToolRequestParams) -> Result<ToolAnswer, CallError> {
        let result = self.call_in_rounds(hub::CallToolRequest::new(params).into()).await?;
        match result {
            hub::ServerResult::CallTool(result) => Ok(ToolAnswer::Result(result)),
            hub::ServerResult::Unknown(result) => {
                let created: CreateTaskResult = decoded(&result)?;
                Ok(ToolAnswer::Task(TaskHandle::new(self.clone(), created.task_id)))
            }
            other => Err(CallError::InvalidResult(format!("a tool call can't return {other:?}"))),
        }
    }
}

/// A handle of a server's task. Dropping it doesn't affect the task.
#[derive(Debug, Clone)]
pub struct TaskHandle {
    peer: Peer<ClientSide>,
    id: String,
}

impl TaskHandle {
    /// Creates a handle of the task with an id, which a client can keep across a restart.
    #[must_use]
    pub fn new(peer: Peer<ClientSide>, id: impl Into<String>) -> Self {
        let id = id.into();
        Self { peer, id }
    }

    /// Returns the id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Requests the current state of the task.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn state(&self) -> Result<GetTaskResult, CallError> {
        let result = self
            .request::<GetTaskRequest>(&GetTaskRequestParams::new(&self.id))
            .await?;
        decoded(&result)
    }

    /// Answers input requests of the task. Answers without an input request are ignored.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn update(&self, answers: hub::InputResponses) -> Result<(), CallError> {
        let answers = to_extended(&EXTENSION, "InputResponses", &answers);
        let answers = answers.map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        let params = UpdateTaskRequestParams::new(&self.id, answers);
        self.request::<UpdateTaskRequest>(&params).await.map(drop)
    }

    /// Asks the server to stop the task, which may still complete.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = CancelTaskRequestParams::new(&self.id);
        self.request::<CancelTaskRequest>(&params).await.map(drop)
    }

    /// Waits for the end of the task. The client's handler answers the input requests of the task; if it doesn't answer
    /// one, the task is cancelled. `observe` gets each state, such as to show its message.
    ///
    /// The server sets the poll interval. There is no timeout: add one around this, and [cancel](Self::cancel) the task
    /// when it expires.
    ///
    /// # Errors
    /// When there is no result: see [`TaskError`].
    pub async fn wait(&self, mut observe: impl FnMut(&GetTaskResult) + Send) -> Result<hub::CallToolResult, TaskError> {
        // Answered input requests can remain in the state for a while.
        let mut answered = BTreeSet::new();
        let mut answers = FuturesUnordered::new();
        loop {
            let state = self.state().await?;
            observe(&state);
            let Ongoing { asked, interval, .. } = match Seen::of(state)? {
                Seen::Ended(result) => return Ok(*result),
                Seen::GoesOn(ongoing) => ongoing,
            };
            answered.retain(|name: &String| asked.contains_key(name));
            let new = asked.into_iter().filter(|(name, _)| !answered.contains(name));
            let new: hub::InputRequests = new.collect();
            if !new.is_empty() {
                answered.extend(new.iter().map(|(name, _)| name.to_owned()));
                answers.push(self.answer(new));
            }
            // The task may end before its input requests are answered.
            let mut pause = pin!(sleep(interval));
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    Some(sent) = answers.next() => sent?,
                }
            }
        }
    }

    /// Answers input requests with the client's handler. If that fails, it cancels the task.
    async fn answer(&self, asked: hub::InputRequests) -> Result<(), CallError> {
        match self.peer.answer(asked).await {
            Ok(answers) => self.update(answers).await,
            Err(error) => {
                if let Err(error) = self.cancel().await {
                    tracing::debug!(task = self.id, %error, "a task with unanswered input requests can't be cancelled");
                }
                Err(error)
            }
        }
    }

    async fn request<R: Request>(&self, params: &impl Encode) -> Result<RawJson, CallError> {
        let params = RawJson::from_encode(params).map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        let request = UnknownMethod::new(R::METHOD).with_params(params);
        self.peer.call_unknown(request).await
    }
}

/// The state of a task that hasn't failed.
pub enum Seen {
    /// The task has ended, with the result of the call.
    Ended(Box<hub::CallToolResult>),
    /// The task is in progress.
    GoesOn(Ongoing),
}

/// The state of a task in progress.
pub struct Ongoing {
    /// The status message.
    pub message: Option<String>,
    /// The open input requests.
    pub asked: hub::InputRequests,
    /// The poll interval.
    pub interval: Duration,
}

impl Seen {
    /// Reads a state.
    ///
    /// # Errors
    /// When the task has ended without a result, or its state is invalid.
    pub fn of(state: GetTaskResult) -> Result<Self, TaskError> {
        let (message, asked, interval) = match state {
            GetTaskResult::Completed(task) => {
                return Ok(Self::Ended(Box::new(tool_result(&task.result)?)));
            }
            GetTaskResult::Failed(task) => {
                let mut error = ErrorObject::new(task.error.code, task.error.message);
                error.data = task.error.data;
                return Err(TaskError::Failed(error));
            }
            GetTaskResult::Cancelled(_) => return Err(TaskError::Cancelled),
            GetTaskResult::InputRequired(task) => {
                let asked = in_hub("InputRequests", &task.input_requests)?;
                (task.status_message, asked, task.poll_interval_ms)
            }
            GetTaskResult::Working(task) => (task.status_message, hub::InputRequests::new(), task.poll_interval_ms),
            GetTaskResult::Unknown(state) => {
                let what = format!("a task has the unknown state {}", state.text());
                return Err(CallError::InvalidResult(what).into());
            }
        };
        let interval = poll_interval(interval);
        Ok(Self::GoesOn(Ongoing {
            message,
            asked,
            interval,
        }))
    }
}

/// Returns the poll interval for the state of a task, given that of the server.
pub fn poll_interval(millis: Option<i64>) -> Duration {
    let interval = millis.and_then(|millis| u64::try_from(millis).ok());
    let interval = interval.map_or(POLL_INTERVAL, Duration::from_millis);
    interval.max(SHORTEST_POLL_INTERVAL)
}

/// Reads the result of a tool as that of a call: a missing kind of result counts as a complete one.
fn tool_result(result: &RawObject) -> Result<hub::CallToolResult, CallError> {
    let result = RawJson::from_encode(result).map_err(|error| CallError::InvalidResult(error.to_string()))?;
    let extended = Revision::all().find(|revision| revision.as_str() == EXTENSION.extends);
    let extended = extended.unwrap_or(Revision::HUB);
    in_hub(
        "CallToolResult",
        &tolerated(extended, hub::CallToolRequest::METHOD, result),
    )
}

fn in_hub<T: Decode>(definition: &str, value: &impl Encode) -> Result<T, CallError> {
    to_hub(&EXTENSION, definition, value).map_err(|error| CallError::InvalidResult(error.to_string()))
}

fn decoded<T: Decode>(result: &RawJson) -> Result<T, CallError> {
    result
        .decode_as()
        .map_err(|error| CallError::InvalidResult(error.to_string()))
}
