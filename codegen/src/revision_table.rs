//! The tables of revisions, as programs load them.

use crate::emit;
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

impl RevisionTable {
    /// The tables of all revisions.
    pub(crate) fn of(protocol: &Protocol) -> Vec<Self> {
        let revisions = protocol.revisions.iter().enumerate();
        let tables = revisions.map(|(position, revision)| Self {
            revision: revision.model.revision.clone(),
            table: emit::revision_table(protocol, position),
            schema: revision.schema.to_string(),
        });
        tables.collect()
    }
}
