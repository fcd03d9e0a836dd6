//! Tools that run as tasks.

use std::pin::pin;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_ext_tasks::EXTENSION;
use mcp_runtime_core::hub::{self, AnyCallToolResult};
use mcp_runtime_core::internal::invalid_params;
use mcp_runtime_core::mcp_wire::RawJson;
use mcp_runtime_core::{Context, ErrorObject, Peer, ServerSide, error_code};
use mcp_runtime_router::{Call, IntoResult, State as Shared, ToolError, ToolRoute, ToolRun, to_extended};

use crate::context::{RUNNING, Running, TaskContext};
use crate::core::CORE;
use crate::error::encoded;
use crate::record::{State, TaskRecord};
use crate::store::Tasks;

/// Tools that run as tasks.
pub trait ToolTask: Sized {
    /// Runs the tool as a task for clients that declare the extension, and for clients that request a task in a
    /// revision whose core has tasks. Other clients wait for the result.
    ///
    /// The router needs [`Tasks`], added by [`Router::extension`](mcp_runtime_router::Router::extension), before the
    /// tool is added. The function requests input by a [`TaskContext`]: input requests of a [`Call`] fail in the task of
    /// a stateless client ([`CallError::InputRequired`](mcp_runtime_core::CallError::InputRequired)), because there is no
    /// result of a call that could contain them.
    #[must_use]
    fn task(self) -> Self;

    /// Runs the tool as a task, and refuses calls of clients that neither declare the extension nor request a task.
    #[must_use]
    fn only_as_task(self) -> Self;

    /// Declares that the function answers each call by a task itself, with [`Tasks::spawn`] or [`Tasks::enqueue`].
    /// Clients of revisions whose core has tasks can't call it without this declaration.
    #[must_use]
    fn spawns_task(self) -> Self;
}

impl ToolTask for ToolRoute {
    fn task(self) -> Self {
        let tool = self.member(&CORE.support.member, CORE.support.optional.clone());
        tool.needs::<Shared<Tasks>>().around(|call, run| {
            Box::pin(async move {
                match (call.state::<Tasks>(), Wanted::by(&call)?) {
                    (Some(tasks), Some(wanted)) => tasks.run(&call, wanted, |_| run).await,
                    _ => run.await,
                }
            })
        })
    }

    fn spawns_task(self) -> Self {
        self.member(&CORE.support.member, CORE.support.required.clone())
    }

    fn only_as_task(self) -> Self {
        self.spawns_task().needs::<Shared<Tasks>>().around(|call, run| {
            Box::pin(async move {
                let wanted = Wanted::required(&call)?;
                match call.state::<Tasks>() {
                    Some(tasks) => tasks.run(&call, wanted, |_| run).await,
                    None => run.await,
                }
            })
        })
    }
}

impl Tasks {
    /// Answers a tool call by a task that does the rest of the work, for a function that does something first, such as
    /// requesting input.
    ///
    /// ```
    /// use mcp_runtime::router::{Call, State, ToolError, tool};
    /// use mcp_runtime::tasks::{Tasks, ToolTask};
    /// use mcp_runtime::{Router, hub};
    ///
    /// async fn publish(State(tasks): State<Tasks>, call: Call) -> Result<hub::AnyCallToolResult, ToolError> {
    ///     // What is asked here is asked before there is a task.
    ///     tasks.spawn(&call, |task| async move {
    ///         task.status("uploading");
    ///         "published"
    ///     }).await
    /// }
    ///
    /// let publish = tool("publish", "Publishes the site", publish).spawns_task();
    /// let router = Router::new("site", "1.0").extension(Tasks::default()).with(publish);
    /// ```
    ///
    /// # Errors
    /// When the client hasn't declared the extension, the maximum number of tasks is reached, or their store doesn't
    /// respond.
    pub async fn spawn<F, R>(
        &self,
        call: &Call,
        work: impl FnOnce(TaskContext) -> F + Send,
    ) -> Result<AnyCallToolResult, ToolError>
    where
        F: Future<Output = R> + Send + 'static,
        R: IntoResult<AnyCallToolResult>,
    {
        let wanted = Wanted::required(call)?;
        let own = call.clone();
        let work = |running| -> ToolRun {
            let work = work(TaskContext::of(running));
            Box::pin(async move { work.await.into_result(&own).or_else(ToolError::into_result) })
        };
        Ok(self.run(call, wanted, work).await?)
    }

    /// Answers a tool call by a task whose work is in a queue of the program. Also returns the id of the task, with
    /// which the program runs it: see [`Self::resume`]. Until then the task waits, and it is kept if the program ends.
    ///
    /// # Errors
    /// Those of [`Self::spawn`].
    pub async fn enqueue(&self, call: &Call) -> Result<(AnyCallToolResult, String), ToolError> {
        let wanted = Wanted::required(call)?;
        let task = self.begin(call.principal(), true, wanted.ttl()).await?;
        let answer = AnyCallToolResult::Unknown(wanted.created(&task)?);
        Ok((answer, task.id))
    }

