//! Corrections of tolerated violations in the peer's responses.

use mcp_adapters::mcp_wire::path::{Path, Segment};
use mcp_adapters::mcp_wire::validator::{Violation, ViolationKind};
use mcp_adapters::mcp_wire::{JsonType, MessageHeader, RawJson, Reader};
use mcp_adapters::{Revision, Tolerance};

use super::json_edit::set_member;
use crate::error::CallError;

/// Returns the outcome of a response that has both a result and an error, if one of them is `null`, and its violation.
pub fn only_result(response: &MessageHeader<'_>) -> Option<(Result<RawJson, CallError>, Violation)> {
    let (None, Some(result), Some(error)) = (response.method(), response.result(), response.error()) else {
        return None;
    };
    match (result.json_type(), error.json_type()) {
        (_, JsonType::Null) => Some((
            Ok(result.decode_as().ok()?),
            violation("error", "no member next to `result`", "null"),
        )),
        (JsonType::Null, _) => {
            let error = error.decode_as().ok()?;
            Some((
                Err(CallError::Peer(error)),
                violation("result", "no member next to `error`", "null"),
            ))
        }
        _ => None,
    }
}

/// Corrects the tolerated violations in a result.
pub fn tolerated(revision: Revision, method: &str, result: RawJson) -> RawJson {
    tolerate(revision.tolerances(method), &result).map_or(result, |(tolerated, _)| tolerated)
}

/// Corrects the tolerated violations in a result. Also returns those that the schema doesn't reveal; `None` if nothing
/// is corrected.
pub fn tolerate(tolerances: &[Tolerance], result: &RawJson) -> Option<(RawJson, Vec<Violation>)> {
    let mut corrected: Option<RawJson> = None;
    let mut violations = Vec::new();
    for tolerance in departures(tolerances, result.text()) {
        let current = corrected.as_ref().unwrap_or(result).text();
        let edited = set_member(current.as_bytes(), &[tolerance.member], tolerance.read);
        let Some(edited) = edited.and_then(|edited| mcp_wire::from_str(&edited)).ok() else {
            continue;
        };
        corrected = Some(edited);
        // The schema itself reveals a missing required member.
        violations.extend(
            tolerance
                .found
                .map(|found| violation(tolerance.member, "another value, or none", found)),
        );
    }
    Some((corrected?, violations))
}

/// Whether a result that was decoded without corrections has something to correct. Missing required members needn't be
/// considered, because such a result can't be decoded.
pub fn corrects_decoded(tolerances: &[Tolerance], result: &str) -> bool {
    // Searching for a name is much faster than parsing the members.
    let may_be_found = |tolerance: &Tolerance| tolerance.found.is_some() && result.contains(tolerance.member);
    tolerances.iter().any(may_be_found) && !departures(tolerances, result).is_empty()
}

/// Returns the tolerances that apply to a result. None applies to a member that occurs twice.
fn departures<'t>(tolerances: &'t [Tolerance], result: &str) -> Vec<&'t Tolerance> {
    if tolerances.is_empty() {
        return Vec::new();
    }
    let mut members = Vec::new();
    let read = Reader::new(result).members(|reader, name| {
        members.push((name, reader.raw()?));
        Ok(())
    });
    let values = |name: &str| {
        let values = members.iter().filter(|(member, _)| member == name);
        Vec::from_iter(values.map(|(_, value)| *value))
    };
    let departs = |tolerance: &&Tolerance| {
        values(tolerance.member) == Vec::from_iter(tolerance.found)
            && tolerance.beside.is_none_or(|member| values(member).len() == 1)
    };
    match read {
        Ok(()) => tolerances.iter().filter(departs).collect(),
        Err(_) => Vec::new(),
    }
}

/// Creates the violation of a member of a message or a result.
pub fn violation(member: &str, expected: &str, found: &str) -> Violation {
    Violation {
        kind: ViolationKind::Refused,
        path: Path::from_reversed(vec![Segment::Member(member.to_owned())]),
        expected: expected.to_owned(),
        found: found.to_owned(),
        schema: "#".to_owned(),
    }
}
