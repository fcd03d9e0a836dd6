//! Removes the JSON-RPC envelope from requests and notifications, if a schema repeats it in each of them.

use std::collections::BTreeMap;

use mcp_json_schema::{all_definitions, change_schemas, definitions, pointer};
use serde_json::Value;

use super::all_of::accepts_everything;
use super::references::{follow, resolve};
use crate::messages::{DIRECTIONS, MessageKind};

/// A part of the names of JSON-RPC's own messages, which are the envelopes themselves.
const JSON_RPC: &str = "JSONRPC";
const VERSION: &str = "jsonrpc";
const ID: &str = "id";
const METHOD: &str = "method";
/// The maximum depth of nested intersections.
const MAX_DEPTH: usize = 16;

/// The definitions whose envelope was removed, by their pointers: the kind of each, and the definition with its
/// envelope.
pub(super) type Envelopes = BTreeMap<String, (MessageKind, Value)>;

/// Restores the envelope for all other references to a method, such as that of an object that contains a request:
/// there the envelope is part of the value. Returns the new targets of those references by pointer, to be added to
/// the schema.
pub(super) fn give_back(envelopes: &Envelopes, schema: &mut Value) -> BTreeMap<String, Value> {
    for (pointer, (_, whole)) in envelopes {
        if let Some(definition) = schema.pointer_mut(pointer.trim_start_matches('#')) {
            permit_envelope(definition, whole);
        }
    }
    let mut found = Vec::new();
    let is_of_messages = |name: &str| DIRECTIONS.iter().any(|(union, ..)| *union == name);
    let others = definitions(schema, "#").filter(|(_, name, _)| !is_of_messages(name));
    for pointer in Vec::from_iter(others.map(|(pointer, ..)| pointer)) {
        if let Some(definition) = schema.pointer_mut(pointer.trim_start_matches('#')) {
            give_back_within(envelopes, definition, &mut found);
        }
    }
    let mut parts = BTreeMap::new();
    while let Some((part, whole)) = found.pop() {
        parts.entry(part).or_insert_with(|| {
            // A method can contain methods itself.
            let mut whole = whole.clone();
            give_back_within(envelopes, &mut whole, &mut found);
            whole
        });
    }
    parts
}

/// Gives the envelope back to the methods that a schema refers to, and adds them to `found`, by their new pointers.
fn give_back_within<'e>(envelopes: &'e Envelopes, schema: &mut Value, found: &mut Vec<(String, &'e Value)>) {
    change_schemas(schema, &mut |schema| {
        let Some(Value::String(reference)) = schema.get_mut("$ref") else {
            return;
        };
        let target = pointer::canonical(reference).unwrap_or_default();
        if let Some((_, whole)) = envelopes.get(&target) {
            let part = format!("{target}/$defs/{WHOLE}");
            *reference = pointer::reference(&part);
            found.push((part, whole));
        }
    });
}

/// Declares the members of the envelope in a method that forbids undeclared members.
fn permit_envelope(definition: &mut Value, whole: &Value) {
    let closing = ["additionalProperties", "patternProperties"].map(|keyword| definition.get(keyword));
    if closing.into_iter().flatten().all(accepts_everything) {
        return;
    }
    for member in [VERSION, ID] {
        let properties = definition.get_mut("properties").and_then(Value::as_object_mut);
        if let (Some(properties), Some(schema)) = (properties, whole["properties"].get(member)) {
            properties.insert(member.to_owned(), schema.clone());
        }
    }
}

/// The name of a method's schema with its envelope, within the method's definition.
pub(crate) const WHOLE: &str = "in its envelope";

/// Removes the members of the envelope from every definition of a method, and returns the original definitions.
pub(super) fn take_envelopes(schema: &mut Value) -> Envelopes {
    let definitions = all_definitions(schema).into_iter();
    let methods = definitions.filter(|(_, name, _)| !name.contains(JSON_RPC));
    let methods = methods.filter_map(|(pointer, _, definition)| {
        let envelope = envelope_of(schema, definition)?;
        Some((pointer, envelope, inlined(schema, definition, 0)))
    });
    let mut taken = BTreeMap::new();
    for (pointer, envelope, mut without) in Vec::from_iter(methods) {
        remove_envelope(&mut without);
        if let Some(definition) = schema.pointer_mut(pointer.trim_start_matches('#')) {
            taken.insert(pointer, (envelope, std::mem::replace(definition, without)));
        }
    }
    taken
}

/// Replaces the references in a schema's `allOf` by their targets, since the envelope can be declared in another
/// definition.
pub(super) fn inlined(root: &Value, schema: &Value, depth: usize) -> Value {
    let mut schema = schema.clone();
    if let Some(Value::Array(parts)) = schema.get_mut("allOf").filter(|_| depth < MAX_DEPTH) {
        for part in parts {
            let reference = part.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| resolve(root, reference));
            *part = inlined(root, target.unwrap_or(part), depth + 1);
        }
    }
    schema
}

/// Returns the kind of the envelope that the definition of a method repeats.
pub(crate) fn envelope_of(root: &Value, definition: &Value) -> Option<MessageKind> {
    let declared = |member: &str| declared(root, definition, member, 0).first().copied();
    declared(METHOD)?;
    constant(follow(root, declared(VERSION)?)?)?;
    Some(match declared(ID) {
        Some(_) => MessageKind::Request,
        None => MessageKind::Notification,
    })
}

/// Returns the only value that a schema accepts. Some schema generators write a constant as an enumeration.
pub(crate) fn constant(schema: &Value) -> Option<&Value> {
    let values = schema.get("enum").and_then(Value::as_array);
    let only = values.filter(|values| values.len() == 1);
    schema.get("const").or_else(|| only?.first())
}

/// Returns the schemas of a member that a schema declares, itself or in its `allOf`, whose references are followed.
pub(super) fn declared<'s>(root: &'s Value, schema: &'s Value, member: &str, depth: usize) -> Vec<&'s Value> {
    let own = schema.get("properties").and_then(|properties| properties.get(member));
    let parts = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    let parts = parts.flat_map(|part| {
        let reference = part.get("$ref").and_then(Value::as_str).filter(|_| depth < MAX_DEPTH);
        let target = reference.and_then(|reference| resolve(root, reference));
        declared(root, target.unwrap_or(part), member, depth + 1)
    });
    own.into_iter().chain(parts).collect()
}

fn remove_envelope(schema: &mut Value) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(VERSION);
        properties.remove(ID);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|member| member != VERSION && member != ID);
    }
    let parts = schema.get_mut("allOf").and_then(Value::as_array_mut);
    parts.into_iter().flatten().for_each(remove_envelope);
}
