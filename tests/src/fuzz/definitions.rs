//! Decoding, encoding and validation, compared with serde_json and with the `jsonschema` crate.
//!
//! The first line of an input is a revision and the name of a definition; the rest is JSON.

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::Definition;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{header, revision};
use crate::{corrected, definition};

/// `jsonschema` compares numbers as `f64`, and reports nothing beyond.
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
        "decoded what is not JSON"
    );
    let encoded = instance.to_json().expect("what was decoded can be encoded");
    let again = definition
        .decode(encoded.as_bytes())
        .expect("what was encoded can be decoded");
    assert_eq!(
        encoded,
        again.to_json().unwrap(),
        "encoded in another way the second time"
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
        assert_eq!(validated.is_ok(), valid, "another verdict: {validated:?} on {value}");
    }
}

/// Whether serde_json keeps each number as it is, and `jsonschema` compares it exactly.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() <= EXACT),
        Value::Array(elements) => elements.iter().all(is_exact),
        Value::Object(members) => members.values().all(is_exact),
        _ => true,
    }
}

/// The number of colons and commas, which is less in an object that has lost a member of a name that came twice.
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
