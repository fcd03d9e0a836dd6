//! The errors of generating.

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
    /// The manifest has no such revision.
    #[error("revisions.yaml has no revision {wanted}; it has {}", known.join(", "))]
    UnknownRevision {
        /// The revision that was asked for.
        wanted: String,
        /// The known revisions.
        known: Vec<String>,
    },
    /// The model or the manifest can't be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml_serde::Error),
    /// The model or a schema can't be written as JSON.
    #[error(transparent)]
    Model(#[from] serde_json::Error),
}

/// Why a crate can't be emitted.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The types that typify was given could not be turned into Rust.
    #[error("typify refused a type: {0}")]
    Typify(String),
    /// The emitted Rust does not parse; a bug of the generator.
    #[error("{file} does not parse as Rust: {error}")]
    Unparsable {
        /// The file.
        file: String,
        /// What syn says.
        error: syn::Error,
    },
    /// A template is at odds with the values it is given.
    #[error("template {template}: {error}")]
    Template {
        /// The template's name.
        template: &'static str,
        /// What handlebars says.
        error: Box<handlebars::RenderError>,
    },
    /// A schema that came from JSON can't be written as JSON.
    #[error("the schema can't be written: {0}")]
    Schema(#[from] serde_json::Error),
}
