//! Small instances of a schema, to call a tool with.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The maximum depth of nesting and references.
const DEPTH: usize = 16;
/// The maximum bytes of the values in an instance, as JSON. The number of values that nested references require can grow
/// exponentially with the depth.
const MAX_BYTES: usize = 64 * 1024;

/// A small instance of `schema`, which is part of `document`, with only the required members. It isn't always valid,
/// for example if there is a pattern.
pub fn example<'d>(document: &'d Value, schema: &'d Value) -> Value {
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

impl<'d> Example<'d> {
    fn instance(&mut self, schema: &'d Value, depth: usize) -> Value {
        let Some(depth) = self.descend(depth) else {
            return Value::Null;
        };
        let given = [
            &schema["const"],
            &schema["default"],
            &schema["examples"][0],
            &schema["enum"][0],
        ];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return self.counted(given.clone());
        }
        if self.is_object(schema, depth) {
            return self.object(schema, depth);
        }
        if let Some(part) = self.parts(schema).next() {
            return self.instance(part, depth);
        }
        match kind(schema) {
            Some("array") => {
                let count = schema["minItems"].as_u64().unwrap_or(0).min(16);
                let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
                let elements = first.iter().chain(std::iter::repeat(&schema["items"]));
                (0..count)
                    .zip(elements)
                    .map(|(_, element)| self.instance(element, depth))
                    .collect()
            }
            Some("integer" | "number") => number(schema),
            Some("boolean") => json!(false),
            Some("null") => Value::Null,
            _ => self.counted(text(schema)),
        }
    }

    /// The depth of what a schema contains; `None` at a limit.
    fn descend(&mut self, depth: usize) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        depth.checked_sub(1)
    }

    /// Counts the bytes of a value; `null` if they are too many, and for the rest of the instance.
    fn counted(&mut self, value: Value) -> Value {
        let left = self.left.checked_sub(value.to_string().len());
        self.left = left.unwrap_or(0);
        left.map_or(Value::Null, |_| value)
    }

    /// The schemas that an instance of a schema also satisfies: the target of its reference, the first of its
    /// alternatives, and all of `allOf`.
    fn parts(&self, schema: &'d Value) -> impl Iterator<Item = &'d Value> + use<'d> {
        let pointer = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        let target = pointer.and_then(|pointer| self.document.pointer(pointer));
        let first = ["anyOf", "oneOf"].into_iter().filter_map(|of| schema[of].get(0));
        let all = schema["allOf"].as_array().into_iter().flatten();
        target.into_iter().chain(first).chain(all)
    }

    fn is_object(&self, schema: &'d Value, depth: usize) -> bool {
        let is_part = || {
            let part = self.parts(schema).next().filter(|_| depth > 0);
            part.is_some_and(|part| self.is_object(part, depth - 1))
        };
        match kind(schema) {
            Some(kind) => kind == "object",
            None => schema["properties"].is_object() || is_part(),
        }
    }

    fn object(&mut self, schema: &'d Value, depth: usize) -> Value {
        let (mut properties, mut required) = (BTreeMap::new(), BTreeSet::new());
        self.collect(schema, depth, &mut properties, &mut required);
        let members = required.into_iter().map(|name| {
            let schema = properties.get(name).copied().unwrap_or(&Value::Null);
            (name.to_owned(), self.instance(schema, depth))
        });
        Value::Object(members.collect())
    }

    /// Collects the properties and the names of the required members of a schema and its parts. A property of a part
    /// replaces that of the whole: it is the tag of an alternative, for example.
    fn collect(
        &mut self,
        schema: &'d Value,
        depth: usize,
        properties: &mut BTreeMap<&'d str, &'d Value>,
        required: &mut BTreeSet<&'d str>,
    ) {
        let Some(depth) = self.descend(depth) else { return };
        let (own, own_required) = (schema["properties"].as_object(), schema["required"].as_array());
        // Many parts can refer to the same properties.
        let count = own.map_or(0, Map::len) + own_required.map_or(0, Vec::len);
        self.left = self.left.saturating_sub(count);
        let own = own.into_iter().flatten();
        properties.extend(own.map(|(name, schema)| (name.as_str(), schema)));
        required.extend(own_required.into_iter().flatten().filter_map(Value::as_str));
        for part in self.parts(schema) {
            self.collect(part, depth, properties, required);
        }
    }
}

fn kind(schema: &Value) -> Option<&str> {
    schema["type"].as_str().or_else(|| schema["type"][0].as_str())
}

fn number(schema: &Value) -> Value {
    let above = schema["exclusiveMinimum"]
        .as_f64()
        .map(|bound| json!((bound.floor() as i64).saturating_add(1)));
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
    fn an_example_has_the_members_of_all_parts_of_its_schema() {
        let tagged = json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            ],
        });
        assert_eq!(example(&tagged, &tagged), json!({"id": 1, "kind": "a"}));
        let extended = json!({
            "allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": {"type": "boolean"}}, "required": ["b"]}],
            "$defs": {"Base": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}},
        });
        assert_eq!(example(&extended, &extended), json!({"a": 1, "b": false}));
        let either = json!({
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["b"]}, {"required": ["a"]}],
        });
        assert_eq!(example(&either, &either), json!({"b": 1}));
    }

    #[test]
    fn what_many_parts_of_a_schema_share_is_read_a_limited_number_of_times() {
        let references = vec![json!({"$ref": "#/$defs/A"}); 50_000];
        let shared = |schema: &Value| json!({"type": "object", "allOf": references, "$defs": {"A": schema}});
        let properties: Map<_, _> = (0..50_000).map(|name| (name.to_string(), json!(true))).collect();
        let wide = shared(&json!({ "properties": properties }));
        assert_eq!(example(&wide, &wide), json!({}));
        let members: Vec<String> = (0..50_000).map(|name| name.to_string()).collect();
        let same: Map<_, _> = members
            .iter()
            .map(|name| (name.clone(), json!({"$ref": "#/$defs/A"})))
            .collect();
        let long = json!({"default": "x".repeat(2 * MAX_BYTES)});
        let long = json!({"properties": same, "required": members, "$defs": {"A": long}});
        assert!(example(&long, &long)["0"].is_null());
    }

    #[test]
    fn the_example_of_a_number_above_all_integers_is_the_greatest() {
        let schema = json!({"type": "number", "exclusiveMinimum": 1e300});
        assert_eq!(example(&schema, &schema), json!(i64::MAX));
    }

    #[test]
    fn an_example_of_a_tuple_has_an_element_of_each_type() {
        let tuple = json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "boolean"}], "minItems": 3, "items": {"const": "x"}});
        assert_eq!(example(&tuple, &tuple), json!([1, false, "x"]));
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
        let parts: Vec<Value> = (0..16).map(|_| json!({"$ref": "#"})).collect();
        let parts = json!({"type": "object", "allOf": parts});
        for schema in [wide, long, large, parts] {
            let length = example(&schema, &schema).to_string().len();
            assert!(length < 20 * MAX_BYTES, "{length}");
        }
    }
}
