//! Tools that run as tasks.

use mcp_adapters::{Policy, Revision, peers};
use mcp_core::hub::{self, AnyCallToolResult};
use mcp_core::mcp_wire::RawObject;
use mcp_core::router::{Call, IntoResult, State as Shared, ToolError, ToolRoute, ToolRun};
use mcp_core::{ErrorObject, error_code};
use mcp_ext_tasks::EXTENSION;

use crate::context::{RUNNING, Running, TaskContext};
use crate::store::{Tasks, encoded};
use crate::task::State;

/// Tools that run as tasks.
pub trait ToolTask: Sized {
    /// Runs the tool as a task for clients that declare the extension. Others wait for the result.
    ///
    /// The router needs [`Tasks`], by [`Router::extension`](mcp_core::Router::extension), before the tool is added.
    #[must_use]
    fn task(self) -> Self;

    /// Runs the tool as a task, and refuses calls of clients that don't declare the extension.
    #[must_use]
    fn only_as_task(self) -> Self;
}

impl ToolTask for ToolRoute {
    fn task(self) -> Self {
        self.needs::<Shared<Tasks>>().around(|call, run| {
            Box::pin(async move {
                match (call.state::<Tasks>(), has_tasks(&call)) {
                    (Some(tasks), true) => tasks.run(&call, |_| run),
                    _ => run.await,
                }
            })
        })
    }

    fn only_as_task(self) -> Self {
        self.needs::<Shared<Tasks>>().around(|call, run| {
            Box::pin(async move {
                call.require_extension(EXTENSION.id)?;
                match call.state::<Tasks>() {
                    Some(tasks) => tasks.run(&call, |_| run),
                    None => run.await,
                }
            })
        })
    }
}

impl Tasks {
    /// Answers a call of a tool by a task that does the rest, for a function that does something first, such as to ask the client.
    ///
    /// ```
    /// use mcp_runtime::router::{Call, State, ToolError};
    /// use mcp_runtime::tasks::Tasks;
    /// use mcp_runtime::{Router, hub};
    ///
    /// async fn publish(State(tasks): State<Tasks>, call: Call) -> Result<hub::AnyCallToolResult, ToolError> {
    ///     // What is asked here is asked before there is a task.
    ///     tasks.spawn(&call, |task| async move {
    ///         task.status("uploading");
    ///         "published"
    ///     })
    /// }
    ///
    /// let router = Router::new("site", "1.0").extension(Tasks::default()).tool("publish", "Publishes the site", publish);
    /// ```
    ///
    /// # Errors
    /// When the client hasn't declared the extension, or there are as many tasks as may be kept.
    pub fn spawn<F, R>(&self, call: &Call, work: impl FnOnce(TaskContext) -> F) -> Result<AnyCallToolResult, ToolError>
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoResult<AnyCallToolResult>,
    {
        call.require_extension(EXTENSION.id)?;
        let own = call.clone();
        Ok(self.run(call, |running| {
            let work = work(TaskContext::of(running, own.clone()));
            Box::pin(async move { work.await.into_result(&own).or_else(ToolError::into_result) })
        })?)
    }

    /// Begins a task for a call, and lets it do the work.
    fn run(&self, call: &Call, work: impl FnOnce(Running) -> ToolRun) -> Result<AnyCallToolResult, ErrorObject> {
        let (id, created) = self.begin(call.principal().cloned())?;
        let (tasks, revision) = (self.clone(), call.revision().unwrap_or(Revision::HUB));
        let running = Running {
            tasks: self.clone(),
            id: id.clone(),
        };
        let cancelled = tasks.with(&id, |task| task.cancelled.clone()).unwrap_or_default();
        let work = tokio::spawn(RUNNING.scope(running.clone(), work(running)));
        let stop = work.abort_handle();
        tokio::spawn(async move {
            tokio::select! {
                outcome = work => {
                    let outcome = outcome.map_err(|error| {
                        tracing::error!(task = id, %error, "the function of a task has panicked");
                        ErrorObject::new(error_code::INTERNAL_ERROR, "the task has ended without a result")
                    });
                    tasks.end(&id, state(outcome.and_then(|outcome| outcome), revision));
                }
                () = cancelled.cancelled() => stop.abort(),
                () = tokio::time::sleep(tasks.ttl()) => {
                    stop.abort();
                    tasks.end(&id, State::Cancelled);
                }
            }
        });
        encoded(&created).map(AnyCallToolResult::Unknown)
    }
}

/// Whether the client has declared the extension in a revision that has it.
fn has_tasks(call: &Call) -> bool {
    let mut with_tasks = Revision::all().skip_while(|revision| revision.as_str() != EXTENSION.extends);
    let is_late_enough = with_tasks.any(|revision| Some(revision) == call.revision());
    is_late_enough && call.has_extension(EXTENSION.id)
}

/// What became of the work, for a client of a revision.
fn state(outcome: Result<AnyCallToolResult, ErrorObject>, revision: Revision) -> State {
    let result = outcome.and_then(|result| {
        match result {
            AnyCallToolResult::CallTool(result) => {
                let result = hub::ServerResult::CallTool(result);
                let converted = peers::server_result_for(revision, &result, Policy::Conform.into());
                converted.map(|(json, _)| json).map_err(|error| error.to_string())
            }
            AnyCallToolResult::Unknown(json) => Ok(json),
            AnyCallToolResult::InputRequired(_) => Err("a task asks by TaskContext".to_owned()),
        }
        .and_then(|json| json.decode_as::<RawObject>().map_err(|error| error.to_string()))
        .map_err(|what| ErrorObject::new(error_code::INTERNAL_ERROR, what))
    });
    match result {
        Ok(result) => State::Completed(result),
        Err(error) => {
            let mut failed = hub::base::Error::new(error.code, error.message);
            failed.data = error.data;
            State::Failed(failed)
        }
    }
}
