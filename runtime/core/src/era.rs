//! The two eras of the protocol.

use mcp_adapters::{PeerTypes, Revision};

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// A session begins with a handshake, which says what holds for it.
    Handshake,
    /// There is no handshake: each request says what else a handshake says.
    Stateless,
}

impl Era {
    /// The era of a revision.
    #[must_use]
    pub fn of(revision: Revision) -> Self {
        match revision.is_stateless() {
            true => Self::Stateless,
            false => Self::Handshake,
        }
    }
}

/// The revisions of an era.
pub fn with_era(revisions: &[Revision], era: Era) -> Vec<Revision> {
    let revisions = revisions.iter().copied();
    revisions.filter(|revision| Era::of(*revision) == era).collect()
}
