//! Changes to the list of revisions: withdraws or renames one.

mod inherited;
mod mentions;
mod rename;
mod withdraw;

use std::path::PathBuf;

pub use rename::{Renamed, rename};
pub use withdraw::{Withdrawn, withdraw};

use crate::error::GenerateError;
use crate::files::FilesError;
use crate::load::Revision;
use crate::problem::Problems;

/// The error of changing the list of revisions. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum RevisionsError {
    /// Problems of the manifest, or of a file that names the revision.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// The manifest has no such revision, or can't be written.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The name is taken.
    #[error("there is a revision {0} already")]
    Known(Revision),
    /// A folder of the new name is in the way.
    #[error("{} exists already, and belongs to no revision; remove it or choose another name", .0.display())]
    Taken(PathBuf),
    /// Handlers are written against the revision.
    #[error("{0} is the hub; name another revision under `hub` in revisions.yaml first")]
    Hub(Revision),
    /// An extension extends the revision.
    #[error("the extension {0} extends {1}; remove it from revisions.yaml, or ingest it for another revision, first")]
    Extended(String, Revision),
    /// The files can't be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
}
