//! Why a JSON Schema doesn't accept a value, in few words whatever the value is.

use std::fmt::{self, Display, Write};

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

/// How many faults are told.
const FAULTS: usize = 10;

/// The longest text of one fault, in bytes.
const FAULT: usize = 300;

/// The longest JSON of which more than the first fault is looked for, in bytes. The validator gathers all of its errors
/// before the first of them can be had, and each takes many times the memory of what it is about.
const LONGEST: usize = 64 << 10;

/// Why a schema doesn't accept a value that was `length` bytes of JSON; nothing if it does.
pub(super) fn faults(validator: &Validator, value: &Value, length: usize) -> String {
    let Err(first) = validator.validate(value) else {
        return String::new();
    };
    if length > LONGEST {
        return told(&first);
    }
    let mut errors = validator.iter_errors(value);
    let mut faults: Vec<String> = errors.by_ref().take(FAULTS).map(|error| told(&error)).collect();
    match errors.count() {
        0 => {}
        more => faults.push(format!("and {more} more")),
    }
    faults.join("; ")
}

fn told(error: &ValidationError<'_>) -> String {
    match error.instance_path().as_str() {
        "" => shortened(error),
        path => shortened(&format_args!("{}: {error}", shortened(&path))),
    }
}

/// What is displayed, cut where it is too long to read.
pub(super) fn shortened(what: &impl Display) -> String {
    let mut start = Start(String::new());
    if write!(start, "{what}").is_err() {
        start.0.push('…');
    }
    start.0
}

/// The start of a text: writing more than that fails, so that what comes after isn't made.
struct Start(String);

impl Write for Start {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = FAULT - self.0.len();
        if text.len() <= left {
            self.0.push_str(text);
            return Ok(());
        }
        let end = (0..=left).rev().find(|end| text.is_char_boundary(*end));
        self.0.push_str(&text[..end.unwrap_or_default()]);
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn numbers() -> Validator {
        jsonschema::validator_for(&json!({"additionalProperties": {"items": {"type": "number"}}})).unwrap()
    }

    #[test]
    fn the_faults_of_a_small_value_are_told_with_their_places() {
        let value = json!({"a": [1, "b", null]});
        assert_eq!(
            faults(&numbers(), &value, 20),
            r#"/a/1: "b" is not of type "number"; /a/2: null is not of type "number""#
        );
        assert_eq!(faults(&numbers(), &json!({"a": [1]}), 20), "");
    }

    #[test]
    fn what_is_told_is_short_however_many_faults_there_are_and_whatever_they_quote() {
        let many = json!({"a": vec![""; 20_000]});
        let told = faults(&numbers(), &many, 60_000);
        assert!(told.len() < 2_000 && told.ends_with("; and 19990 more"), "{told}");
        assert_eq!(
            faults(&numbers(), &many, 100_000),
            r#"/a/0: "" is not of type "number""#
        );

        let long = json!({ "é".repeat(100_000): ["é".repeat(100_000)] });
        assert!(faults(&numbers(), &long, 400_000).len() < 1_000);
        assert!(faults(&numbers(), &long, 0).len() < 1_000);
    }
}
