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
    let fragment = fragment(pointer);
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

/// Returns a JSON pointer as the fragment of a URI, in which the validator requires that other characters are encoded.
///
/// ```
/// assert_eq!(mcp_instances::fragment("/$defs/Page<Tool> 100%"), "/$defs/Page%3CTool%3E%20100%25");
/// ```
#[must_use]
pub fn fragment(pointer: &str) -> String {
    let mut encoded = String::new();
    for byte in pointer.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte);
        match is_plain {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
