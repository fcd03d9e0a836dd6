//! The response that a client waits for.

use mcp_adapters::MirroredArguments;
use mcp_adapters::mcp_wire::RequestId;
use mcp_runtime_util::Mutex;

use super::tools::KnownTools;

/// The response that a client waits for.
pub(super) struct PendingResponse<'a> {
    /// The id of the request.
    pub(super) id: &'a RequestId,
    /// Set for a list of tools, in revisions whose headers repeat the arguments of tools.
    pub(super) lists: Option<MirroredArguments>,
    /// Whether its stream can be resumed.
    #[allow(dead_code, reason = "the client of only stateless revisions resumes no streams")]
    pub(super) resumes: bool,
}

impl PendingResponse<'_> {
    /// Returns the response as it is delivered: a list of tools without invalid ones.
    pub(super) fn take(&self, tools: &Mutex<KnownTools>, json: Vec<u8>) -> Vec<u8> {
        match &self.lists {
            Some(rule) => tools.lock().take(rule, json),
            None => json,
        }
    }
}
