//! The protocol: the models of its revisions, and the conversions between them.

use std::sync::Arc;

use crate::adapt::{Plan, Plans};
use crate::load::{Docs, Manifest};
use crate::model::ModelledRevision;
use crate::problem::Problem;

/// The models of the protocol's revisions and extensions, and after the stage `plan`, the conversions between them.
#[derive(Debug)]
pub(crate) struct Protocol {
    pub(crate) manifest: Manifest,
    /// The documentation of all revisions.
    pub(crate) docs: Docs,
    pub(crate) revisions: Vec<Arc<ModelledRevision>>,
    pub(crate) extensions: Vec<Arc<ModelledRevision>>,
    /// For each two adjacent revisions, the conversions to the later one, and those back.
    pub(crate) plans: Vec<Plans>,
    /// The problems of drafts that aren't errors: the facts and roles that they concern are left out.
    pub(crate) warnings: Vec<Problem>,
}

impl Protocol {
    /// Returns the revisions, followed by the extensions.
    pub(crate) fn all(&self) -> impl Iterator<Item = &ModelledRevision> {
        self.revisions.iter().chain(&self.extensions).map(Arc::as_ref)
    }

    /// Returns the revision before the one at this position, and the conversions from it to that one and back.
    pub(crate) fn before(&self, position: usize) -> Option<(&ModelledRevision, &[Plan; 2])> {
        let before = position.checked_sub(1)?;
        let (revision, plans) = (self.revisions.get(before)?, self.plans.get(before)?);
        Some((revision, plans))
    }
}
