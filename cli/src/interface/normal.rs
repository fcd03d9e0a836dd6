//! Normalisation of schemas that mean the same.

use serde_json::{Map, Value, json};

use super::keyword::{is_of_types, kind_of};

/// The keywords that exclude values, apart from those that contain schemas. All others are annotations, as JSON Schema
/// specifies for unknown keywords.
const ASSERTIONS: [&str; 24] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "type",
    "enum",
    "const",
    "multipleOf",
    "maximum",
    "exclusiveMaximum",
    "minimum",
    "exclusiveMinimum",
    "maxLength",
    "minLength",
    "pattern",
    "maxItems",
    "minItems",
    "uniqueItems",
    "maxContains",
    "minContains",
    "maxProperties",
    "minProperties",
    "required",
    "dependentRequired",
    "dependencies",
];
/// The keywords whose value is a schema.
const SCHEMA: [&str; 11] = [
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
/// The keywords whose value is a list of schemas. Before 2020-12, the value of `items` could be a list.
const LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
/// The keywords whose value is an object of schemas.
const OBJECTS: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "$defs",
    "definitions",
];
/// The maximum depth of schemas that are normalised.
const DEPTH: usize = 100;

/// The kind of value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beneath {
    Schema,
    List,
    Object,
    /// A value without schemas.
    Value,
}

pub fn beneath(keyword: &str, value: &Value) -> Beneath {
    match value {
        Value::Array(_) if LISTS.contains(&keyword) => Beneath::List,
        Value::Object(_) if OBJECTS.contains(&keyword) => Beneath::Object,
        Value::Object(_) | Value::Bool(_) if SCHEMA.contains(&keyword) => Beneath::Schema,
        _ => Beneath::Value,
    }
}

/// Whether a keyword is only for people and models, and doesn't exclude values.
pub fn is_annotation(keyword: &str) -> bool {
    ![&ASSERTIONS[..], &SCHEMA, &LISTS, &OBJECTS]
        .iter()
        .any(|known| known.contains(&keyword))
}

/// A schema that allows the same values, without keywords that exclude nothing, and with one of several equivalent
/// spellings.
pub fn normalised(schema: &Value) -> Value {
    within(schema, DEPTH)
}

fn within(schema: &Value, depth: usize) -> Value {
    let members = match schema {
        Value::Object(members) if depth > 0 => members,
        Value::Bool(true) => return json!({}),
        _ => return schema.clone(),
    };
    let inner = |schema: &Value| within(schema, depth - 1);
    let members = members.iter().map(|(keyword, value)| {
        let value = match (beneath(keyword, value), value) {
            (Beneath::Schema, schema) => inner(schema),
            (Beneath::List, Value::Array(schemas)) => schemas.iter().map(inner).collect(),
            (Beneath::Object, Value::Object(schemas)) => {
                let schemas = schemas.iter().map(|(name, schema)| (name.clone(), inner(schema)));
                Value::Object(schemas.collect())
            }
            _ => value.clone(),
        };
        (keyword.clone(), value)
    });
    let mut members: Map<String, Value> = members.filter(|(keyword, value)| !allows_any(keyword, value)).collect();
    for keyword in ["allOf", "anyOf", "oneOf"] {
        merge_only(&mut members, keyword);
    }
    types_as_list(&mut members);
    if !members.contains_key("enum")
        && let Some(value) = members.remove("const")
    {
        members.insert("enum".to_owned(), json!([value]));
    }
    values_of_types(&mut members);
    Value::Object(members)
}

/// Removes the values of an enumeration that `type` doesn't allow.
fn values_of_types(members: &mut Map<String, Value>) {
    let (Some(kinds), Some(Value::Array(values))) = (members.get("type"), members.get("enum")) else {
        return;
    };
    let values = values.iter().filter(|value| is_of_types(kinds, value)).cloned();
    let values: Vec<Value> = values.collect();
    if !values.is_empty() {
        members.insert("enum".to_owned(), Value::Array(values));
    }
}

/// Whether a schema enumerates values that all have an allowed type, so that `type` has no effect.
pub fn lists_values(schema: &Map<String, Value>) -> bool {
    let values = schema.get("enum").and_then(Value::as_array);
    let is_allowed = |value| schema.get("type").is_none_or(|kinds| is_of_types(kinds, value));
    values.is_some_and(|values| values.iter().all(is_allowed))
}

/// The types in `type`, or else those of the enumerated values.
pub fn kinds(schema: &Map<String, Value>) -> Option<Value> {
    let named = schema.get("type").cloned();
    named.or_else(|| Some(schema.get("enum")?.as_array()?.iter().map(kind_of).collect()))
}

/// Whether a keyword with this value excludes nothing.
fn allows_any(keyword: &str, value: &Value) -> bool {
    match keyword {
        "minLength" | "minItems" | "minProperties" => value.as_f64() == Some(0.0),
        "uniqueItems" => *value == false,
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames" => *value == json!({}),
        _ => false,
    }
}

/// Replaces a combination of a single schema by that schema, unless both have the same keyword. Outer annotations take
/// precedence.
fn merge_only(members: &mut Map<String, Value>, keyword: &str) {
    let Some(Value::Array(schemas)) = members.get(keyword) else {
        return;
    };
    let [Value::Object(only)] = schemas.as_slice() else {
        return;
    };
    let is_there = |inner: &String| inner != keyword && !is_annotation(inner) && members.contains_key(inner);
    if only.keys().any(is_there) || (looks_beside(only) && looks_beside(members)) {
        return;
    }
    let only = only.clone();
    members.remove(keyword);
    for (inner, value) in only {
        members.entry(inner).or_insert(value);
    }
}

/// Whether a schema has keywords whose effect depends on other keywords next to them, or on which others depend.
fn looks_beside(schema: &Map<String, Value>) -> bool {
    const KEYWORDS: [&str; 14] = [
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "prefixItems",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "minContains",
        "maxContains",
        "if",
        "then",
        "else",
    ];
    KEYWORDS.iter().any(|keyword| schema.contains_key(*keyword))
}

/// Replaces alternatives that are only types by a list of types.
fn types_as_list(members: &mut Map<String, Value>) {
    let Some(Value::Array(schemas)) = members.get("anyOf") else {
        return;
    };
    let only_type = |schema: &Value| {
        let kind = schema.as_object().filter(|schema| schema.len() == 1)?.get("type")?;
        kind.is_string().then(|| kind.clone())
    };
    let kinds: Option<Vec<Value>> = schemas.iter().map(only_type).collect();
    if let Some(kinds) = kinds.filter(|kinds| !kinds.is_empty() && !members.contains_key("type")) {
        members.remove("anyOf");
        members.insert("type".to_owned(), Value::Array(kinds));
    }
}
