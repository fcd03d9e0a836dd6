//! The definitions of a document.

use serde_json::Value;

use super::pointer;

/// The keywords that contain definitions, draft-07's first. Documents mix them, so both are recognised in either
/// dialect.
pub const DEFINITIONS: [&str; 2] = ["definitions", "$defs"];

/// Returns the definitions directly in the schema at `pointer`: the pointer, name and schema of each.
pub fn definitions<'v>(schema: &'v Value, pointer: &str) -> impl Iterator<Item = (String, &'v str, &'v Value)> {
    DEFINITIONS.into_iter().flat_map(move |keyword| {
        let container = pointer::child(pointer, keyword);
        let members = schema.get(keyword).and_then(Value::as_object);
        let named = members.into_iter().flatten();
        named.map(move |(name, schema)| (pointer::child(&container, name), name.as_str(), schema))
    })
}

/// Returns all definitions of a document, each followed by the definitions that are nested in it.
#[must_use]
pub fn all_definitions(document: &Value) -> Vec<(String, &str, &Value)> {
    let mut found = Vec::new();
    let mut left: Vec<_> = definitions(document, "#").collect();
    left.reverse();
    while let Some(definition) = left.pop() {
        let nested = left.len();
        left.extend(definitions(definition.2, &definition.0));
        left[nested..].reverse();
        found.push(definition);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn definitions_of_both_keywords_are_found_at_any_depth() {
        let document = json!({
            "$defs": {"c": {"definitions": {"d/e": true}}, "f": {}},
            "definitions": {"a": {"$defs": {"b": {}}}},
            "properties": {"$defs": {"$defs": 1}},
        });
        let pointers: Vec<String> = all_definitions(&document).into_iter().map(|found| found.0).collect();
        assert_eq!(
            pointers,
            [
                "#/definitions/a",
                "#/definitions/a/$defs/b",
                "#/$defs/c",
                "#/$defs/c/definitions/d~1e",
                "#/$defs/f"
            ]
        );
    }
}
