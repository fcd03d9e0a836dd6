//! Follows a task of a server until it ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub::{self, AnyCallToolResult};
use mcp_adapters::mcp_wire::{ErrorObject, Extra, RawJson, Request, UnknownMethod};
use mcp_ext_tasks::{GetTaskRequest, Task, TaskStatus};
use mcp_runtime_core::internal::{internal_error, tolerated};
use mcp_runtime_core::{CallError, ClientSide, Peer, ServerSide};
use mcp_runtime_tasks::internal::{CORE, Ongoing, Seen, cancelled, poll_interval};
use mcp_runtime_tasks::{TaskContext, TaskError, TaskHandle};
use serde_json::{Value, json};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use super::tasks::decode_result;
use super::upstream::{Lease, Upstream};

/// The number of consecutive failures to get a task's state, such as network errors, after which the task counts as
/// lost.
const FAILURES: usize = 5;

/// A followed task of a server. If this is dropped before the task ends, the task is cancelled.
pub struct Followed {
    server: Peer<ClientSide>,
    handle: TaskHandle,
    upstream: Arc<Upstream>,
    /// The session with the server, which must not end meanwhile.
    _lease: Option<Arc<Lease>>,
    has_ended: bool,
    failures: usize,
}

impl Followed {
    pub fn new(server: Peer<ClientSide>, id: &str, upstream: &Arc<Upstream>) -> Self {
        Self {
            handle: TaskHandle::new(server.clone(), id),
            server,
            upstream: Arc::clone(upstream),
            _lease: upstream.lease.upgrade(),
            has_ended: false,
            failures: 0,
        }
    }

    /// Counts a failure. Returns the error if it is final, or if there were too many failures in a row.
    fn failed(&mut self, error: CallError) -> Result<(), ErrorObject> {
        self.failures += 1;
        // The server no longer has the task, or the session has ended.
        let is_final =
            matches!(error, CallError::Peer(_) | CallError::Closed) || self.server.state().ended.is_cancelled();
        match is_final || self.failures >= FAILURES {
            true => Err(error.into()),
            false => Ok(()),
        }
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.upstream.links.tasks.remove(self.handle.id());
        if self.has_ended || self.server.state().ended.is_cancelled() {
            return;
        }
        let handle = self.handle.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                if let Err(error) = handle.cancel().await {
                    tracing::debug!(task = handle.id(), %error, "the task of a server wasn't cancelled");
                }
            });
        }
    }
}

/// Sends a request about a task, in the form of the core.
async fn ask(server: &Peer<ClientSide>, id: &str, method: &str) -> Result<RawJson, CallError> {
    let params = RawJson::from(json!({ &CORE.related.id: id }));
    server
        .call_unknown(UnknownMethod::new(method).with_params(params))
        .await
}

/// Passes a changed status message on to the client's task.
fn show(task: &TaskContext, message: Option<String>, shown: &mut Option<String>) {
    if message != *shown
        && let Some(message) = &message
    {
        task.status(message.clone());
    }
    *shown = message;
}

