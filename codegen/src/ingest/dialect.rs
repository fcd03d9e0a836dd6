//! A schema of draft-07 as the same schema of 2020-12.

use mcp_wire::json_schema::{Dialect, change_schemas};
use serde_json::{Map, Value};

const OLD: &str = "#/definitions/";
const NEW: &str = "#/$defs/";

/// Writes a schema of draft-07 as one of 2020-12 that accepts the same. Definitions go below `$defs`.
pub(super) fn modernise(root: &mut Value) {
    change_schemas(root, &mut |schema| {
        if let Some(keywords) = schema.as_object_mut() {
            change_keywords(keywords);
        }
    });
    if let Some(document) = root.as_object_mut() {
        document.insert("$schema".to_owned(), Dialect::Draft202012.uri().into());
        if let Some(Value::Object(definitions)) = document.remove("definitions") {
            let defined = document.entry("$defs").or_insert_with(|| Map::new().into());
            if let Some(defined) = defined.as_object_mut() {
                defined.extend(definitions);
            }
        }
    }
}

fn change_keywords(keywords: &mut Map<String, Value>) {
    if let Some(Value::String(reference)) = keywords.get_mut("$ref") {
        if let Some(name) = reference.strip_prefix(OLD) {
            *reference = format!("{NEW}{name}");
        }
        // In draft-07, what is beside a reference means nothing.
        keywords.retain(|keyword, _| keyword == "$ref" || keyword == "description" || keyword == "definitions");
    }
    if keywords.get("items").is_some_and(Value::is_array) {
        let elements = keywords.remove("items").unwrap_or_default();
        keywords.insert("prefixItems".to_owned(), elements);
        if let Some(others) = keywords.remove("additionalItems") {
            keywords.insert("items".to_owned(), others);
        }
    }
    keywords.remove("additionalItems");
    if let Some(Value::Object(dependencies)) = keywords.remove("dependencies") {
        let is_names = |(_, value): &(String, Value)| value.is_array();
        let (names, schemas): (Vec<_>, Vec<_>) = dependencies.into_iter().partition(is_names);
        for (keyword, entries) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !entries.is_empty() {
                keywords.insert(keyword.to_owned(), Value::Object(entries.into_iter().collect()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_draft_07_says_is_said_in_2020_12() {
        let mut schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "definitions": {
                "A": {"$ref": "#/definitions/B", "maxLength": 1, "description": "…"},
                "B": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
                "C": {"additionalItems": false, "items": {"$ref": "#/definitions/A"}},
                "D": {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
            },
        });
        modernise(&mut schema);
        let expected = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$defs": {
                "A": {"$ref": "#/$defs/B", "description": "…"},
                "B": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
                "C": {"items": {"$ref": "#/$defs/A"}},
                "D": {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
            },
        });
        assert_eq!(schema, expected);
    }
}
