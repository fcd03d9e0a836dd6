//! The schema validator that checks every instance.

use jsonschema::{Registry, Validator};
use serde_json::{Map, Value, json};

use crate::document::Document;
use crate::error::Error;

/// The URI of the document in the validator's registry.
const URI: &str = "json-schema:///document";

/// Compiles the schemas at these pointers into one validator of objects, which have an instance of each schema as a member
/// with the schema's name. A validator for each schema would also contain what the schema refers to.
pub(crate) fn validator<'p>(
    document: &Document,
    pointers: impl Iterator<Item = (&'p str, &'p str)> + Clone,
) -> Result<Validator, Error> {
    let registry = registry(document)?;
    let schemas: Map<String, Value> = pointers
        .clone()
        .map(|(name, pointer)| (name.to_owned(), reference(pointer)))
        .collect();
    build(document, &registry, &json!({ "properties": schemas })).map_err(|reason| {
        let mut refused = pointers.filter_map(|(_, pointer)| {
            let reason = build(document, &registry, &reference(pointer)).err()?;
            Some((pointer, reason))
        });
        let (pointer, reason) = refused.next().unwrap_or(("the document", reason));
        Error::Schema {
            pointer: pointer.to_owned(),
            reason,
        }
    })
}

/// Creates a registry with the document, so that the validator can refer to locations in it.
fn registry(document: &Document) -> Result<Registry<'static>, Error> {
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

fn reference(pointer: &str) -> Value {
    json!({ "$ref": format!("{URI}#{}", fragment(pointer)) })
}

fn build(document: &Document, registry: &Registry<'_>, schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(document.draft())
        .with_registry(registry)
        .should_validate_formats(false)
        // In draft-07 it would be asserted, which is optional, and we treat it as an annotation, as in later drafts.
        .without_content_encoding_support("base64")
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