/// Follows a task of a server that has the extension. Its input requests become those of the client's task.
pub async fn follow_extension(mut followed: Followed, client: TaskContext) -> Result<AnyCallToolResult, ErrorObject> {
    let mut shown = None;
    // The input requests that are unanswered, or whose answer the server hasn't seen yet.
    let mut asked: BTreeMap<String, AbortHandle> = BTreeMap::new();
    let mut answers = JoinSet::new();
    // The answers that haven't reached the server.
    let mut unsent = hub::InputResponses::new();
    loop {
        let interval = match followed.handle.state().await.map(Seen::of) {
            Ok(Ok(Seen::Ended(result))) => {
                followed.has_ended = true;
                return Ok((*result).into());
            }
            Ok(Ok(Seen::GoesOn(Ongoing {
                message,
                asked: asks,
                interval,
            }))) => {
                if unsent.is_empty() {
                    followed.failures = 0;
                }
                show(&client, message, &mut shown);
                asked.retain(|name, asking| {
                    if !asks.contains_key(name) {
                        // The server may no longer wait for the answer.
                        asking.abort();
                    }
                    asks.contains_key(name)
                });
                unsent.retain(|name, _| asks.contains_key(name));
                for (name, request) in asks {
                    asked.entry(name).or_insert_with_key(|name| {
                        let (client, name) = (client.named(name), name.clone());
                        answers.spawn(async move { (name, client.request(request).await) })
                    });
                }
                interval
            }
            Ok(Err(TaskError::Failed(error))) => {
                followed.has_ended = true;
                return Err(error);
            }
            Ok(Err(TaskError::Cancelled)) => {
                followed.has_ended = true;
                cancelled(&client);
                return Err(internal_error("the task was cancelled"));
            }
            Ok(Err(error)) => return Err(internal_error(error)),
            Err(error) => {
                followed.failed(error)?;
                sleep(poll_interval(None)).await;
                continue;
            }
        };
        tokio::select! {
            () = sleep(interval) => {}
            Some(Ok((name, answer))) = answers.join_next() => match answer {
                Ok(answer) => {
                    unsent.insert(name, answer);
                }
                // The extension can't represent an error as an answer, and the server would wait for one. So its task
                // is cancelled.
                Err(CallError::Peer(error)) => return Err(error),
                // The client's task has ended.
                Err(error) => tracing::debug!(name, %error, "an input request of a task has no answer"),
            },
        }
        if !unsent.is_empty() {
            match followed.handle.update(unsent.clone()).await {
                Ok(()) => unsent = hub::InputResponses::default(),
                Err(error) => {
                    followed.failed(error)?;
                    sleep(interval).await;
                }
            }
        }
    }
}

/// Converts a task of a server whose core has tasks to the form of the extension.
pub fn core_task(task: &RawJson) -> Result<Task, CallError> {
    let invalid = |error: mcp_wire::DecodeError| CallError::InvalidResult(error.to_string());
    let members: Extra = task.decode_as().map_err(invalid)?;
    let task = RawJson::from_encode(&CORE.in_extension(members));
    let task = task.map_err(|error| CallError::InvalidResult(error.to_string()))?;
    task.decode_as().map_err(invalid)
}

/// Follows a task of a server whose core has tasks. Such a server sends its input requests, which name the task, while
/// a request for the task's result is in flight.
pub async fn follow_core(
    mut followed: Followed,
    task: TaskContext,
    client: Peer<ServerSide>,
) -> Result<AnyCallToolResult, ErrorObject> {
    let server = followed.server.clone();
    let id = followed.handle.id().to_owned();
    followed.upstream.links.tasks.insert(&id, task.clone(), client);
    let mut shown = None;
    let result = || ask(&server, &id, &CORE.methods.result);
    let mut waiting = std::pin::pin!(None);
    loop {
        let state = ask(&server, &id, GetTaskRequest::METHOD).await;
        let state = state.and_then(|task| core_task(&task));
        let interval = match state {
            Ok(state) => {
                followed.failures = 0;
                show(&task, state.status_message, &mut shown);
                match state.status {
                    TaskStatus::Cancelled => {
                        followed.has_ended = true;
                        cancelled(&task);
                        return Err(internal_error("the task was cancelled"));
                    }
                    TaskStatus::Completed | TaskStatus::Failed => {
                        followed.has_ended = true;
                        return read_result(&server, result().await?);
                    }
                    TaskStatus::InputRequired if waiting.is_none() => waiting.set(Some(result())),
                    _ => {}
                }
                poll_interval(state.poll_interval_ms)
            }
            Err(error) => {
                followed.failed(error)?;
                poll_interval(None)
            }
        };
        let ended = async {
            match waiting.as_mut().as_pin_mut() {
                Some(result) => result.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = sleep(interval) => {}
            result = ended => {
                followed.has_ended = true;
                return read_result(&server, result?);
            }
        }
    }
}

/// Decodes the result of a tool call in the hub's revision.
fn read_result(server: &Peer<ClientSide>, result: RawJson) -> Result<AnyCallToolResult, ErrorObject> {
    let negotiated = server.negotiated();
    let result: Value = result.parse().map_err(internal_error)?;
    let method = hub::CallToolRequest::METHOD;
    let result = RawJson::from(CORE.unrelated(result, ""));
    let result = tolerated(negotiated.revision, negotiated.method(method), result);
    match decode_result(server, method, &result).map_err(internal_error)? {
        Some(hub::ServerResult::CallTool(result)) => Ok(result.into()),
        Some(_) => Err(internal_error("the result of a task isn't that of a tool")),
        None => Err(internal_error("the server's revision has no tools")),
    }
}
