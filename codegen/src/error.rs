//! The errors of generating.

use crate::emit::EmitError;
use crate::files::FilesError;
use crate::problem::Problems;

/// The error of generating. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// Problems of the schemas or of the files beside them.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Files can't be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The generator reached a limit of its own.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A built-in template doesn't parse.
    #[error(transparent)]
    Template(#[from] Box<handlebars::TemplateError>),
    /// The manifest has no such revision.
    #[error("revisions.yaml has no revision {wanted}; it has {}", known.join(", "))]
    UnknownRevision {
        /// The revision that was asked for.
        wanted: String,
        /// The known revisions.
        known: Vec<String>,
    },
    /// The model can't be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml_serde::Error),
    /// The model can't be written at all.
    #[error(transparent)]
    Model(#[from] serde_json::Error),
}
