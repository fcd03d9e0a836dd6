//! Judging what the peer sends by its revision's schema.

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::validator::Violation;
use mcp_adapters::mcp_wire::{ErrorObject, Invalid, OpenJson, error_code};
use serde_json::json;

use super::shared::Shared;
use crate::error::CallError;
use crate::options::{Options, Reading};
use crate::side::Side;

/// How many faults the peer or a caller is told of.
const TOLD: usize = 8;

impl<S: Side> Shared<S> {
    /// Judges a call of the peer, as it came; the error is for whom must not get it.
    pub fn judge_call(&self, revision: Revision, method: &str, json: &[u8]) -> Result<(), ErrorObject> {
        // What the peer may not call has no schema that it could depart from.
        if !self.judges() || self.method(method, true).is_none() {
            return Ok(());
        }
        self.judged(method, revision.validate_call(json)).map_err(|invalid| {
            let violations = invalid.violations.iter().take(TOLD);
            let faults = violations.map(|fault| json!({"path": fault.path.to_string(), "expected": fault.expected}));
            let data = json!({"faults": faults.collect::<Vec<_>>()});
            ErrorObject::new(error_code::INVALID_PARAMS, text(&invalid)).with_data(data)
        })
    }

    /// Judges a result of the peer, as it came; `faults` are known already.
    pub fn judge_result(
        &self,
        revision: Revision,
        method: &str,
        result: &OpenJson,
        mut faults: Vec<Violation>,
    ) -> Result<(), CallError> {
        if self.judges()
            && let Err(invalid) = revision.validate_result(method, result)
        {
            faults.extend(invalid.violations);
        }
        self.judge_answer(method, faults)
    }

    /// Judges an answer of the peer by the faults that are known.
    pub fn judge_answer(&self, method: &str, faults: Vec<Violation>) -> Result<(), CallError> {
        let judged = match faults.is_empty() {
            true => Ok(()),
            false => Err(Invalid { violations: faults }),
        };
        let judged = self.judged(method, judged);
        judged.map_err(|invalid| CallError::InvalidResult(text(&invalid)))
    }

    /// Whether anything comes of judging.
    fn judges(&self) -> bool {
        let Options { reading, faults, .. } = &self.options;
        *reading == Reading::Strict || faults.is_some() || tracing::enabled!(tracing::Level::DEBUG)
    }

    /// Reports faults, and says whether they are tolerated.
    fn judged(&self, method: &str, judged: Result<(), Invalid>) -> Result<(), Invalid> {
        let Err(invalid) = judged else { return Ok(()) };
        tracing::debug!(method, %invalid, "the peer departs from the schema of its revision");
        if let Some(observer) = &self.options.faults {
            observer(method, &invalid);
        }
        match self.options.reading {
            Reading::Tolerant => Ok(()),
            Reading::Strict => Err(invalid),
        }
    }
}

/// The first faults.
fn text(invalid: &Invalid) -> String {
    let told = invalid.violations.iter().take(TOLD).map(ToString::to_string);
    let mut text = told.collect::<Vec<_>>().join("; ");
    if let Some(more) = invalid.violations.len().checked_sub(TOLD).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}
