//! What instances of a server share of their tasks.

use std::error::Error;
use std::fmt;
use std::pin::Pin;

use mcp_runtime_core::hub;
use serde::{Deserialize, Serialize};

use crate::record::TaskRecord;

/// What a store gives.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Box<dyn Error + Send + Sync>>> + Send + 'a>>;

/// Where the instances of a server keep their tasks, so that each answers for all; [`Tasks::in_store`](crate::Tasks::in_store) takes it.
///
/// The instance that runs a task writes it. The others read it, and send messages to the one that runs it. A task stays when its
/// instance is gone, and has failed then.
pub trait TaskStore: fmt::Debug + Send + Sync + 'static {
    /// The name of this instance, which no other has or had.
    fn instance(&self) -> &str;

    /// Whether an instance is there.
    fn is_alive<'a>(&'a self, instance: &'a str) -> StoreFuture<'a, bool>;

    /// Keeps a task, in the place of the same one, as long as [it is to be kept](TaskRecord::remaining). The first record
    /// [that has ended](TaskRecord::has_ended) stays, whatever is written later.
    fn write<'a>(&'a self, task: &'a TaskRecord) -> StoreFuture<'a, ()>;

    /// The task with an id.
    fn read<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TaskRecord>>;

    /// Sends a message to an instance.
    fn send<'a>(&'a self, instance: &'a str, message: &'a TaskMessage) -> StoreFuture<'a, ()>;

    /// The next messages to this instance. It may give none after a while.
    fn receive(&self) -> StoreFuture<'_, Vec<TaskMessage>>;
}

/// What an instance says to the one that runs a task. serde makes JSON of it.
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
    /// The client has answered a question with an error.
    Refused {
        name: String,
        error: hub::base::Error,
    },
}
