//! Copies: schemas that are equivalent, even if they are written differently.

use mcp_json_schema::change_schemas;
use serde_json::{Value, json};

use crate::load::PROSE;

/// The largest integer that a double represents exactly. Generators of other languages write it as a bound.
const SAFE: i64 = 9_007_199_254_740_991;

/// Returns the schema in a form without the differences between generators: prose, annotations, bounds that the
/// integers of all peers are within, the order of required members, and enumerations as unions of constants.
pub(crate) fn canonical(schema: &Value) -> Value {
    let mut canonical = schema.clone();
    change_schemas(&mut canonical, &mut simplify);
    canonical
}

fn simplify(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else {
        return;
    };
    keywords.retain(|keyword, value| match keyword.as_str() {
        "minimum" => *value != json!(-SAFE),
        "maximum" => *value != json!(SAFE),
        "additionalProperties" => *value != json!({}) && *value != json!(true),
        "propertyNames" => *value != json!({"type": "string"}),
        "$schema" | "deprecated" => false,
        keyword => !PROSE.contains(&keyword) && !keyword.starts_with("x-"),
    });
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    let constant = |variant: &Value| variant.get("const").filter(|value| value.is_string()).cloned();
    let constants = keywords.get("anyOf").and_then(Value::as_array);
    let constants = constants.and_then(|variants| variants.iter().map(constant).collect::<Option<Vec<Value>>>());
    if let Some(values) = constants.filter(|_| keywords.len() == 1) {
        keywords.clear();
        keywords.insert("type".to_owned(), "string".into());
        keywords.insert("enum".to_owned(), Value::Array(values));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_that_generators_write_differently_are_equal() {
        let one = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "kind": {"anyOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
                "title": {"type": "integer", "minimum": -SAFE, "maximum": SAFE, "description": "…"},
            },
            "required": ["title", "kind"],
            "additionalProperties": {},
        });
        let other = json!({
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "title": {"type": "integer"}},
            "required": ["kind", "title"],
        });
        assert_eq!(canonical(&one), canonical(&other));
    }

    #[test]
    fn a_bound_that_refuses_something_is_kept() {
        let bounded = json!({"type": "integer", "minimum": 0});
        assert_eq!(canonical(&bounded), bounded);
    }
}
