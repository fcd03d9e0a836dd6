//! Parts of an intersection that the others imply.

use serde_json::{Map, Value};

use super::all_of::{Intersections, accepts_everything};
use super::references::resolve;

/// The maximum depth of nested schemas that are compared.
const DEEPEST: usize = 16;

/// The keywords whose meaning depends on others of the same schema.
const DEPENDENT: [&str; 5] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
];

impl Intersections<'_> {
    /// Returns the part of an intersection that implies all others, and its position.
    pub(super) fn narrowest<'p>(&self, parts: &'p [Value]) -> Option<(&'p Value, usize)> {
        let implies_all = |narrow: &Value| parts.iter().all(|wide| self.implies(narrow, wide, DEEPEST));
        let at = parts.iter().position(implies_all)?;
        Some((&parts[at], at))
    }

    /// Whether every value that `narrow` accepts is one that `wide` accepts. Some such schemas aren't recognised.
    fn implies(&self, narrow: &Value, wide: &Value, depth: usize) -> bool {
        let (true, Some(depth)) = (narrow != wide && !accepts_everything(wide), depth.checked_sub(1)) else {
            return narrow == wide || accepts_everything(wide);
        };
        let (Value::Object(own), Value::Object(asserted)) = (narrow, wide) else {
            return false;
        };
        let target = |schema: &Map<String, Value>| {
            schema
                .get("$ref")
                .and_then(|reference| resolve(self.root, reference.as_str()?))
        };
        let part_implies = |part: &Value| self.implies(part, wide, depth);
        let list = |keyword: &str| own.get(keyword).and_then(Value::as_array);
        if target(own).is_some_and(part_implies) || list("allOf").is_some_and(|parts| parts.iter().any(part_implies)) {
            return true;
        }
        if list("anyOf")
            .or_else(|| list("oneOf"))
            .is_some_and(|variants| variants.iter().all(part_implies))
        {
            return true;
        }
        let is_alone = own.contains_key("$ref") && !self.siblings_apply;
        let mut asserted_keywords = asserted.iter().filter(|(keyword, _)| !is_annotation(keyword));
        !is_alone
            && asserted_keywords.all(|(keyword, value)| match own.get(keyword) {
                _ if keyword == "$ref" => target(asserted).is_some_and(|target| self.implies(narrow, target, depth)),
                // These depend on the keywords next to them.
                _ if DEPENDENT.contains(&keyword.as_str()) => accepts_everything(value),
                None => false,
                Some(_) if keyword == "items" && own.contains_key("prefixItems") => false,
                Some(own) => self.keyword_implies(keyword, [own, value], depth),
            })
    }

    fn keyword_implies(&self, keyword: &str, [narrow, wide]: [&Value; 2], depth: usize) -> bool {
        let list = |value: &Value| match value {
            Value::Array(values) => values.clone(),
            single => vec![single.clone()],
        };
        match (keyword, narrow, wide) {
            ("properties", Value::Object(own), Value::Object(asserted)) => asserted
                .iter()
                .all(|(name, wide)| own.get(name).is_some_and(|narrow| self.implies(narrow, wide, depth))),
            ("items", ..) => self.implies(narrow, wide, depth),
            ("required", ..) => list(wide).iter().all(|name| list(narrow).contains(name)),
            ("type" | "enum", ..) => list(narrow).iter().all(|value| list(wide).contains(value)),
            _ => narrow == wide,
        }
    }
}

/// Whether a keyword refuses no value.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    #[rustfmt::skip]
    const ANNOTATIONS: [&str; 17] = [
        "$anchor", "$comment", "$defs", "$id", "$schema", "contentEncoding", "contentMediaType", "contentSchema",
        "default", "definitions", "deprecated", "description", "examples", "format", "readOnly", "title", "writeOnly",
    ];
    keyword.starts_with("x-") || ANNOTATIONS.contains(&keyword)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn implies(narrow: &Value, wide: &Value) -> bool {
        let root = json!({"$defs": {
            "Text": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            "Loop": {"allOf": [{"$ref": "#/$defs/Loop"}]},
        }});
        let intersections = Intersections {
            root: &root,
            siblings_apply: true,
        };
        intersections.implies(narrow, wide, DEEPEST)
    }

    #[test]
    fn a_narrower_schema_implies_a_wider_one() {
        let text = json!({"$ref": "#/$defs/Text"});
        let members = json!({"type": "object", "properties": {"text": {"type": ["string", "null"]}}});
        for (narrow, wide) in [
            (&text, &members),
            (
                &text,
                &json!({"$ref": "#/$defs/Text", "description": "…", "readOnly": true, "x-name": "A"}),
            ),
            (&json!({"allOf": [{"maxProperties": 1}, text]}), &members),
            (&json!({"anyOf": [text, text]}), &members),
            (
                &json!({"type": "array", "items": text, "maxItems": 2}),
                &json!({"type": "array", "items": members}),
            ),
            (&json!({"enum": ["a"]}), &json!({"enum": ["a", "b"]})),
            (&members, &json!(true)),
        ] {
            assert!(implies(narrow, wide), "{narrow} {wide}");
        }
    }

    #[test]
    fn other_schemas_imply_nothing() {
        let closed = |members: Value| json!({"type": "object", "properties": members, "additionalProperties": false});
        let (text, members) = (
            json!({"$ref": "#/$defs/Text"}),
            json!({"type": "object", "properties": {"a": {}}}),
        );
        for (narrow, wide) in [
            (&members, &text),
            (&text, &members),
            (&json!({"anyOf": [text, members]}), &text),
            (&closed(json!({"a": {}, "b": {}})), &closed(json!({"a": {}}))),
            (&json!({"prefixItems": [true], "items": text}), &json!({"items": text})),
            (&json!({"contains": text, "minContains": 0}), &json!({"contains": text})),
            (&json!({"$ref": "#/$defs/Loop"}), &text),
            (&json!(true), &members),
        ] {
            assert!(!implies(narrow, wide), "{narrow} {wide}");
        }
    }
}
