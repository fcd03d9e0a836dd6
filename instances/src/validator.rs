//! The schema validator that checks every instance.

use jsonschema::{Registry, Validator};
use serde_json::{Value, json};

use crate::document::Document;
use crate::error::Error;

/// The URI of the document in the validator's registry.
const URI: &str = "json-schema:///document";

/// Creates a registry with the document, so that validators can refer to locations in it.
pub(crate) fn registry(document: &Document) -> Result<Registry<'static>, Error> {
    let refused = |error: jsonschema::ReferencingError| Error::Schema {
        pointer: "the document".to_owned(),
        reason: error.to_string(),
    };
    Registry::new()
        .draft(document.draft())
        .add(URI, document.root().clone())
        .map_err(refused)?
        .prepare()
        .map_err(refused)
}

/// Compiles the schema at `pointer`.
pub(crate) fn validator(document: &Document, registry: &Registry<'_>, pointer: &str) -> Result<Validator, Error> {
    build(document, registry, &reference(pointer)).map_err(|reason| Error::Schema {
        pointer: pointer.to_owned(),
        reason,
    })
}

/// Whether all these schemas compile. They are compiled once, as parts of one schema: each one's own validator would
/// also contain what it refers to.
pub(crate) fn compile_all<'p>(
    document: &Document,
    registry: &Registry<'_>,
    pointers: impl Iterator<Item = &'p str>,
) -> bool {
    let all: Vec<Value> = pointers.map(reference).collect();
    build(document, registry, &json!({ "anyOf": all })).is_ok()
}

fn reference(pointer: &str) -> Value {
    json!({ "$ref": format!("{URI}#{}", fragment(pointer)) })
}

fn build(document: &Document, registry: &Registry<'_>, schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(document.draft())
        .with_registry(registry)
        .should_validate_formats(false)
        .build(schema)
        .map_err(|error| error.to_string())
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
