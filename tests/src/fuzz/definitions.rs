//! Decoding, encoding and validation, compared with serde_json and with the `jsonschema` crate.
//!
//! The first line of an input is a revision and the name of a definition; the rest is JSON.

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::Definition;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{header, revision};
use crate::{corrected, definition};

/// The largest number that is compared: `jsonschema` compares numbers as `f64`, which is inexact beyond it.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub fn check(input: &[u8]) {
    let Some((words, json)) = header(input) else { return };
    let [name, definition_name] = words[..] else { return };
    let Some(revision) = revision(name) else { return };
    let Some(definition) = definition(revision, definition_name) else {
        return;
    };
    let Ok(instance) = definition.decode(json) else { return };
    assert!(
        serde_json::from_slice::<&RawValue>(json).is_ok(),
        "decoded text that is not JSON"
    );
    let encoded = instance.to_json().expect("a decoded value can be encoded");
    let again = definition
        .decode(encoded.as_bytes())
        .expect("an encoded value can be decoded");
    assert_eq!(
        encoded,
        again.to_json().unwrap(),
        "encoded in a different way the second time"
    );
    assert_eq!(
        instance.validate().is_ok(),
        again.validate().is_ok(),
        "valid only before or after encoding"
    );
    let Ok(value) = serde_json::from_slice::<Value>(json) else {
        return;
    };
    if is_exact(&value) && members(json) == members(value.to_string().as_bytes()) {
        let valid = is_valid(revision, definition, &value);
        let validated = instance.validate();
        assert_eq!(validated.is_ok(), valid, "verdicts differ: {validated:?} on {value}");
    }
}

/// Whether serde_json keeps each number exactly, and `jsonschema` compares it exactly.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= EXACT),
        Value::Array(elements) => elements.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

/// Returns the number of colons and commas, which is smaller if an object has lost a duplicate member.
fn members(json: &[u8]) -> usize {
    json.iter().filter(|byte| matches!(byte, b':' | b',')).count()
}

fn is_valid(revision: Revision, definition: &Definition, value: &Value) -> bool {
    let accepts = corrected(revision).accepts(definition.name, value);
    accepts.expect("the schema has the definition")
}

/// Instances of each definition of each revision.
pub fn seeds() -> Vec<Vec<u8>> {
    let of = |revision: Revision| {
        let instances = corrected(revision);
        let known: Vec<String> = instances.definitions().map(str::to_owned).collect();
        let made = known.into_iter().flat_map(move |name| instances.of(&name, 1, 2));
        made.map(move |made| format!("{revision} {}\n{}", made.definition, made.value).into_bytes())
    };
    Revision::ALL.into_iter().flat_map(of).collect()
}
