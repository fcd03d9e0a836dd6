//! The memory budgets of a session and of the server.

use std::sync::Arc;

use bytes::Bytes;
use mcp_runtime_util::{Budget, Charge};

use super::settings::Settings;

/// How many times a call holds the bytes of its body at once: as they came, decoded, as the request that a handler gets, and as
/// its arguments. While the body comes, its buffer grows by doubling, which takes less.
const COPIES: usize = 4;

/// The bytes that a call with a body of this many bytes holds until it is answered.
pub(crate) fn held_by_call(body: usize) -> usize {
    body.saturating_mul(COPIES)
}

/// The number of bytes that a body may have: what no budget could hold isn't read.
pub(crate) fn largest_body(settings: &Settings) -> usize {
    settings.max_body.min(settings.max_bytes / COPIES)
}

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
    server: Charge,
}

impl MemoryBudgets {
    /// Charges a message of the server, whether there is room for it or not. While there is none, requests are refused.
    pub(crate) fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge {
            _session: self.session.charge(bytes),
            server: self.server.charge(bytes),
        }
    }
}

/// Bytes whose charge lasts as long as they are held.
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
    /// The bytes that are charged, for the connection that writes them. From here on the session doesn't hold them: its end
    /// wouldn't free them.
    pub(crate) fn holding(self, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
        holding(self.server, bytes)
    }
}

/// Bytes that are charged as long as they are held.
pub(crate) fn holding(charge: Charge, bytes: impl AsRef<[u8]> + Send + 'static) -> Bytes {
    Bytes::from_owner(Charged { bytes, _charge: charge })
}
