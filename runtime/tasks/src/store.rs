//! The tasks of a server, and its answers to requests about them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_core::mcp_wire::{Decode, Encode, Extension, RawJson, Request, from_str};
use mcp_core::router::{Call, ServerExtension};
use mcp_core::transport::Principal;
use mcp_core::{ErrorObject, error_code, hub};
use mcp_ext_tasks::{
    CancelTaskRequest, CancelTaskRequestParams, CancelTaskResult, CreateTaskResult, EXTENSION, GetTaskRequest,
    GetTaskRequestParams, UpdateTaskRequest, UpdateTaskResult,
};
use serde_json::Value;

use crate::task::{State, Task};

/// What tasks may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// How long a task is kept after its creation: one that hasn't ended by then is stopped. The default is an hour.
    pub ttl: Duration,
    /// How long clients are asked to wait between two requests for the state of a task. The default is a second.
    pub poll_interval: Duration,
    /// The number of tasks that are kept at a time. The default is 10,000.
    pub tasks: usize,
    /// The bytes that the results of tasks may take together. The default is 64 MiB.
    pub bytes: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            poll_interval: Duration::from_secs(1),
            tasks: 10_000,
            bytes: 64 << 20,
        }
    }
}

/// The tasks of a server, in its memory. Clones are the same tasks.
///
/// [`Router::extension`](mcp_core::Router::extension) takes it: the server then declares the extension, and answers `tasks/get`,
/// `tasks/update` and `tasks/cancel`. A task is that of the principal whose call it came from, and isn't there for any other.
#[derive(Clone, Default)]
pub struct Tasks {
    limits: TaskLimits,
    kept: Arc<Mutex<Kept>>,
}

/// The tasks by their ids, until they expire.
#[derive(Default)]
struct Kept {
    tasks: BTreeMap<String, Task>,
    /// The ids in the order of creation, which is that of expiry.
    order: VecDeque<String>,
    /// The bytes of all results.
    bytes: usize,
}

impl Kept {
    /// Forgets what has expired.
    fn purge(&mut self) {
        while let Some(id) = self.order.front() {
            if self.tasks.get(id).is_some_and(|task| !task.has_expired()) {
                return;
            }
            let expired = self.order.pop_front().and_then(|id| self.tasks.remove(&id));
            self.bytes -= expired.map_or(0, |task| task.bytes());
        }
    }
}

impl Tasks {
    /// No tasks yet, with these limits.
    #[must_use]
    pub fn new(limits: TaskLimits) -> Self {
        Self {
            limits,
            kept: Arc::default(),
        }
    }

    /// What hasn't expired.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.purge();
        kept
    }

    /// How long tasks are kept.
    pub(crate) fn ttl(&self) -> Duration {
        self.limits.ttl
    }

    /// Begins a task, and returns its id.
    ///
    /// # Errors
    /// When there are as many as may be kept.
    pub(crate) fn begin(&self, owner: Option<Principal>) -> Result<(String, CreateTaskResult), ErrorObject> {
        let internal = |what: &str| ErrorObject::new(error_code::INTERNAL_ERROR, what);
        let mut number = [0; 16];
        getrandom::fill(&mut number).map_err(|_| internal("the system has no random numbers"))?;
        let id = number.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut kept = self.kept();
        if kept.tasks.len() >= self.limits.tasks {
            return Err(internal("the server has as many tasks as it keeps"));
        }
        let task = Task::new(id.clone(), owner, self.limits.ttl, self.limits.poll_interval);
        let created = task.created();
        kept.tasks.insert(id.clone(), task);
        kept.order.push_back(id.clone());
        Ok((id, created))
    }

    /// Reads or changes a task; `None` if there is none with this id any more.
    pub(crate) fn with<T>(&self, id: &str, change: impl FnOnce(&mut Task) -> T) -> Option<T> {
        self.kept().tasks.get_mut(id).map(change)
    }

    /// Ends a task. A result that is too large makes it fail.
    pub(crate) fn end(&self, id: &str, state: State) {
        let mut kept = self.kept();
        let Kept { tasks, bytes, .. } = &mut *kept;
        let state = match state {
            State::Completed(result) if *bytes + result.text().len() > self.limits.bytes => {
                let what = "the server can't keep the result, because it has too many";
                State::Failed(hub::base::Error::new(error_code::INTERNAL_ERROR, what))
            }
            state => state,
        };
        if let Some(task) = tasks.get_mut(id) {
            let before = task.bytes();
            task.end(state);
            *bytes += task.bytes() - before;
        }
    }

    /// Reads or changes a task of a client.
    ///
    /// # Errors
    /// When the client has none with this id.
    fn of_client<T>(&self, id: &str, call: &Call, change: impl FnOnce(&mut Task) -> T) -> Result<T, ErrorObject> {
        let mut kept = self.kept();
        let task = kept.tasks.get_mut(id).filter(|task| task.is_of(call.principal()));
        task.map(change).ok_or_else(|| invalid_params("there is no such task"))
    }
}

impl ServerExtension for Tasks {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    async fn answer(&self, method: &'static str, params: Value, call: Call) -> Result<RawJson, ErrorObject> {
        match method {
            GetTaskRequest::METHOD => {
                let params: GetTaskRequestParams = decoded(&params)?;
                encoded(&self.of_client(&params.task_id, &call, |task| task.state())?)
            }
            UpdateTaskRequest::METHOD => {
                // What is answered under a name that isn't asked may be anything, so the answers are decoded one by one.
                let id: GetTaskRequestParams = decoded(&params)?;
                let answers = params["inputResponses"].as_object();
                let answers = answers.ok_or_else(|| invalid_params("`inputResponses`: expected an object"))?;
                self.of_client(&id.task_id, &call, |task| {
                    let asked = answers.iter().filter(|(name, _)| task.asks(name));
                    let answers = asked.map(|(name, answer)| Ok((name.clone(), decoded(answer)?)));
                    task.answer(answers.collect::<Result<_, ErrorObject>>()?);
                    Ok::<(), ErrorObject>(())
                })??;
                encoded(&UpdateTaskResult::default())
            }
            CancelTaskRequest::METHOD => {
                let params: CancelTaskRequestParams = decoded(&params)?;
                self.of_client(&params.task_id, &call, |task| {
                    task.end(State::Cancelled);
                    task.cancelled.cancel();
                })?;
                encoded(&CancelTaskResult::default())
            }
            other => Err(ErrorObject::new(
                error_code::METHOD_NOT_FOUND,
                format!("Unknown method: {other}"),
            )),
        }
    }
}

fn decoded<T: Decode>(params: &Value) -> Result<T, ErrorObject> {
    from_str(&params.to_string()).map_err(invalid_params)
}

fn invalid_params(what: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(error_code::INVALID_PARAMS, what.to_string())
}

pub(crate) fn encoded(result: &impl Encode) -> Result<RawJson, ErrorObject> {
    RawJson::from_encode(result).map_err(|error| ErrorObject::new(error_code::INTERNAL_ERROR, error.to_string()))
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks")
            .field("limits", &self.limits)
            .field("tasks", &self.kept().tasks.len())
            .finish()
    }
}
