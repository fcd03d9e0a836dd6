//! Validation of the peer's messages by the schema of its revision, and what is tolerated in them.

use mcp_adapters::mcp_wire::path::{Path, Segment};
use mcp_adapters::mcp_wire::validator::{Violation, ViolationKind};
use mcp_adapters::mcp_wire::{Decoded, ErrorObject, Invalid, JsonType, MessageHeader, RawJson};
use mcp_adapters::{Revision, Tolerance};
use serde_json::json;

use super::json_edit::set_member;
use super::ordered_queue::Ticket;
use super::state;
use super::state::SessionState;
use crate::error::{CallError, invalid_params};
use crate::options::{Options, Validation};
use crate::side::Side;

/// The number of violations in an error.
const REPORTED: usize = 8;

impl<S: Side> SessionState<S> {
    /// Validates a request or notification of the peer before any conversion; an error if it must not be handled.
    pub fn validate_call(&self, revision: Revision, method: &str, json: &[u8]) -> Result<(), ErrorObject> {
        // A method that the peer may not call has no schema.
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

    /// Validates a result of the peer before any conversion. `violations` are known already.
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

    /// Whether anybody needs the outcome of a validation.
    fn validates(&self) -> bool {
        let Options {
            validation, violations, ..
        } = &*self.options;
        *validation == Validation::Strict || violations.is_some() || tracing::enabled!(tracing::Level::DEBUG)
    }

    /// Reports violations; gives them back if they aren't tolerated.
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

/// The first violations as text.
fn summary(invalid: &Invalid) -> String {
    let reported = invalid.violations.iter().take(REPORTED).map(ToString::to_string);
    let mut text = reported.collect::<Vec<_>>().join("; ");
    if let Some(more) = invalid.violations.len().checked_sub(REPORTED).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// The outcome of a call.
pub type CallResult = Result<RawJson, CallError>;

/// The outcome of a call, and the violations of the response.
#[derive(Debug)]
pub struct Reply {
    pub result: CallResult,
    pub violations: Vec<Violation>,
    /// Its position among the messages that are passed on, for a call that was.
    pub ticket: Option<Ticket>,
}

/// The outcome of a response that has both a result and an error, if one of them is `null`; and its violation.
pub fn only_result(response: &MessageHeader<'_>) -> Option<(CallResult, Violation)> {
    let (None, Some(result), Some(error)) = (response.method(), response.result(), response.error()) else {
        return None;
    };
    match (result.json_type(), error.json_type()) {
        (_, JsonType::Null) => Some((
            Ok(result.decode_as().ok()?),
            violation("error", "nothing beside `result`", "null"),
        )),
        (JsonType::Null, _) => {
            let error = error.decode_as().ok()?;
            Some((
                Err(CallError::Peer(error)),
                violation("result", "nothing beside `error`", "null"),
            ))
        }
        _ => None,
    }
}

/// A result as lenient peers read it.
pub fn tolerated(revision: Revision, method: &str, result: RawJson) -> RawJson {
    tolerate(revision.tolerances(method), &result).map_or(result, |(tolerated, _)| tolerated)
}

/// A result with its departures corrected, and the violations that the schema doesn't reveal; `None` if nothing is corrected.
pub fn tolerate(tolerances: &[Tolerance], result: &RawJson) -> Option<(RawJson, Vec<Violation>)> {
    let mut corrected: Option<RawJson> = None;
    let mut violations = Vec::new();
    for tolerance in tolerances {
        let current = corrected.as_ref().unwrap_or(result);
        let Ok(Some(edited)) = correct(tolerance, current) else {
            continue;
        };
        corrected = Some(edited);
        // The schema itself reveals a required member that is absent.
        violations.extend(
            tolerance
                .found
                .map(|found| violation(tolerance.member, "another value, or none", found)),
        );
    }
    Some((corrected?, violations))
}

/// The result with one departure corrected, if it has it.
fn correct(tolerance: &Tolerance, result: &RawJson) -> Decoded<Option<RawJson>> {
    let object = MessageHeader::from_slice(result.text().as_bytes())?.message();
    let found = object.get(&[tolerance.member])?.map(|value| value.text());
    let is_beside = match tolerance.beside {
        Some(member) => object.get(&[member])?.is_some(),
        None => true,
    };
    if found != tolerance.found || !is_beside {
        return Ok(None);
    }
    let edited = set_member(object.text().as_bytes(), &[tolerance.member], tolerance.read)?;
    mcp_wire::from_str(&edited).map(Some)
}

/// A violation in a member of a message or a result.
pub fn violation(member: &str, expected: &str, found: &str) -> Violation {
    Violation {
        kind: ViolationKind::Refused,
        path: Path::from_reversed(vec![Segment::Member(member.to_owned())]),
        expected: expected.to_owned(),
        found: found.to_owned(),
        schema: "#".to_owned(),
    }
}
