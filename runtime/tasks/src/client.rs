//! Clients whose calls are answered by tasks.

use std::collections::BTreeSet;
use std::time::Duration;

use mcp_ext_tasks::{
    CancelTaskRequest, CancelTaskRequestParams, CreateTaskResult, EXTENSION, GetTaskRequest, GetTaskRequestParams,
    GetTaskResult, UpdateTaskRequest, UpdateTaskRequestParams,
};
use mcp_runtime_core::mcp_wire::{Decode, Encode, RawJson, Request, UnknownMethod};
use mcp_runtime_core::{CallError, ClientSide, ErrorObject, Peer, hub};
use mcp_runtime_router::{to_extended, to_hub};
use tokio::time::sleep;

/// How long a client waits between two requests for the state of a task if the server doesn't say.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The shortest time between two such requests.
const SHORTEST_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Why a tool that runs as a task has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// A request failed, or this client didn't answer what the task asked.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The task has failed, with what a call without a task would have been answered with.
    #[error("the task has failed with error {}: {}", .0.code, .0.message)]
    Failed(ErrorObject),
    /// The task was cancelled.
    #[error("the task was cancelled")]
    Cancelled,
}

/// Calls of tools that servers may answer by tasks.
///
/// The client has to declare the extension: [`Client::extension`](mcp_runtime_core::Client::extension) does, and over HTTP,
/// `HttpOptions::extension` adds its headers.
pub trait CallTasks {
    /// Calls a tool, and waits for the end of the task if the server begins one. What the task asks is answered by the handler of
    /// the client; a task that asks what it doesn't answer is cancelled.
    ///
    /// # Errors
    /// When there is no result: see [`TaskError`].
    fn call_tool_to_end(
        &self,
        params: hub::CallToolRequestParams,
    ) -> impl Future<Output = Result<hub::CallToolResult, TaskError>> + Send;

    /// Calls a tool, and gives the task if the server begins one.
    ///
    /// # Errors
    /// Those of the call.
    fn call_tool_as_task(
        &self,
        params: hub::CallToolRequestParams,
    ) -> impl Future<Output = Result<ToolAnswer, CallError>> + Send;
}

/// The answer to a call of a tool.
#[derive(Debug)]
pub enum ToolAnswer {
    /// The result.
    Result(hub::CallToolResult),
    /// A task that will have it.
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
            other => Err(CallError::InvalidResult(format!("a tool doesn't give {other:?}"))),
        }
    }
}

/// A task of a server. Dropping it leaves the task as it is.
#[derive(Debug, Clone)]
pub struct TaskHandle {
    peer: Peer<ClientSide>,
    id: String,
}

impl TaskHandle {
    /// The task with an id, which a client may have kept over its restart.
    #[must_use]
    pub fn new(peer: Peer<ClientSide>, id: impl Into<String>) -> Self {
        let id = id.into();
        Self { peer, id }
    }

    /// The id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The present state of the task.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn state(&self) -> Result<GetTaskResult, CallError> {
        let result = self
            .request::<GetTaskRequest>(&GetTaskRequestParams::new(&self.id))
            .await?;
        decoded(&result)
    }

    /// Answers questions of the task. Those that it doesn't ask are ignored.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn update(&self, answers: hub::InputResponses) -> Result<(), CallError> {
        let answers = to_extended(&EXTENSION, "InputResponses", &answers);
        let answers = answers.map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        let params = UpdateTaskRequestParams::new(&self.id, answers);
        self.request::<UpdateTaskRequest>(&params).await.map(drop)
    }

    /// Asks the server to stop the task, which may complete all the same.
    ///
    /// # Errors
    /// Those of the call.
    pub async fn cancel(&self) -> Result<(), CallError> {
        let params = CancelTaskRequestParams::new(&self.id);
        self.request::<CancelTaskRequest>(&params).await.map(drop)
    }

    /// Waits for the end of the task, and lets the handler of the client answer what it asks. A task that asks what the handler doesn't
    /// answer is cancelled. `observe` gets each state, such as to show the message in it.
    ///
    /// The server says how often it may be asked. There is no limit of time: put one around this, and [cancel](Self::cancel)
    /// the task then.
    ///
    /// # Errors
    /// When there is no result: see [`TaskError`].
    pub async fn wait(&self, mut observe: impl FnMut(&GetTaskResult) + Send) -> Result<hub::CallToolResult, TaskError> {
        // What was answered may still be asked for a while.
        let mut answered = BTreeSet::new();
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
                self.answer(new).await?;
            }
            sleep(interval).await;
        }
    }

    /// Lets the handler of the client answer.
    async fn answer(&self, asked: hub::InputRequests) -> Result<(), CallError> {
        match self.peer.answer(asked).await {
            Ok(answers) => self.update(answers).await,
            Err(error) => {
                if let Err(error) = self.cancel().await {
                    tracing::debug!(task = self.id, %error, "a task that asks too much can't be cancelled");
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

/// What the state of a task says, if the task hasn't failed.
pub enum Seen {
    /// The result of the call.
    Ended(Box<hub::CallToolResult>),
    /// It goes on.
    GoesOn(Ongoing),
}

/// What is known of a task that goes on.
pub struct Ongoing {
    /// What it is doing.
    pub message: Option<String>,
    /// What it asks.
    pub asked: hub::InputRequests,
    /// How long to wait until its state is asked for again.
    pub interval: Duration,
}

impl Seen {
    /// Reads a state.
    ///
    /// # Errors
    /// How the task has ended without a result.
    pub fn of(state: GetTaskResult) -> Result<Self, TaskError> {
        let (message, asked, interval) = match state {
            GetTaskResult::Completed(task) => {
                return Ok(Self::Ended(Box::new(in_hub("CallToolResult", &task.result)?)));
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

/// How long to wait between two requests for the state of a task, by what the server says.
pub fn poll_interval(millis: Option<i64>) -> Duration {
    let interval = millis.and_then(|millis| u64::try_from(millis).ok());
    let interval = interval.map_or(POLL_INTERVAL, Duration::from_millis);
    interval.max(SHORTEST_POLL_INTERVAL)
}

fn in_hub<T: Decode>(definition: &str, value: &impl Encode) -> Result<T, CallError> {
    to_hub(&EXTENSION, definition, value).map_err(|error| CallError::InvalidResult(error.to_string()))
}

fn decoded<T: Decode>(result: &RawJson) -> Result<T, CallError> {
    result
        .decode_as()
        .map_err(|error| CallError::InvalidResult(error.to_string()))
}
