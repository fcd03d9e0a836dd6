//! The keywords that the generator honours, and where schemas stand inside of schemas.

use serde_json::Value;

/// What the value of a keyword must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    SchemaMap,
    /// One schema, or (in draft-07) a list of them.
    Items,
    /// By name, either a schema or a list of member names.
    Dependencies,
    /// A reference to another schema.
    Reference,
    /// One of the seven type names, or a list of them.
    Types,
    /// A list of distinct strings.
    Names,
    /// By name, a list of distinct strings.
    NamesMap,
    /// A number above zero.
    Divisor,
    /// A number.
    Number,
    /// A whole number from zero.
    Count,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A string that may stand at the root only.
    RootText,
    /// A list of any values.
    Values,
    /// Anything.
    Any,
}

/// Texts for people: not part of what a schema says, and not ours to publish.
pub const PROSE: [&str; 4] = ["$comment", "description", "examples", "title"];

/// The shape of a keyword's value; `None` for a keyword that the generator can't honour.
#[must_use]
pub fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "additionalItems" | "additionalProperties" | "contains" | "else" | "if" | "not" | "propertyNames" | "then" => {
            Shape::Schema
        }
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => Shape::SchemaMap,
        "items" => Shape::Items,
        "dependencies" => Shape::Dependencies,
        "$ref" => Shape::Reference,
        "type" => Shape::Types,
        "required" => Shape::Names,
        "dependentRequired" => Shape::NamesMap,
        "multipleOf" => Shape::Divisor,
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" => Shape::Number,
        "maxContains" | "maxItems" | "maxLength" | "maxProperties" | "minContains" | "minItems" | "minLength"
        | "minProperties" => Shape::Count,
        "deprecated" | "readOnly" | "uniqueItems" | "writeOnly" => Shape::Flag,
        "$comment" | "contentEncoding" | "contentMediaType" | "description" | "format" | "pattern" | "title" => {
            Shape::Text
        }
        "$id" | "$schema" => Shape::RootText,
        "enum" | "examples" => Shape::Values,
        "const" | "default" => Shape::Any,
        extension if extension.starts_with("x-") => Shape::Any,
        _ => return None,
    })
}

/// Whether a keyword only describes: it never refuses an instance.
#[must_use]
pub fn is_annotation(keyword: &str) -> bool {
    PROSE.contains(&keyword)
        || keyword.starts_with("x-")
        || matches!(
            keyword,
            "default" | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType"
        )
}

/// The schemas directly inside of a schema: the steps down to each, and the schema. Whatever has another shape is left out.
pub fn subschemas(schema: &Value) -> Vec<(Vec<String>, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (shape(keyword), value) {
            (Some(Shape::Schema | Shape::Items), Value::Object(_) | Value::Bool(_)) => {
                found.push((vec![keyword.clone()], value))
            }
            (Some(Shape::Schemas | Shape::Items), Value::Array(list)) => {
                let numbered = list.iter().enumerate();
                found.extend(numbered.map(|(index, inner)| (vec![keyword.clone(), index.to_string()], inner)));
            }
            (Some(shape @ (Shape::SchemaMap | Shape::Dependencies)), Value::Object(map)) => {
                let schemas = map.iter().filter(|(_, inner)| !is_name_list(shape, inner));
                found.extend(schemas.map(|(name, inner)| (vec![keyword.clone(), name.clone()], inner)));
            }
            _ => {}
        }
    }
    found
}

/// Changes a schema and all schemas inside of it, the inner before the outer: what a change puts in is not changed again.
pub fn change_schemas(schema: &mut Value, change: &mut impl FnMut(&mut Value)) {
    for (keyword, value) in schema.as_object_mut().into_iter().flatten() {
        match (shape(keyword), value) {
            (Some(Shape::Schema | Shape::Items), value @ (Value::Object(_) | Value::Bool(_))) => {
                change_schemas(value, change)
            }
            (Some(Shape::Schemas | Shape::Items), Value::Array(list)) => {
                list.iter_mut().for_each(|inner| change_schemas(inner, change));
            }
            (Some(shape @ (Shape::SchemaMap | Shape::Dependencies)), Value::Object(map)) => {
                let schemas = map.values_mut().filter(|inner| !is_name_list(shape, inner));
                schemas.for_each(|inner| change_schemas(inner, change));
            }
            _ => {}
        }
    }
    change(schema);
}

/// `dependencies` holds lists of names beside schemas.
fn is_name_list(shape: Shape, value: &Value) -> bool {
    shape == Shape::Dependencies && value.is_array()
}
