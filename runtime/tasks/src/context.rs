//! The context of a function that runs as a task.

use mcp_runtime_core::{CallClient, CallError, Peer, ServerSide, hub};
use mcp_runtime_router::{Call, FromCall, ToolError};
use tokio::sync::oneshot;

use crate::record::State;
use crate::store::Tasks;
use crate::task::{Answer, Task};

tokio::task_local! {
    /// The task that the function of a tool runs as.
    pub(crate) static RUNNING: Running;
}

/// A handle of a task for its work.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) tasks: Tasks,
    pub(crate) id: String,
    /// The client that called the tool, if the work was started by its call.
    pub(crate) client: Option<Peer<ServerSide>>,
}

/// The task that a function runs as: an extractor for functions of tools.
///
/// It reports the status of the task, and sends input requests to the client: [`CallClient`] has a function for each
/// kind. It also works for a client without tasks: then it reports the progress of the call, and requests input as
/// [`Call`] does.
#[derive(Debug, Clone)]
pub struct TaskContext {
    client: Client,
    name: Option<String>,
}

/// The way in which the client gets the result.
#[derive(Debug, Clone)]
enum Client {
    /// It polls the state of a task.
    HasTask(Running),
    /// It waits for the response to its call.
    Waits(Call),
}

impl TaskContext {
    pub(crate) fn of(running: Running) -> Self {
        Self {
            client: Client::HasTask(running),
            name: None,
        }
    }

    /// Returns the id of the task; `None` if the client waits for the result.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        match &self.client {
            Client::HasTask(running) => Some(&running.id),
            Client::Waits(_) => None,
        }
    }

    /// Sets the status message of the task, for people. It has no effect if the client waits for the result.
    pub fn status(&self, message: impl Into<String>) {
        if let Client::HasTask(Running { tasks, id, .. }) = &self.client {
            tasks.with(id, |task| task.set_message(message.into()));
        }
    }

    /// Reports progress: in the status message of the task or, if the client waits for the result and wants progress,
    /// in a progress notification.
    ///
    /// # Errors
    /// When the notification can't be sent.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) -> Result<(), CallError> {
        if let Client::Waits(call) = &self.client {
            return call.progress(progress, total, message).await;
        }
        let total = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let message = message.map(|message| format!(": {message}")).unwrap_or_default();
        self.status(format!("{progress}{total}{message}"));
        Ok(())
    }

    /// Ends the task, if there is one.
    pub(crate) fn end(&self, state: State) {
        if let Client::HasTask(Running { tasks, id, .. }) = &self.client {
            tasks.end(id, state);
        }
    }

    /// Sends input requests under this name, which is a number otherwise. Clients recognize an input request by its
    /// name, so a later input request of the task with the same name gets a number.
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
        let running = RUNNING.try_with(|running| Client::HasTask(running.clone()));
        Ok(Self {
            client: running.unwrap_or_else(|_| Client::Waits(call.clone())),
            name: None,
        })
    }
}

impl CallClient for TaskContext {
    type Error = CallError;

    async fn request(&self, request: hub::InputRequest) -> Result<hub::InputResponse, CallError> {
        let running = match (&self.client, &self.name) {
            (Client::HasTask(running), _) => running,
            (Client::Waits(call), Some(name)) => return call.peer().clone().named(name).request(request).await,
            (Client::Waits(call), None) => return call.peer().request(request).await,
        };
        let Running { tasks, id, client } = running;
        if let Some(client) = client {
            client.check_input_request(&request)?;
        }
        let asked = tasks.with(id, |task| task.ask(self.name.clone(), request)).flatten();
        let answer = asked.ok_or(CallError::Closed)?;
        let mut open = OpenInputRequest { running, answer };
        let answer = (&mut open.answer).await.map_err(|_| CallError::Closed)?;
        answer.map_err(CallError::Peer)
    }

    /// Sends a notification to a client that waits for the result. For a task, there is no client to send it to.
    async fn notify(&self, notification: hub::ServerNotification) -> Result<(), CallError> {
        match &self.client {
            Client::Waits(call) => call.peer().notify(notification).await,
            Client::HasTask(_) => Ok(()),
        }
    }
}

/// An input request of a task. It is withdrawn if this is dropped before the answer.
struct OpenInputRequest<'r> {
    running: &'r Running,
    answer: oneshot::Receiver<Answer>,
}

impl Drop for OpenInputRequest<'_> {
    fn drop(&mut self) {
        self.answer.close();
        self.running.tasks.with(&self.running.id, Task::withdraw);
    }
}
