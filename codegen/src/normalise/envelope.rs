//! Taking the JSON-RPC envelope off requests and notifications, where a schema repeats it in each of them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::references::definitions;

/// What the names of JSON-RPC's own messages begin with: those are envelopes, and have none.
const JSON_RPC: &str = "JSONRPC";
const VERSION: &str = "jsonrpc";
const ID: &str = "id";
const METHOD: &str = "method";

/// What stood around a method in the schema, and stands around it on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Envelope {
    /// `jsonrpc` and an `id`.
    Request,
    /// `jsonrpc` alone.
    Notification,
}

/// Removes the members of the envelope from every definition of a method, and says what they were.
pub fn take_envelopes(schema: &mut Value) -> BTreeMap<String, Envelope> {
    let methods = definitions(schema).filter(|(_, name, _)| !name.starts_with(JSON_RPC));
    let pointers: Vec<String> = methods.map(|(pointer, ..)| pointer).collect();
    let mut envelopes = BTreeMap::new();
    for pointer in pointers {
        let definition = pointer
            .strip_prefix('#')
            .and_then(|pointer| schema.pointer_mut(pointer));
        if let Some(envelope) = definition.and_then(take_envelope) {
            envelopes.insert(pointer, envelope);
        }
    }
    envelopes
}

fn take_envelope(definition: &mut Value) -> Option<Envelope> {
    let properties = definition.get("properties")?;
    properties.get(METHOD)?;
    properties.get(VERSION)?.get("const")?;
    let envelope = match properties.get(ID) {
        Some(_) => Envelope::Request,
        None => Envelope::Notification,
    };
    if let Some(properties) = definition.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove(VERSION);
        properties.remove(ID);
    }
    if let Some(required) = definition.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|member| member != VERSION && member != ID);
    }
    Some(envelope)
}
