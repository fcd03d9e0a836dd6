//! What the crate is emitted from.

use serde_json::Value;

use crate::adapt::Plan;
use crate::emit::items::Items;
use crate::load::Manifest;
use crate::model::Model;

/// What the crate is emitted from.
#[derive(Clone, Copy)]
pub(crate) struct AdaptersInput<'i> {
    /// The revisions in the protocol's order.
    pub(crate) revisions: &'i [RevisionInput<'i>],
    /// The plans between adjacent revisions: for each pair the way up, then the way down.
    pub(crate) plans: &'i [[Plan; 2]],
    /// The revision that handlers are written against.
    pub(crate) hub: &'i str,
    /// The directory of `mcp-wire` and `mcp-convert`, as the crate's manifest names it.
    pub(crate) crates: &'i str,
    /// The versions of the crates.
    pub(crate) manifest: &'i Manifest,
}

/// A revision that the crate knows.
pub(crate) struct RevisionInput<'i> {
    /// Its model.
    pub(crate) model: &'i Model,
    /// The Rust names of its members and values.
    pub(crate) items: &'i Items,
    /// Its schema, as the validator reads it.
    pub(crate) schema: &'i Value,
    /// Its table.
    pub(crate) table: &'i str,
    /// Whether it isn't released.
    pub(crate) is_draft: bool,
}

impl<'i> AdaptersInput<'i> {
    pub(super) fn revision(&self, name: &str) -> Option<&'i RevisionInput<'i>> {
        self.revisions.iter().find(|revision| revision.model.revision == name)
    }

    pub(super) fn position(&self, revision: &RevisionInput<'_>) -> Option<usize> {
        self.revisions
            .iter()
            .position(|other| other.model.revision == revision.model.revision)
    }
}
