//! What tests of sessions share.

use mcp_runtime::{Era, Options, Revision};

/// The revisions that a session can be in, drafts among them.
pub fn spoken() -> Vec<Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
        .collect()
}

/// The latest stateless revision.
pub fn stateless() -> Revision {
    let mut revisions = Revision::ALL.into_iter().rev();
    revisions
        .find(|revision| !revision.facts().initializes)
        .expect("there is one")
}

/// The latest revision with a handshake.
pub fn handshake() -> Revision {
    let mut revisions = Revision::ALL.into_iter().rev();
    revisions
        .find(|revision| revision.facts().initializes)
        .expect("there is one")
}

/// Options of a client that begins with a handshake at once.
pub fn with_handshake() -> Options {
    Options {
        era: Some(Era::Handshake),
        ..Options::default()
    }
}
