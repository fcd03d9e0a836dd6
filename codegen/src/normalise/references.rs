//! What references point at.

use std::collections::BTreeSet;

use mcp_wire::json_schema::{definitions, pointer, walk};
use serde_json::Value;

/// What a local reference points at.
///
/// References were checked when the schema was loaded, so `None` only means that the caller made one up.
pub(crate) fn resolve<'v>(schema: &'v Value, reference: &str) -> Option<&'v Value> {
    pointer::resolve(schema, &pointer::canonical(reference)?)
}

/// How many references are followed to a schema.
const MAX_REFERENCES: usize = 16;

/// The schema that a schema refers to in the end, or itself.
pub(crate) fn follow<'v>(root: &'v Value, mut schema: &'v Value) -> Option<&'v Value> {
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = resolve(root, reference)?;
    }
    None
}

/// The pointer of the definition that has a name.
pub(super) fn pointer_of(root: &Value, name: &str) -> Option<String> {
    let mut definitions = definitions(root, "#");
    definitions.find_map(|(at, known, _)| (known == name).then_some(at))
}

/// Every pointer that some reference in the schema points at.
pub(crate) fn targets(schema: &Value) -> BTreeSet<String> {
    let mut targets = BTreeSet::new();
    walk(schema, |_, schema| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        targets.extend(reference.and_then(pointer::canonical));
    });
    targets
}

/// A name for something that has none, from the names on the way to it.
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
