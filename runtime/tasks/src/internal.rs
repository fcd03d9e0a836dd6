//! Items that the other crates of the runtime use. They change in any release: programs shouldn't use them.
//!
//! A bridge has its own tasks, each of which follows a task of a server.

use std::time::Duration;

use mcp_runtime_core::ErrorObject;
use mcp_runtime_core::hub::AnyCallToolResult;
use mcp_runtime_core::mcp_wire::RawJson;
use mcp_runtime_core::transport::Principal;
use mcp_runtime_router::ToolRun;
use serde_json::Value;

use crate::context::TaskContext;
use crate::record::State;
use crate::store::Tasks;

pub use crate::client::{Ongoing, Seen, poll_interval};
pub use crate::core::{CORE, Core, CoreClient};
pub use crate::run::{Wanted, may_declare};
pub use mcp_runtime_router::undeclared_extension;

/// Makes room for one more task of a client with this limit: if it is reached, the task that ended first is removed.
///
/// # Errors
/// When the limit is reached, and no task has ended.
pub fn make_room(tasks: &Tasks, owner: &Principal, limit: usize) -> Result<(), ErrorObject> {
    tasks.make_room(owner, limit)
}

/// Creates a task of a client that does the work, and returns the result of the call. The task is kept for `ttl`, or
/// for the default time.
///
/// # Errors
/// When the maximum number of tasks is reached.
pub async fn begin<F>(
    tasks: &Tasks,
    owner: &Principal,
    wanted: Wanted,
    (ttl, poll_interval): (Option<Duration>, Duration),
    work: impl FnOnce(TaskContext) -> F + Send,
) -> Result<RawJson, ErrorObject>
where
    F: Future<Output = Result<AnyCallToolResult, ErrorObject>> + Send + 'static,
{
    let ttl = wanted.ttl().or(ttl);
    let mut record = tasks.begin(Some(owner), false, ttl).await?;
    record.poll_interval = poll_interval;
    tasks.with(&record.id, |task| task.record.poll_interval = poll_interval);
    // The bridge checks the input requests of its servers.
    let running = tasks.running(&record.id, None);
    let work: ToolRun = Box::pin(work(TaskContext::of(running.clone())));
    let created = wanted.created(&record)?;
    tokio::spawn(running.supervise(work));
    Ok(created)
}

/// Ends a task as cancelled, though its client didn't cancel it.
pub fn cancelled(task: &TaskContext) {
    task.end(State::Cancelled);
}

/// Answers a request about tasks, of a client whose revision has tasks in its core.
///
/// # Errors
/// The error of the response.
pub async fn answer_core_method(
    tasks: &Tasks,
    method: &str,
    params: &Value,
    client: CoreClient<'_>,
) -> Result<RawJson, ErrorObject> {
    tasks.answer_of_core(method, params, client).await
}

/// Answers a request about tasks, of a client that has declared the extension.
///
/// # Errors
/// The error of the response.
pub async fn answer_extension(
    tasks: &Tasks,
    method: &str,
    params: &Value,
    owner: &Principal,
) -> Result<RawJson, ErrorObject> {
    tasks.answer_of_extension(method, params, Some(owner)).await
}
