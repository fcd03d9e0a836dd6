//! The schema validator that checks every instance.

use jsonschema::{Registry, Validator};
use serde_json::json;

use crate::document::Document;
use crate::error::Error;

/// The URI of the document in the validator's registry.
const URI: &str = "json-schema:///document";

/// Creates a registry with the document, so that validators can refer to locations in it.
pub(crate) fn registry(document: &Document) -> Result<Registry<'_>, Error> {
    let refused = |error: jsonschema::ReferencingError| Error::Schema {
        pointer: "the document".to_owned(),
        reason: error.to_string(),
    };
    Registry::new()
        .draft(document.draft())
        .add(URI, document.root())
        .map_err(refused)?
        .prepare()
        .map_err(refused)
}

/// Compiles the schema at `pointer`.
pub(crate) fn validator(document: &Document, registry: &Registry<'_>, pointer: &str) -> Result<Validator, Error> {
    let fragment = pointer.replace('%', "%25").replace(' ', "%20");
    jsonschema::options()
        .with_draft(document.draft())
        .with_registry(registry)
        .should_validate_formats(false)
        .build(&json!({ "$ref": format!("{URI}#{fragment}") }))
        .map_err(|error| Error::Schema {
            pointer: pointer.to_owned(),
            reason: error.to_string(),
        })
}
