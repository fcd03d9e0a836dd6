//! The options of ingesting.

use std::path::PathBuf;

use crate::load::Revision;

/// The options of ingesting.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// The directory of the manifest and the schemas.
    pub schema: PathBuf,
    /// The revision of the schema.
    pub revision: Revision,
    /// The path or address of the official schema.
    pub from: String,
    /// The source to record instead of `from`.
    pub source: Option<String>,
    /// The commit of the source.
    pub commit: Option<String>,
    /// Accept a schema of a known revision whose hash isn't in the manifest.
    pub accept: bool,
    /// Keep descriptions and the other prose.
    pub keep_prose: bool,
    /// Whether the revision is still a draft. `None` leaves a known revision as it is.
    pub draft: Option<bool>,
    /// The position of the revision among the revisions.
    pub position: Position,
}

impl IngestOptions {
    /// Returns the options for a schema at a path or address, with defaults for the rest.
    #[must_use]
    pub fn new(schema: impl Into<PathBuf>, revision: Revision, from: impl Into<String>) -> Self {
        Self {
            schema: schema.into(),
            revision,
            from: from.into(),
            source: None,
            commit: None,
            accept: false,
            keep_prose: false,
            draft: None,
            position: Position::Keep,
        }
    }
}

/// A position in the manifest's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// The present position, or the end for a new revision.
    Keep,
    /// Right after another revision.
    After(Revision),
    /// Right before another revision.
    Before(Revision),
}
