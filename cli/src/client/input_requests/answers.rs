//! Answers from a file.

use std::collections::VecDeque;
use std::path::Path;

use mcp_runtime::hub::{ElicitResult, ElicitResultAction};
use mcp_runtime::mcp_wire::from_str;
use serde::Deserialize;
use serde_json::Value;

use crate::input_file::read_text;

/// The answers in the order of the requests. A request for which no answer remains is declined.
#[derive(Debug, Default, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "an object with `elicitation` and `sampling`"
)]
pub struct Answers {
    /// Results of elicitation, with `action` and `content`.
    pub elicitation: VecDeque<Value>,
    /// Texts of messages, in place of those of a model.
    pub sampling: VecDeque<String>,
}

impl Answers {
    pub fn read(file: &Path) -> Result<Self, String> {
        let text = read_text(file).map_err(|error| error.to_string())?;
        // serde would also read the members from a list, in order.
        if text.trim_start().starts_with('[') {
            return Err("expected an object with `elicitation` and `sampling`, found an array".to_owned());
        }
        let answers: Self = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        for (index, answer) in answers.elicitation.iter().enumerate() {
            let decoded = from_str::<ElicitResult>(&answer.to_string());
            let result = decoded.map_err(|error| format!("elicitation[{index}]: {error}"))?;
            if let ElicitResultAction::Unknown(action) = result.action {
                return Err(format!(
                    "elicitation[{index}].action: expected accept, decline or cancel, found {action:?}"
                ));
            }
        }
        Ok(answers)
    }
}
