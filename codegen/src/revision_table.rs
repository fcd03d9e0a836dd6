//! The tables of revisions, as programs load them.

use crate::adapt::Plan;
use crate::emit;
use crate::memo::{Memo, Same};
use crate::model::ModelledRevision;
use crate::protocol::Protocol;

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

/// A cache of tables, by their input.
pub(crate) type RevisionTables = Memo<TableInput, RevisionTable>;

/// The input of a table.
#[derive(Debug, PartialEq)]
pub(crate) struct TableInput {
    revision: Same<ModelledRevision>,
    /// The plans between it and the revision before. Each pair of revisions has its own, so they identify both.
    plans: Option<Same<[Plan; 2]>>,
    specification: String,
}

impl RevisionTable {
    /// The tables of all revisions.
    pub(crate) fn of(protocol: &Protocol, known: &RevisionTables) -> Vec<Self> {
        let revisions = protocol.revisions.iter().enumerate();
        let tables = revisions.map(|(position, revision)| {
            let input = TableInput {
                revision: Same::of(revision),
                plans: protocol.plans.get(position.wrapping_sub(1)).map(Same::of),
                specification: protocol.manifest.specification(revision.entry()),
            };
            known.get(input, |_| Self {
                revision: revision.model.revision.clone(),
                table: emit::revision_table(protocol, position),
                schema: revision.schema.to_string(),
            })
        });
        tables.collect()
    }
}
