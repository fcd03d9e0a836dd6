//! The two eras of the protocol.

use mcp_adapters::{PeerTypes, Revision};

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// A session starts with a handshake, which negotiates its revision and capabilities.
    Handshake,
    /// There is no handshake: each request carries what a handshake would negotiate.
    Stateless,
}

impl Era {
    /// Returns the era of a revision.
    #[must_use]
    pub fn of(revision: Revision) -> Self {
        match revision.is_stateless() {
            true => Self::Stateless,
            false => Self::Handshake,
        }
    }
}

/// Returns the revisions of an era.
pub fn with_era(revisions: &[Revision], era: Era) -> Vec<Revision> {
    let revisions = revisions.iter().copied();
    revisions.filter(|revision| Era::of(*revision) == era).collect()
}
