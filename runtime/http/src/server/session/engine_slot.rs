//! The engine of a stateless request, as a future.

use std::sync::Arc;

use mcp_runtime_core::internal::{BoxFuture, Mutex};
use mcp_runtime_core::transport::Runner;

/// Where the transport of a stateless request leaves its engine, so that the task of the request can run it.
#[derive(Default, Clone)]
pub(crate) struct EngineSlot(Arc<Mutex<Slot>>);

#[derive(Default)]
enum Slot {
    /// The engine hasn't started.
    #[default]
    Empty,
    Started(BoxFuture<'static, ()>),
    /// The slot has been read: an engine that starts later needs a task.
    Taken,
}

impl EngineSlot {
    pub(crate) fn runner(&self) -> Runner {
        let slot = Arc::clone(&self.0);
        Box::new(move |work| {
            let mut slot = slot.lock();
            match *slot {
                Slot::Empty => *slot = Slot::Started(work),
                Slot::Started(_) | Slot::Taken => {
                    tokio::spawn(work);
                }
            }
        })
    }

    /// The engine, if it has started.
    pub(crate) fn take(&self) -> Option<BoxFuture<'static, ()>> {
        match std::mem::replace(&mut *self.0.lock(), Slot::Taken) {
            Slot::Started(work) => Some(work),
            Slot::Empty | Slot::Taken => None,
        }
    }
}
