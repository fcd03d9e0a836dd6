//! Decodes the instances of every case, whose definitions are given by name or pointer. A valid one must be encoded as
//! an equal value and pass validation; an invalid one must be refused by decoding or by validation.

use std::process::ExitCode;

use mcp_wire::{DecodeErrorKind, Definition};
use serde_json::Value;

include!("cases.rs");

fn main() -> ExitCode {
    let mut failures = 0;
    let mut count = 0;
    for (case, definitions, files) in CASES {
        for file in *files {
            let text = std::fs::read_to_string(file).expect("the test wrote it");
            for line in text.lines() {
                count += 1;
                if let Err(what) = check(definitions, line) {
                    println!("{case}: {what}: {line}");
                    failures += 1;
                }
            }
        }
    }
    println!("{failures} of {count} failed");
    if failures == 0 && count > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn check(definitions: &[Definition], line: &str) -> Result<(), String> {
    let line: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let name = line["type"].as_str().unwrap_or_default();
    let is_meant = |definition: &&Definition| definition.name == name || definition.pointer == name;
    let definition = definitions.iter().find(is_meant).ok_or("there is no such definition")?;
    let value = &line["value"];
    let decoded = definition.decode(value.to_string().as_bytes());
    match (line["valid"] == true, decoded) {
        // Integers beyond 64 bits are refused, though the schema has no such limit.
        (true, Err(error)) if error.kind() == DecodeErrorKind::OutOfRange => Ok(()),
        (true, Err(error)) => Err(format!("valid but not decoded: {error}")),
        (true, Ok(instance)) => {
            let text = instance.to_json().map_err(|error| format!("not encoded: {error}"))?;
            let again: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            if !is_equal(&again, value) {
                return Err(format!("came back as {text}"));
            }
            instance.validate().map_err(|invalid| format!("valid but refused: {invalid}"))
        }
        (false, Ok(instance)) if instance.validate().is_ok() => Err("invalid but accepted".into()),
        (false, _) => Ok(()),
    }
}

/// Compares as JSON Schema does: `1.0` equals `1`.
fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| is_equal(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => left == right,
    }
}
