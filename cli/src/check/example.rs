//! Small instances of a schema, to call a tool with.

use serde_json::{Map, Value, json};

/// The maximum depth of nesting and references.
const DEPTH: usize = 16;
/// The maximum bytes of the values in an instance, as JSON. The number of values that nested references require can grow
/// exponentially with the depth.
const MAX_BYTES: usize = 64 * 1024;

/// A small instance of `schema`, which is part of `document`, with only the required members. It isn't always valid,
/// for example if there is a pattern.
pub fn example(document: &Value, schema: &Value) -> Value {
    let mut example = Example {
        document,
        left: MAX_BYTES,
    };
    example.instance(schema, DEPTH)
}

struct Example<'d> {
    document: &'d Value,
    /// The bytes that can still be added.
    left: usize,
}

impl Example<'_> {
    fn instance(&mut self, schema: &Value, depth: usize) -> Value {
        let (Some(depth), true) = (depth.checked_sub(1), self.left > 0) else {
            return Value::Null;
        };
        self.left -= 1;
        let given = [
            &schema["const"],
            &schema["default"],
            &schema["examples"][0],
            &schema["enum"][0],
        ];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return self.counted(given.clone());
        }
        if let Some(pointer) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            let target = self.document.pointer(pointer);
            return target.map_or(Value::Null, |schema| self.instance(schema, depth));
        }
        for alternatives in ["anyOf", "oneOf", "allOf"] {
            if let Some(first) = schema[alternatives].get(0) {
                return self.instance(first, depth);
            }
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
        match kind {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let count = schema["minItems"].as_u64().unwrap_or(0).min(16);
                (0..count).map(|_| self.instance(&schema["items"], depth)).collect()
            }
            Some("integer" | "number") => number(schema),
            Some("boolean") => json!(false),
            Some("null") => Value::Null,
            None if schema["properties"].is_object() => self.object(schema, depth),
            _ => self.counted(text(schema)),
        }
    }

    /// Counts the bytes of a value; `null` if they are too many.
    fn counted(&mut self, value: Value) -> Value {
        match self.left.checked_sub(value.to_string().len()) {
            Some(left) => {
                self.left = left;
                value
            }
            None => Value::Null,
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let members = required.map(|name| {
            let member = self.instance(&schema["properties"][name], depth);
            (name.to_owned(), member)
        });
        Value::Object(members.collect::<Map<_, _>>())
    }
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

    #[test]
    fn the_example_of_a_schema_with_many_references_to_itself_is_small() {
        let members: Vec<String> = ('a'..='z').map(String::from).collect();
        let properties: Map<_, _> = members
            .iter()
            .map(|name| (name.clone(), json!({"$ref": "#"})))
            .collect();
        let wide = json!({"type": "object", "properties": properties, "required": members});
        let long = json!({"type": "array", "items": {"$ref": "#"}, "minItems": 16});
        let item = json!({"default": "x".repeat(1000)});
        let large = json!({"type": "array", "items": {"type": "array", "items": item, "minItems": 16}, "minItems": 16});
        for schema in [wide, long, large] {
            let length = example(&schema, &schema).to_string().len();
            assert!(length < 20 * MAX_BYTES, "{length}");
        }
    }
}
