//! Which revision two peers speak.
//!
//! [Specification](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#version-negotiation)

use mcp_wire::serde_json::json;
use mcp_wire::{ErrorObject, error_code};

use crate::Revision;

/// What a server answers when a client asks for `requested`: that revision if it is supported, else the latest that is;
/// `None` if none is.
///
/// A name that isn't known, of a revision to come or of none, is answered in the same way: it is never read as a date.
#[must_use]
pub fn negotiate(requested: &str, supported: &[Revision]) -> Option<Revision> {
    let requested = requested.parse().ok().filter(|revision| supported.contains(revision));
    requested.or_else(|| supported.iter().max().copied())
}

/// The revision that a client speaks when a server has answered with `answered`.
///
/// # Errors
/// When the client doesn't support it; then it should end the session.
pub fn accept(answered: &str, supported: &[Revision]) -> Result<Revision, Mismatch> {
    let known = answered.parse().ok().filter(|revision| supported.contains(revision));
    known.ok_or_else(|| Mismatch {
        requested: answered.to_owned(),
        supported: supported.to_vec(),
    })
}

/// Two peers have no revision in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What the other peer named.
    pub requested: String,
    /// What this one supports.
    pub supported: Vec<Revision>,
}

impl Mismatch {
    /// The error that tells the other peer, as the specification has it.
    #[must_use]
    pub fn to_error(&self) -> ErrorObject {
        let mut error = ErrorObject::new(error_code::INVALID_PARAMS, "Unsupported protocol version");
        let supported: Vec<&str> = self.supported.iter().map(|revision| revision.as_str()).collect();
        error.data = Some(json!({"supported": supported, "requested": self.requested}).into());
        error
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let supported: Vec<&str> = self.supported.iter().map(|revision| revision.as_str()).collect();
        write!(f, "revision {:?} is not among {}", self.requested, supported.join(", "))
    }
}

impl std::error::Error for Mismatch {}
