//! Why a crate can't be emitted.

/// A built-in template that doesn't parse.
pub(crate) type TemplateError = Box<handlebars::TemplateError>;

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
