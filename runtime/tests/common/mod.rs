//! What tests of sessions share.

use mcp_runtime::Revision;

/// The revisions that a session can be in, drafts among them.
pub fn spoken() -> Vec<Revision> {
    Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
        .collect()
}
