//! What tests of sessions share.

use mcp_runtime::{Era, Options, Revision};

/// The revisions that a session can be in, drafts among them.
pub fn spoken() -> Vec<Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
        .collect()
}

/// Options of a client that begins with a handshake at once.
#[allow(dead_code, reason = "not every test needs it")]
pub fn with_handshake() -> Options {
    Options {
        era: Some(Era::Handshake),
        ..Options::default()
    }
}
