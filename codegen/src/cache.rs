//! What the stages made of documents that they have seen: a directory is often read again with one file changed.

use crate::adapt::PlannedPairs;
use crate::load::Files;
use crate::model::{BuiltExtensions, BuiltRevisions};
use crate::normalise::NormalisedSchemas;

/// What the stages made of documents that they have seen. A user's run has one of its own; many runs over similar directories are faster
/// with one in common.
#[derive(Debug, Default)]
pub struct Cache {
    pub(crate) files: Files,
    pub(crate) schemas: NormalisedSchemas,
    pub(crate) revisions: BuiltRevisions,
    pub(crate) extensions: BuiltExtensions,
    pub(crate) plans: PlannedPairs,
}