    /// Does the work of a task that was [put into a queue](Self::enqueue), by this instance or another with the same store, and
    /// waits for its end. When an instance ends before its task, the queue can give the task to another.
    ///
    /// # Errors
    /// When there is no such task in progress, because it was cancelled or has expired, or when the store doesn't
    /// respond.
    pub async fn resume<F>(&self, id: &str, work: impl FnOnce(TaskContext) -> F + Send) -> Result<(), ErrorObject>
    where
        F: Future<Output = Result<hub::CallToolResult, ToolError>> + Send + 'static,
    {
        self.take(id).await?;
        let running = self.running(id, None);
        let work = work(TaskContext::of(running.clone()));
        let work = async move { work.await.map(Into::into).or_else(ToolError::into_result) };
        // The work continues if this future is dropped.
        let _ = tokio::spawn(running.supervise(Box::pin(work))).await;
        Ok(())
    }

    /// Creates a task for a call, and starts its work.
    async fn run(
        &self,
        call: &Call,
        wanted: Wanted,
        work: impl FnOnce(Running) -> ToolRun + Send,
    ) -> Result<AnyCallToolResult, ErrorObject> {
        let task = self.begin(call.principal(), false, wanted.ttl()).await?;
        let running = self.running(&task.id, Some(call.peer().clone()));
        let work = work(running.clone());
        let created = wanted.created(&task)?;
        tokio::spawn(running.supervise(work));
        Ok(AnyCallToolResult::Unknown(created))
    }

    pub(crate) fn running(&self, id: &str, client: Option<Peer<ServerSide>>) -> Running {
        Running {
            tasks: self.clone(),
            id: id.to_owned(),
            client,
        }
    }
}

impl Running {
    /// Runs the work of a task of this instance until it ends, is cancelled or expires.
    pub(crate) async fn supervise(self, work: ToolRun) {
        let Self { tasks, id, .. } = &self;
        let of_task = tasks.with(id, |task| (task.cancelled.clone(), task.record.remaining()));
        let Some((cancelled, remaining)) = of_task else {
            return;
        };
        let mut watch = tasks.watch([&**id]);
        let mut work = tokio::spawn(RUNNING.scope(self.clone(), work));
        let mut expired = pin!(tokio::time::sleep(remaining));
        loop {
            tokio::select! {
                outcome = &mut work => {
                    let outcome = outcome.map_err(|error| {
                        tracing::error!(task = id, %error, "the function of a task has panicked");
                        ErrorObject::new(error_code::INTERNAL_ERROR, "the task has ended without a result")
                    });
                    tasks.end(id, state(outcome.and_then(|outcome| outcome)));
                    break;
                }
                () = cancelled.cancelled() => break,
                () = &mut expired => {
                    tasks.end(id, State::Cancelled);
                    break;
                }
                _ = watch.next() => tasks.publish(id).await,
            }
        }
        work.abort();
        tasks.publish(id).await;
    }
}

/// Whether clients of a revision can declare the extension.
pub fn may_declare(revision: Revision) -> bool {
    let mut with_tasks = Revision::all().skip_while(|revision| revision.as_str() != EXTENSION.extends);
    with_tasks.any(|known| known == revision)
}

/// The form in which a client wants a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It has declared the extension.
    Extension,
    /// It requests a task, in a revision whose core has tasks, with this lifetime.
    Core(Option<Duration>),
}

impl Wanted {
    /// Returns the form in which the client of a call wants a task, if it wants one.
    ///
    /// # Errors
    /// When the parameter that requests a task is invalid.
    pub fn by(call: &Context<ServerSide>) -> Result<Option<Self>, ErrorObject> {
        let Some(revision) = call.revision() else {
            return Ok(None);
        };
        if CORE.has_tasks(revision) {
            return Ok(CORE.asked(call)?.map(Self::Core));
        }
        let declared = call.peer_info().and_then(|peer| peer.client_capabilities().extensions);
        let is_declared = declared.is_some_and(|declared| declared.contains_key(EXTENSION.id));
        Ok((may_declare(revision) && is_declared).then_some(Self::Extension))
    }

    fn required(call: &Call) -> Result<Self, ErrorObject> {
        if let Some(wanted) = Self::by(call)? {
            return Ok(wanted);
        }
        if call.revision().is_some_and(|revision| CORE.has_tasks(revision)) {
            let what = format!("the tool only runs as a task: call it with `{}`", CORE.parameter);
            return Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, what));
        }
        call.require_extension(EXTENSION.id)?;
        Err(invalid_params("the client's revision has no tasks"))
    }

    /// Returns the lifetime that the client requests for the task.
    pub fn ttl(self) -> Option<Duration> {
        match self {
            Self::Extension => None,
            Self::Core(ttl) => ttl,
        }
    }

    /// Returns the result of the call.
    pub(crate) fn created(self, task: &TaskRecord) -> Result<RawJson, ErrorObject> {
        match self {
            Self::Extension => encoded(&task.created()),
            Self::Core(_) => CORE.created(task),
        }
    }
}

/// Returns the final state of a task.
fn state(outcome: Result<AnyCallToolResult, ErrorObject>) -> State {
    let result = outcome.and_then(|result| {
        let result = match result {
            AnyCallToolResult::CallTool(result) => {
                to_extended(&EXTENSION, "CallToolResult", &result).map_err(|error| error.to_string())
            }
            AnyCallToolResult::Unknown(json) => json.decode_as().map_err(|error| error.to_string()),
            AnyCallToolResult::InputRequired(_) => Err("a task must request input with TaskContext".to_owned()),
        };
        result.map_err(|what| ErrorObject::new(error_code::INTERNAL_ERROR, what))
    });
    match result {
        Ok(result) => State::Completed { result },
        Err(error) => State::failed(error),
    }
}
