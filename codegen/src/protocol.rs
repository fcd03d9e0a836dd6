//! What the models of all revisions and extensions are kept in, once there are models.

use serde_json::Value;

use crate::adapt::{Plan, Side};
use crate::error::GenerateError;
use crate::facts::Facts;
use crate::load::{Document, Entry, Manifest, SharedDocuments};
use crate::model::{Model, ModelledExtension};
use crate::problem::Problem;

/// The models of the protocol's revisions and extensions.
#[derive(Debug)]
pub(crate) struct Protocol {
    /// The manifest, `revisions.yaml`.
    pub(crate) manifest: Manifest,
    /// The documents about all revisions.
    pub(crate) shared: SharedDocuments,
    /// The revisions, in the manifest's order.
    pub(crate) revisions: Vec<ModelledRevision>,
    /// The extensions.
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

impl Protocol {
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
