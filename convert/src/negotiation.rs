//! Negotiation of the revision that two peers use.

use mcp_wire::serde_json::json;
use mcp_wire::{ErrorObject, error_code};

use crate::revision::ProtocolRevision;

/// Returns the revision that a server chooses for a client that requests `requested`: that revision if it is supported,
/// or else the latest supported one. `None` if no revision with a handshake is supported.
///
/// An unknown name is treated like an unsupported revision. Names aren't compared as dates.
#[must_use]
pub fn negotiate<R: ProtocolRevision>(requested: &str, supported: &[R]) -> Option<R> {
    let mut supported: Vec<R> = supported.to_vec();
    supported.retain(|revision| revision.known_facts().initializes);
    let requested = R::by_name(requested).filter(|revision| supported.contains(revision));
    requested.or_else(|| supported.into_iter().max())
}

/// Returns the revision that a client uses after a server has chosen `answered`.
///
/// # Errors
/// When the client doesn't support the revision. It should end the session then.
pub fn accept<R: ProtocolRevision>(answered: &str, supported: &[R]) -> Result<R, Mismatch<R>> {
    let known = R::by_name(answered).filter(|revision| supported.contains(revision));
    known.ok_or_else(|| Mismatch {
        requested: answered.to_owned(),
        supported: supported.to_vec(),
    })
}

/// The error of two peers that have no revision in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch<R> {
    /// The name of the revision that the other peer requires.
    pub requested: String,
    /// The revisions that this peer supports.
    pub supported: Vec<R>,
}

impl<R: ProtocolRevision> Mismatch<R> {
    /// Returns the names of the supported revisions.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.supported.iter().map(|revision| revision.name()).collect()
    }

    /// Returns the JSON-RPC error for the other peer.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        let mut error = ErrorObject::new(error_code::INVALID_PARAMS, "Unsupported protocol version");
        error.data = Some(json!({"supported": self.names(), "requested": self.requested}).into());
        error
    }
}

impl<R: ProtocolRevision> std::fmt::Display for Mismatch<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let supported = self.names().join(", ");
        write!(f, "revision {:?} is not among {supported}", self.requested)
    }
}

impl<R: ProtocolRevision> std::error::Error for Mismatch<R> {}
