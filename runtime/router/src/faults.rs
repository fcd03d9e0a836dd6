//! Descriptions of a value's violations of a JSON Schema, whose length is bounded even for large values.

use std::fmt::{self, Display, Write};

use mcp_wire::Validator;
use serde_json::Value;

/// The maximum number of faults in a description.
const FAULTS: usize = 10;

/// The longest text of one fault, in bytes.
const FAULT: usize = 300;

/// Describes why a schema doesn't accept a value; empty if it does.
pub(super) fn faults(validator: &Validator, value: &Value) -> String {
    let violations = validator.validate("#", value);
    let mut faults: Vec<String> = violations.iter().take(FAULTS).map(shortened).collect();
    if violations.len() > FAULTS {
        faults.push("and more".to_owned());
    }
    faults.join("; ")
}

/// The displayed text, cut after [`FAULT`] bytes.
pub(super) fn shortened(what: &impl Display) -> String {
    let mut start = Start(String::new());
    if write!(start, "{what}").is_err() {
        start.0.push('…');
    }
    start.0
}

/// The start of a text. Writing beyond the limit fails, so that the rest of the text isn't even formatted.
struct Start(String);

impl Write for Start {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = FAULT - self.0.len();
        if text.len() <= left {
            self.0.push_str(text);
            return Ok(());
        }
        let start = (0..=left).rev().find_map(|end| text.get(..end));
        self.0.push_str(start.unwrap_or_default());
        Err(fmt::Error)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn numbers() -> Validator {
        Validator::new(&json!({"additionalProperties": {"items": {"type": "number"}}})).unwrap()
    }

    #[test]
    fn faults_are_described_with_their_paths() {
        let value = json!({"a": [1, "b", null]});
        assert_eq!(
            faults(&numbers(), &value),
            r#"`a[1]`: expected a number, found "b"; `a[2]`: expected a number, found null"#
        );
        assert_eq!(faults(&numbers(), &json!({"a": [1]})), "");
    }

    #[test]
    fn descriptions_of_faults_are_short_for_many_faults_and_long_values() {
        let many = json!({"a": vec![""; 20_000]});
        let told = faults(&numbers(), &many);
        assert!(told.len() < 2_000 && told.ends_with("; and more"), "{told}");

        let long = json!({ "é".repeat(100_000): ["é".repeat(100_000)] });
        assert!(faults(&numbers(), &long).len() < 1_000);
    }
}
