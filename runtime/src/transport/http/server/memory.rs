//! How many bytes sessions and the server hold for their clients.

use std::sync::Arc;

use crate::budget::{Budget, Charge};

/// What a session may hold, as a part of what the server may.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) session: Arc<Budget>,
    pub(super) server: Arc<Budget>,
}

/// Bytes that are held until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    _session: Charge,
    _server: Charge,
}

impl Memory {
    /// Holds what the server has to say, whether there is room for it or not: as long as there is none, no request is
    /// taken.
    pub(super) fn hold(&self, bytes: usize) -> Held {
        Held {
            _session: self.session.charge(bytes),
            _server: self.server.charge(bytes),
        }
    }
}
