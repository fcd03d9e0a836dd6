//! The errors of ingesting.

use super::fetch::FetchError;
use crate::error::GenerateError;
use crate::files::FilesError;
use crate::load::Revision;
use crate::problem::Problems;

/// The error of ingesting. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Problems of the official schema or of the manifest.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Problems of generating from the schema, or from the other revisions with it.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The schema couldn't be read.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The manifest doesn't accept the hash of the schema.
    #[error(
        "{from} is not the schema of {revision} that the manifest knows\n  its sha256 is    {found}\n  {manifest} accepts {known}\n  \
         published schemas do change; when you have seen what changed and want it, run the same command with --accept"
    )]
    Mismatch {
        /// The address or path of the schema.
        from: String,
        /// The revision.
        revision: Revision,
        /// The hash of what was read.
        found: String,
        /// The manifest's path.
        manifest: String,
        /// The hashes in the manifest, the current one first.
        known: String,
    },
    /// The manifest doesn't have the revision to place this one next to.
    #[error("the manifest has no revision {wanted} to put this one beside; it has {known}")]
    NoNeighbour {
        /// The revision that was named.
        wanted: Revision,
        /// The known revisions.
        known: String,
    },
    /// Another extension has the name.
    #[error("`{name}` is the name of {id}; give this extension another one by --name")]
    NameTaken {
        /// The name.
        name: String,
        /// The extension that has it.
        id: String,
    },
    /// The files could not be written.
    #[error(transparent)]
    Files(#[from] FilesError),
}
