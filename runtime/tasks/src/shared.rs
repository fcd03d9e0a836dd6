//! The tasks that the instances of a server share.

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use mcp_runtime_core::hub;
use serde::{Deserialize, Serialize};

use crate::record::TaskRecord;

/// The future that a store returns.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// A store of the tasks of all instances of a server, so that each instance answers requests about all tasks;
/// [`Tasks::with_store`](crate::Tasks::with_store) takes it.
///
/// The instance that runs a task writes it. The others read it, and send messages to the one that runs it. If that
/// instance is gone, the task is kept, and has failed.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// Returns the name of this instance, which no other instance has or had.
    fn instance(&self) -> &str;

    /// Whether an instance is alive.
    fn is_alive<'a>(&'a self, instance: &'a str) -> StoreFuture<'a, bool>;

    /// Keeps a task for the [remaining time](TaskRecord::remaining), in place of its earlier record. The first record
    /// [that has ended](TaskRecord::has_ended) stays, whatever is written later.
    fn write<'a>(&'a self, task: &'a TaskRecord) -> StoreFuture<'a, ()>;

    /// Returns the task with an id.
    fn read<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TaskRecord>>;

    /// Sends a message to an instance.
    fn send<'a>(&'a self, instance: &'a str, message: &'a TaskMessage) -> StoreFuture<'a, ()>;

    /// Waits for the next messages to this instance. After a while, it can return none.
    fn receive(&self) -> StoreFuture<'_, Vec<TaskMessage>>;
}

/// A message of an instance to the one that runs a task. Serde serializes it to JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskMessage {
    /// The id of the task.
    pub(crate) id: String,
    pub(crate) event: TaskEvent,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum TaskEvent {
    Cancelled,
    Answered(hub::InputResponses),
    /// The client has answered an input request with an error.
    Refused {
        name: String,
        error: hub::base::Error,
    },
}
