//! Which revision two peers speak.

use mcp_wire::serde_json::json;
use mcp_wire::{ErrorObject, error_code};

use crate::revision::ProtocolRevision;

/// What a server answers when a client asks for `requested`: that revision if it is supported, else the latest that is;
/// `None` if none is. Revisions without a handshake are never the answer.
///
/// A name that isn't known, of a revision to come or of none, is answered in the same way: it is never read as a date.
#[must_use]
pub fn negotiate<R: ProtocolRevision>(requested: &str, supported: &[R]) -> Option<R> {
    let mut supported: Vec<R> = supported.to_vec();
    supported.retain(|revision| revision.known_facts().initializes);
    let requested = R::by_name(requested).filter(|revision| supported.contains(revision));
    requested.or_else(|| supported.into_iter().max())
}

/// The revision that a client speaks when a server has answered with `answered`.
///
/// # Errors
/// When the client doesn't support it; then it should end the session.
pub fn accept<R: ProtocolRevision>(answered: &str, supported: &[R]) -> Result<R, Mismatch<R>> {
    let known = R::by_name(answered).filter(|revision| supported.contains(revision));
    known.ok_or_else(|| Mismatch {
        requested: answered.to_owned(),
        supported: supported.to_vec(),
    })
}

/// Two peers have no revision in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch<R> {
    /// What the other peer named.
    pub requested: String,
    /// What this one supports.
    pub supported: Vec<R>,
}

impl<R: ProtocolRevision> Mismatch<R> {
    /// The error that tells the other peer, as the specification has it.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        let mut error = ErrorObject::new(error_code::INVALID_PARAMS, "Unsupported protocol version");
        let supported: Vec<&str> = self.supported.iter().map(|revision| revision.name()).collect();
        error.data = Some(json!({"supported": supported, "requested": self.requested}).into());
        error
    }
}

impl<R: ProtocolRevision> std::fmt::Display for Mismatch<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let supported: Vec<&str> = self.supported.iter().map(|revision| revision.name()).collect();
        write!(f, "revision {:?} is not among {}", self.requested, supported.join(", "))
    }
}

impl<R: ProtocolRevision> std::error::Error for Mismatch<R> {}
