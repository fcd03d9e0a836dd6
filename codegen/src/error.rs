//! Errors of the generator.

use crate::files::FilesError;
use crate::problem::Problems;

/// An error of the generator. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// Problems of the schemas or of the files next to them.
    #[error(transparent)]
    Problems(#[from] Problems),
    /// Files can't be read or written.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A crate can't be emitted.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The manifest has no such revision.
    #[error("revisions.yaml has no revision {wanted}; it has {}", known.join(", "))]
    UnknownRevision {
        /// The requested revision.
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

/// The error of a crate that can't be emitted.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// typify can't convert a type to Rust.
    #[error("typify refused a type: {0}")]
    Typify(String),
    /// The emitted Rust does not parse; a bug of the generator.
    #[error("{file} does not parse as Rust: {error}")]
    Unparsable {
        /// The file.
        file: String,
        /// The error of syn.
        error: syn::Error,
    },
    /// A template can't be rendered with its values.
    #[error("template {template}: {error}")]
    Template {
        /// The template's name.
        template: &'static str,
        /// The error of handlebars.
        error: Box<handlebars::RenderError>,
    },
}
