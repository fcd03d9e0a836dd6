//! Validation of the peer's messages by the schema of its revision.

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::json_schema::Violation;
use mcp_adapters::mcp_wire::{ErrorObject, Invalid, RawJson};
use serde_json::json;

use super::state;
use super::state::SessionState;
use crate::error::{CallError, invalid_params};
use crate::options::{Options, Validation};
use crate::side::Side;

/// The maximum number of violations in an error.
const REPORTED: usize = 8;

impl<S: Side> SessionState<S> {
    /// Validates a request or notification of the peer before any conversion; an error if it must not be handled.
    pub fn validate_call(&self, revision: Revision, method: &str, json: &[u8]) -> Result<(), ErrorObject> {
        // A method that the peer can't call has no schema.
        if !self.validates() || state::method::<S>(revision, method, true).is_none() {
            return Ok(());
        }
        self.report_violations(method, revision.validate_call(json))
            .map_err(|invalid| {
                let violations = invalid.violations.iter().take(REPORTED);
                let violations = violations.map(|it| json!({"path": it.path.to_string(), "expected": it.expected}));
                let data = json!({"violations": violations.collect::<Vec<_>>()});
                invalid_params(summary(&invalid)).with_data(data)
            })
    }

    /// Validates a result of the peer before any conversion. `violations` are those found earlier.
    pub fn validate_result(
        &self,
        revision: Revision,
        method: &str,
        result: &RawJson,
        mut violations: Vec<Violation>,
    ) -> Result<(), CallError> {
        if self.validates()
            && let Err(invalid) = revision.validate_result(method, result)
        {
            violations.extend(invalid.violations);
        }
        self.check_violations(method, violations)
    }

    /// Reports the violations of a response; an error if they aren't tolerated.
    pub fn check_violations(&self, method: &str, violations: Vec<Violation>) -> Result<(), CallError> {
        let validated = match violations.is_empty() {
            true => Ok(()),
            false => Err(Invalid { violations }),
        };
        let tolerated = self.report_violations(method, validated);
        tolerated.map_err(|invalid| CallError::InvalidResult(summary(&invalid)))
    }

    /// Whether the outcome of a validation is needed.
    pub fn validates(&self) -> bool {
        let Options {
            validation, violations, ..
        } = &*self.options;
        *validation == Validation::Strict || violations.is_some() || tracing::enabled!(tracing::Level::DEBUG)
    }

    /// Reports violations, and returns them as an error if they aren't tolerated.
    fn report_violations(&self, method: &str, validated: Result<(), Invalid>) -> Result<(), Invalid> {
        let Err(invalid) = validated else { return Ok(()) };
        tracing::debug!(method, %invalid, "the peer violates the schema of its revision");
        if let Some(observer) = &self.options.violations {
            observer(method, &invalid);
        }
        match self.options.validation {
            Validation::Lenient => Ok(()),
            Validation::Strict => Err(invalid),
        }
    }
}

/// Formats the first violations as text.
fn summary(invalid: &Invalid) -> String {
    let reported = invalid.violations.iter().take(REPORTED).map(ToString::to_string);
    let mut text = reported.collect::<Vec<_>>().join("; ");
    if let Some(more) = invalid.violations.len().checked_sub(REPORTED).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}
