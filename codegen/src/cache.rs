//! A cache of the results of the stages: a directory is often read again with one file changed.

use crate::adapt::PlannedPairs;
use crate::emit::ChosenIdentifiers;
use crate::load::Files;
use crate::model::{BuiltExtensions, BuiltRevisions};
use crate::normalise::NormalisedSchemas;
use crate::revision_table::RevisionTables;

/// A cache of the results of the stages, by their input. A single run creates its own; runs over similar directories
/// are faster if they share one.
#[derive(Debug, Default)]
pub struct Cache {
    pub(crate) files: Files,
    pub(crate) schemas: NormalisedSchemas,
    pub(crate) revisions: BuiltRevisions,
    pub(crate) extensions: BuiltExtensions,
    pub(crate) plans: PlannedPairs,
    pub(crate) tables: RevisionTables,
    pub(crate) identifiers: ChosenIdentifiers,
}
