//! The value that goes through the pipeline.

use serde_json::Value;

use crate::adapt::{Plan, Side};
use crate::error::GenerateError;
use crate::facts::Facts;
use crate::load::{Document, Entry, Manifest, SharedDocuments};
use crate::model::{Model, ModelledExtension};
use crate::problem::{Problem, Problems};

/// The protocol at a stage of the pipeline: an `R` for each revision, in the manifest's order.
#[derive(Debug)]
pub(crate) struct Protocol<R> {
    /// The manifest, `revisions.yaml`.
    pub(crate) manifest: Manifest,
    /// The documents about all revisions.
    pub(crate) shared: SharedDocuments,
    /// The revisions.
    pub(crate) revisions: Vec<R>,
    /// The extensions, once the revisions have models.
    pub(crate) extensions: Vec<ModelledExtension>,
    /// The problems of drafts that generating doesn't stop for: what they name is left out.
    pub(crate) warnings: Vec<Problem>,
}

/// A revision with its model.
#[derive(Debug)]
pub(crate) struct ModelledRevision {
    /// What the manifest says of the revision.
    pub(crate) entry: Entry,
    /// The model.
    pub(crate) model: Model,
    /// The schema that the validator keeps.
    pub(crate) schema: Value,
    /// What the schema can't say about the revision as a whole.
    pub(crate) facts: Facts,
    /// The rules between the revision and the one before it.
    pub(crate) rules: Document,
    /// Whether its names were published.
    pub(crate) is_locked: bool,
    /// Once they are planned, the conversions from the revision before, then those back to it; none for the first revision.
    pub(crate) plans: Vec<Plan>,
}

impl ModelledRevision {
    /// The revision as one side of a conversion.
    pub(crate) fn side(&self) -> Side<'_> {
        Side {
            model: &self.model,
            schema: &self.schema,
        }
    }
}

impl Protocol<ModelledRevision> {
    /// The position of a revision.
    ///
    /// # Errors
    /// There is none of this name.
    pub(crate) fn position(&self, revision: &str) -> Result<usize, GenerateError> {
        let known = self.revisions.iter().map(|known| &known.model.revision);
        let position = known.clone().position(|known| known == revision);
        position.ok_or_else(|| GenerateError::UnknownRevision {
            wanted: revision.to_owned(),
            known: known.cloned().collect(),
        })
    }
}

impl<R> Protocol<R> {
    /// Applies a stage to each revision.
    ///
    /// # Errors
    /// The problems that the stage finds in any of them.
    pub(crate) fn try_map<S>(self, stage: impl Fn(R) -> Result<S, Problems>) -> Result<Protocol<S>, Problems> {
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
