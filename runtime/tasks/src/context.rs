//! What a function knows of the task that it runs as.

use mcp_core::router::{Call, FromCall, ToolError};
use mcp_core::{CallClient, CallError, hub};

use crate::store::Tasks;

tokio::task_local! {
    /// The task that the function of a tool runs as.
    pub(crate) static RUNNING: Running;
}

/// A task, for the work that it does.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) tasks: Tasks,
    pub(crate) id: String,
}

/// The task that a function runs as: an extractor for functions of tools.
///
/// It reports what the task is doing, and asks the client: [`CallClient`] has a function for each question. A function that runs for
/// a client without tasks has it too: it reports nothing then, and asks as [`Call`] does.
#[derive(Debug, Clone)]
pub struct TaskContext {
    running: Option<Running>,
    call: Call,
    name: Option<String>,
}

impl TaskContext {
    pub(crate) fn of(running: Running, call: Call) -> Self {
        Self {
            running: Some(running),
            call,
            name: None,
        }
    }

    /// The id of the task; `None` if the client waits for the result.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.running.as_ref().map(|running| running.id.as_str())
    }

    /// Says what the task is doing, in words for people.
    pub fn status(&self, message: impl Into<String>) {
        if let Some(Running { tasks, id }) = &self.running {
            tasks.with(id, |task| task.set_message(message.into()));
        }
    }

    /// Asks under this name, which is a number otherwise. A later question of the same name takes the place of an earlier one, which
    /// isn't answered then.
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self.clone()
        }
    }
}

impl FromCall for TaskContext {
    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self {
            running: RUNNING.try_with(Running::clone).ok(),
            call: call.clone(),
            name: None,
        })
    }
}

impl CallClient for TaskContext {
    type Error = CallError;

    async fn request(&self, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
        let Some(Running { tasks, id }) = &self.running else {
            return match &self.name {
                Some(name) => self.call.peer().clone().named(name).request(request).await,
                None => self.call.peer().request(request).await,
            };
        };
        let asked = tasks.with(id, |task| task.ask(self.name.clone(), request)).flatten();
        let answer = match asked {
            Some(answer) => answer.await.ok(),
            None => None,
        };
        answer.ok_or(CallError::Closed)
    }

    /// Sends a notification to a client that waits for the result. A task has none to send it to.
    async fn notify(&self, notification: hub::ServerNotification) -> Result<(), CallError> {
        match self.running {
            None => self.call.peer().notify(notification).await,
            Some(_) => Ok(()),
        }
    }
}
