//! The memory budgets of a session and of the server.

use std::sync::Arc;

use bytes::Bytes;
use mcp_runtime_util::{Budget, Charge};

use super::settings::Settings;

/// The number of copies of its body that a call holds at once: the received bytes, the decoded message, the request
/// that a handler gets, and its arguments. While the body is received, its buffer grows by doubling, which needs less.
const COPIES: usize = 4;

/// The bytes that a call with a body of this many bytes holds until it is answered.
pub(crate) fn held_by_call(body: usize) -> usize {
    body.saturating_mul(COPIES)
}

/// The maximum bytes of a body: a body that could never be within the budget isn't read.
pub(crate) fn largest_body(settings: &Settings) -> usize {
    settings.max_body.min(settings.max_bytes / COPIES)
}

/// The memory budgets of a session and of the server. Messages are charged to both.
#[derive(Debug, Clone)]
pub(crate) struct MemoryBudgets {
    pub(crate) session: Arc<Budget>,
    pub(crate) server: Arc<Budget>,
}

/// Bytes that are charged until this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    _session: Charge,
    server: Charge,
}

impl MemoryBudgets {
    /// Charges a message of the server, even beyond the limits. While a limit is exceeded, requests are refused.
    pub(crate) fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge {
            _session: self.session.charge(bytes),
            server: self.server.charge(bytes),
        }
    }
}

/// Bytes with a charge that is released when they are dropped.
struct Charged<B> {
    bytes: B,
    _charge: Charge,
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Charged<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl MemoryCharge {
    /// Attaches the charge to the bytes that a connection writes. From then on they only count toward the server's
    /// budget and not the session's, whose end wouldn't free them.
    pub(crate) fn holding(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        holding(self.server, bytes)
    }
}

/// Attaches a charge to bytes, until they are dropped.
pub(crate) fn holding(charge: Charge, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
    Bytes::from_owner(Charged { bytes, _charge: charge })
}
