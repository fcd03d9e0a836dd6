//! Random schemas of members, from common to rare ones.

use fastrand::Rng;
use serde_json::{Value, json};

use crate::edit::place_of;
use crate::pick::{any_definition, is_direction};

pub(crate) fn new_schema(root: &Value, rng: &mut Rng) -> Value {
    match rng.u8(..5) {
        0 | 1 => usual(rng),
        2 | 3 => reference(root, rng),
        _ => rare(root, rng),
    }
}

fn usual(rng: &mut Rng) -> Value {
    match rng.u8(..18) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "integer" }),
        2 => json!({ "type": "boolean" }),
        3 => json!({ "type": "number" }),
        4 => json!({ "type": "array", "items": { "type": "string" } }),
        5 => json!({ "type": "object", "properties": { "size": { "type": "integer", "minimum": 0 } } }),
        6 => json!({ "type": ["string", "null"] }),
        7 => json!({ "type": ["integer", "string", "boolean"] }),
        8 => json!({ "enum": ["low", "high", null] }),
        9 => json!({ "enum": [1, 2, "many"] }),
        10 => json!({ "oneOf": [{ "const": "on" }, { "const": "off" }, { "type": "boolean" }] }),
        11 => json!({ "type": "array" }),
        12 => json!({ "type": "array", "items": { "type": "array", "items": { "type": ["number", "null"] } } }),
        13 => json!({ "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } }),
        14 => json!({ "type": "object", "patternProperties": { "^[a-z]+$": { "type": "boolean" } } }),
        15 => {
            json!({ "type": "object", "properties": { "a": true, "b": {} }, "required": ["a"], "additionalProperties": false })
        }
        16 => json!({}),
        _ => {
            json!({ "anyOf": [{ "type": "string" }, { "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] }] })
        }
    }
}

/// A schema that refers to a definition.
fn reference(root: &Value, rng: &mut Rng) -> Value {
    let mut one = || {
        // Messages have an envelope, which values inside other messages don't have.
        let is_message = |name: &str| name.ends_with("Request") || name.ends_with("Notification");
        let name = any_definition(root, rng).filter(|name| !is_direction(name) && !is_message(name));
        let place = place_of(root, name.as_deref().unwrap_or("Role"));
        match root.pointer(&place) {
            Some(_) => json!({ "$ref": format!("#{place}") }),
            None => json!({ "type": "string" }),
        }
    };
    let (first, second) = (one(), one());
    match rng.u8(..16) {
        0 => json!({ "anyOf": [first, { "type": "null" }] }),
        1 => json!({ "anyOf": [first, { "type": "array", "items": first }] }),
        2 => json!({ "oneOf": [first, second] }),
        3 => json!({ "anyOf": [first, second] }),
        4 => json!({ "allOf": [first] }),
        5 => json!({ "allOf": [first, { "description": "More." }] }),
        6 => json!({ "type": "object", "additionalProperties": first }),
        7 => json!({ "type": "array", "items": { "anyOf": [first, { "type": "string" }] } }),
        8 => json!({ "type": "object", "properties": { "one": first, "two": second }, "required": ["two"] }),
        _ => first,
    }
}

fn rare(root: &Value, rng: &mut Rng) -> Value {
    match rng.u8(..22) {
        0 => json!({ "const": { "a": 1 } }),
        1 => json!({ "enum": [{ "a": 1 }, [], 2.5] }),
        2 => json!({ "type": ["object", "array"] }),
        3 => json!({ "type": "null" }),
        4 => json!(true),
        5 => json!({ "type": "object", "required": ["x"] }),
        6 => json!({ "type": "string", "contentEncoding": "base64", "format": "byte" }),
        7 => json!({ "type": "integer", "enum": [1, 2] }),
        8 => json!({ "enum": ["", "a b", "é", "1x", "type", "Type"] }),
        9 => json!({ "type": "number", "const": 0.5 }),
        10 => json!({ "type": "array", "contains": { "type": "integer" }, "minContains": 0 }),
        11 => json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false }),
        12 => json!({ "type": "object", "properties": { "a": { "type": "string" } }, "unevaluatedProperties": false }),
        13 => json!({ "type": "object", "dependentSchemas": { "a": { "required": ["b"] } } }),
        14 => {
            json!({ "type": "object", "propertyNames": { "pattern": "^x" }, "additionalProperties": { "type": "string" } })
        }
        15 => json!({ "type": ["string", "object"], "properties": { "a": { "type": "integer" } }, "maxLength": 5 }),
        16 => json!({ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": { "type": "integer" } }),
        17 => json!({ "oneOf": [{ "type": "integer" }, { "type": "number", "minimum": 10 }] }),
        18 => {
            json!({ "type": "object", "properties": { "deep": { "type": "object", "properties": { "deeper": reference(root, rng) } } } })
        }
        19 => json!({ "type": "array", "prefixItems": [{ "type": "string" }], "unevaluatedItems": false }),
        20 => json!({ "allOf": [reference(root, rng)], "unevaluatedProperties": false }),
        _ => json!({ "not": { "type": "null" } }),
    }
}
