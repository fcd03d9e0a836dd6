//! Messages that are taken in the task that has them, without the task of their session.

use std::fmt;
use std::sync::{Arc, Weak};

use super::engine::Engine;
use crate::error::TransportError;
use crate::message::Incoming;
use crate::side::Side;

/// Takes messages for a session in the task that has them, as [`Receiver::begin`](crate::transport::Receiver::begin) says.
///
/// Handing a message to the task of the session and waking that costs more than most handlers take. Several tasks may take messages at
/// the same time, and each message is taken when [`Intake::take`] returns, so none is half taken if its task ends.
#[derive(Clone)]
pub struct Intake(Weak<dyn Take>);

impl Intake {
    pub(super) fn new<S: Side>(engine: &Arc<Engine<S>>) -> Self {
        let engine: Weak<Engine<S>> = Arc::downgrade(engine);
        Self(engine)
    }

    /// Takes what was received, and never waits: a handler that doesn't answer at once goes on in a task of its own, and its response
    /// comes through the [`Sender`](crate::transport::Sender).
    ///
    /// # Errors
    /// When the session has ended.
    pub fn take(&self, incoming: Incoming) -> Result<(), TransportError> {
        let engine = self.0.upgrade().ok_or(TransportError::Closed)?;
        engine.take(incoming);
        Ok(())
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intake").finish()
    }
}

/// An engine of either side.
trait Take: Send + Sync {
    fn take(self: Arc<Self>, incoming: Incoming);
}

impl<S: Side> Take for Engine<S> {
    fn take(self: Arc<Self>, incoming: Incoming) {
        self.take_alone(incoming);
    }
}
