//! The response that is awaited.

use mcp_adapters::MirroredArguments;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::Mutex;

use super::tools::KnownTools;

/// The response that is awaited.
pub(super) struct Awaited<'a> {
    /// The id of the request.
    pub(super) id: &'a RequestId,
    /// Set for a list of what can be called with headers that repeat arguments.
    pub(super) lists: Option<MirroredArguments>,
    /// Whether its stream may be resumed.
    #[allow(dead_code, reason = "the client of stateless revisions alone resumes none")]
    pub(super) resumes: bool,
}

impl Awaited<'_> {
    /// The awaited response as it is delivered.
    pub(super) fn take(&self, tools: &Mutex<KnownTools>, json: Vec<u8>) -> Vec<u8> {
        match &self.lists {
            Some(rule) => tools.lock().take(rule, json),
            None => json,
        }
    }
}
