//! The targets of references.

use std::collections::BTreeSet;

use mcp_json_schema::{definitions, pointer, walk};
use serde_json::Value;

/// Returns the target of a local reference.
///
/// References were checked when the schema was loaded, so that all references of the schema have a target.
pub(crate) fn resolve<'v>(schema: &'v Value, reference: &str) -> Option<&'v Value> {
    pointer::resolve(schema, &pointer::canonical(reference)?)
}

/// The maximum length of a chain of references.
const MAX_REFERENCES: usize = 16;

/// Returns the schema at the end of a chain of references, or the schema itself if it isn't a reference.
pub(crate) fn follow<'v>(root: &'v Value, mut schema: &'v Value) -> Option<&'v Value> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = resolve(root, reference)?;
    }
    None
}

/// Returns the pointer of the definition with a name.
pub(super) fn pointer_of(root: &Value, name: &str) -> Option<String> {
    let mut definitions = definitions(root, "#");
    definitions.find_map(|(at, known, _)| (known == name).then_some(at))
}

/// Returns the targets of all references in the schema.
pub(crate) fn targets(schema: &Value) -> BTreeSet<String> {
    let mut targets = BTreeSet::new();
    walk(schema, |_, schema| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        targets.extend(reference.and_then(pointer::canonical));
    });
    targets
}

/// Returns a name for a schema without one, made of the names in its pointer.
pub(crate) fn name_of(pointer: &str) -> String {
    const KEYWORDS: [&str; 6] = [
        "#",
        "definitions",
        "$defs",
        "properties",
        "items",
        "additionalProperties",
    ];
    let parts: Vec<&str> = pointer.split('/').filter(|part| !KEYWORDS.contains(part)).collect();
    if parts.is_empty() {
        "Root".to_owned()
    } else {
        parts.join("_")
    }
}
