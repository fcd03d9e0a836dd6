//! The value that goes through the pipeline.

use crate::load::{Manifest, SharedDocuments};
use crate::model::ModelledExtension;
use crate::problem::{Problem, Problems};

/// The protocol at a stage of the pipeline: an `R` for each revision, in the manifest's order.
#[derive(Debug)]
pub struct Protocol<R> {
    /// The manifest, `revisions.yaml`.
    pub manifest: Manifest,
    /// The documents about all revisions.
    pub shared: SharedDocuments,
    /// The revisions.
    pub revisions: Vec<R>,
    /// The extensions, once the revisions have models.
    pub extensions: Vec<ModelledExtension>,
    /// The problems of drafts that generating doesn't stop for: what they name is left out.
    pub warnings: Vec<Problem>,
}

impl<R> Protocol<R> {
    /// Applies a stage to each revision.
    ///
    /// # Errors
    /// The problems that the stage finds in any of them.
    pub fn try_map<S>(self, stage: impl Fn(R) -> Result<S, Problems>) -> Result<Protocol<S>, Problems> {
        let (mut revisions, mut problems) = (Vec::new(), Vec::new());
        for revision in self.revisions {
            match stage(revision) {
                Ok(revision) => revisions.push(revision),
                Err(found) => problems.extend(found),
            }
        }
        Problems::check(problems)?;
        Ok(Protocol {
            manifest: self.manifest,
            shared: self.shared,
            revisions,
            extensions: self.extensions,
            warnings: self.warnings,
        })
    }
}
