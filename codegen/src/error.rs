//! Why nothing was generated.

use crate::emit::EmitError;
use crate::files::FilesError;
use crate::problem::Problems;

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// Something is wrong with the schemas or what goes with them.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Files can't be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The generator met its own limits.
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
        /// Those that there are.
        known: Vec<String>,
    },
    /// The model can't be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml_serde::Error),
    /// The model can't be written at all.
    #[error(transparent)]
    Model(#[from] serde_json::Error),
}
