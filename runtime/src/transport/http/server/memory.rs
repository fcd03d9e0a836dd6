//! The memory budgets of a session and of the server.

use std::sync::Arc;

use crate::budget::{Budget, Charge};

/// The memory budgets of a session and of the server, both of which a message is charged to.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudgets {
    pub(crate) session: Arc<Budget>,
    pub(crate) server: Arc<Budget>,
}

/// Bytes that are charged until this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    _session: Charge,
    _server: Charge,
}

impl MemoryBudgets {
    /// Charges a message of the server, whether there is room for it or not. While there is none, requests are refused.
    pub(crate) fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge {
            _session: self.session.charge(bytes),
            _server: self.server.charge(bytes),
        }
    }
}
