//! Finding definitions and what references point at.

use std::collections::BTreeSet;

use serde_json::Value;

/// The keywords under which definitions stand: draft-07's, then 2020-12's. Schemas mix them.
pub const CONTAINERS: [&str; 2] = ["definitions", "$defs"];

/// Every definition of a schema with its pointer and name, those nested in others included.
pub fn definitions(schema: &Value) -> impl Iterator<Item = (String, &str, &Value)> {
    let mut found = Vec::new();
    collect(schema, "#", &mut found);
    found.into_iter()
}

fn collect<'v>(schema: &'v Value, pointer: &str, found: &mut Vec<(String, &'v str, &'v Value)>) {
    for container in CONTAINERS {
        let Some(Value::Object(definitions)) = schema.get(container) else {
            continue;
        };
        for (name, definition) in definitions {
            let pointer = format!("{pointer}/{container}/{}", escape(name));
            collect(definition, &pointer, found);
            found.push((pointer, name, definition));
        }
    }
}

/// A name as a JSON pointer spells it.
#[must_use]
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What a local reference points at.
///
/// References were checked when the schema was loaded, so `None` only means that the caller made one up.
#[must_use]
pub fn resolve<'v>(schema: &'v Value, reference: &str) -> Option<&'v Value> {
    schema.pointer(&decode_percent(reference.strip_prefix('#')?))
}

/// Every pointer that some reference in the schema points at.
pub fn targets(schema: &Value) -> BTreeSet<String> {
    let mut targets = BTreeSet::new();
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref") {
                    targets.insert(canonical(reference));
                }
                waiting.extend(members.values());
            }
            Value::Array(elements) => waiting.extend(elements),
            _ => {}
        }
    }
    targets
}

/// A name for something that has none, from the names on the way to it.
pub fn name_of(pointer: &str) -> String {
    const KEYWORDS: [&str; 6] = [
        "#",
        "definitions",
        "$defs",
        "properties",
        "items",
        "additionalProperties",
    ];
    let parts: Vec<&str> = pointer.split('/').filter(|part| !KEYWORDS.contains(part)).collect();
    if parts.is_empty() {
        "Root".to_owned()
    } else {
        parts.join("_")
    }
}

/// A reference as the pointer that definitions are listed by: without percent-encoding.
#[must_use]
pub fn canonical(reference: &str) -> String {
    decode_percent(reference)
}

fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16);
        match tail {
            [high, low, after @ ..] if *first == b'%' => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push((high * 16 + low) as u8);
                    rest = after;
                }
                _ => {
                    bytes.push(*first);
                    rest = tail;
                }
            },
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
