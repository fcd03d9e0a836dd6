//! The tables of revisions, as programs load them.

use crate::adapt::Plan;
use crate::emit;
use crate::memo::{Memo, Same};
use crate::model::ModelledRevision;
use crate::protocol::Protocol;

/// A cache of tables, by their input: the revision, the conversions from and to the one before, and the address of the
/// specification.
pub(crate) type RevisionTables = Memo<(Same<ModelledRevision>, Option<Same<[Plan; 2]>>, String), RevisionTable>;

/// The arguments of `Revision::load` of `mcp-adapters` for a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionTable {
    /// The name of the revision.
    pub revision: String,
    /// The text of its table.
    pub table: String,
    /// The text of its schema.
    pub schema: String,
}

impl RevisionTable {
    /// The tables of all revisions.
    pub(crate) fn of(protocol: &Protocol, known: &RevisionTables) -> Vec<Self> {
        let revisions = protocol.revisions.iter().enumerate();
        let tables = revisions.map(|(position, revision)| {
            let before = position.checked_sub(1).and_then(|before| protocol.plans.get(before));
            let specification = protocol.manifest.specification(revision.entry());
            let input = (Same::of(revision), before.map(Same::of), specification);
            known.get(input, |_| Self {
                revision: revision.model.revision.clone(),
                table: emit::revision_table(protocol, position),
                schema: revision.schema.to_string(),
            })
        });
        tables.collect()
    }
}
