//! Small instances of a schema, to call a tool with.

use serde_json::{Map, Value, json};

/// The maximum depth of nesting and references.
const DEPTH: usize = 16;

/// A small instance of `schema`, which is part of `document`, with only the required members. It isn't always valid,
/// for example if there is a pattern.
pub fn example(document: &Value, schema: &Value) -> Value {
    instance(document, schema, DEPTH)
}

fn instance(document: &Value, schema: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let given = [
        &schema["const"],
        &schema["default"],
        &schema["examples"][0],
        &schema["enum"][0],
    ];
    if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
        return given.clone();
    }
    if let Some(pointer) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
        return document
            .pointer(pointer)
            .map_or(Value::Null, |schema| instance(document, schema, depth));
    }
    for alternatives in ["anyOf", "oneOf", "allOf"] {
        if let Some(first) = schema[alternatives].get(0) {
            return instance(document, first, depth);
        }
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("object") => object(document, schema, depth),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0).min(16);
            (0..count)
                .map(|_| instance(document, &schema["items"], depth))
                .collect()
        }
        Some("integer" | "number") => number(schema),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        Some(_) => text(schema),
        None if schema["properties"].is_object() => object(document, schema, depth),
        None => text(schema),
    }
}

fn object(document: &Value, schema: &Value, depth: usize) -> Value {
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let members = required.map(|name| {
        let member = instance(document, &schema["properties"][name], depth);
        (name.to_owned(), member)
    });
    Value::Object(members.collect::<Map<_, _>>())
}

fn number(schema: &Value) -> Value {
    let above = schema["exclusiveMinimum"]
        .as_f64()
        .map(|bound| json!(bound.floor() as i64 + 1));
    let least = schema.get("minimum").cloned();
    let most = schema
        .get("maximum")
        .filter(|most| most.as_f64().is_some_and(|most| most < 1.0))
        .cloned();
    least.or(above).or(most).unwrap_or(json!(1))
}

fn text(schema: &Value) -> Value {
    let text = match schema["format"].as_str() {
        Some("date") => "2025-01-01",
        Some("date-time") => "2025-01-01T00:00:00Z",
        Some("time") => "00:00:00Z",
        Some("email") => "nobody@example.org",
        Some("uri" | "url") => "https://example.org/",
        _ => "example",
    };
    let longest = schema["maxLength"]
        .as_u64()
        .and_then(|it| usize::try_from(it).ok())
        .unwrap_or(usize::MAX);
    let shortest = schema["minLength"].as_u64().map_or(0, |it| it.min(4096) as usize);
    let padded = format!("{text:x<shortest$}");
    Value::from(padded.chars().take(longest).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_has_only_the_required_members() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/A"},
                "b": {"type": "array", "items": {"type": "integer", "minimum": 3}, "minItems": 2},
                "c": {"enum": ["x", "y"]},
                "d": {"anyOf": [{"type": "string", "minLength": 9, "maxLength": 9}, {"type": "null"}]},
                "e": {"type": "string", "format": "email"},
                "optional": {"type": "string"},
            },
            "required": ["a", "b", "c", "d", "e"],
            "$defs": {"A": {"type": ["object", "null"], "properties": {"n": {"exclusiveMinimum": 0, "type": "number"}}, "required": ["n"]}},
        });
        let expected = json!({"a": {"n": 1}, "b": [3, 3], "c": "x", "d": "examplexx", "e": "nobody@example.org"});
        assert_eq!(example(&schema, &schema), expected);
    }

    #[test]
    fn the_example_of_a_recursive_schema_is_finite() {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]});
        assert!(example(&schema, &schema).is_object());
    }
}
