//! What is tolerated in the peer's responses, and how it is read.

use mcp_adapters::mcp_wire::path::{Path, Segment};
use mcp_adapters::mcp_wire::validator::{Violation, ViolationKind};
use mcp_adapters::mcp_wire::{Decoded, JsonType, MessageHeader, RawJson};
use mcp_adapters::{Revision, Tolerance};

use super::json_edit::set_member;
use crate::error::CallError;

/// The outcome of a response that has both a result and an error, if one of them is `null`; and its violation.
pub fn only_result(response: &MessageHeader<'_>) -> Option<(Result<RawJson, CallError>, Violation)> {
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
