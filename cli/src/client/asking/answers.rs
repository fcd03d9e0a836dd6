//! Answers that a file gives.

use std::collections::VecDeque;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// The answers in the order of the questions. A question for which none is left is declined.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "an object with `elicitation` and `sampling`"
)]
pub struct Answers {
    /// Results of elicitation, with `action` and `content`.
    pub elicitation: VecDeque<Value>,
    /// Texts of messages that a model would have made.
    pub sampling: VecDeque<String>,
}

impl Answers {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }
}
