//! Answers that depart from the protocol in ways that most peers put up with.

use mcp_adapters::Tolerance;
use mcp_adapters::mcp_wire::path::{Path, Segment};
use mcp_adapters::mcp_wire::validator::Violation;
use mcp_adapters::mcp_wire::{Decoded, Kind, MessageHeader, OpenJson};

use super::edit::set;
use crate::error::CallError;

/// What a call came to.
pub type Outcome = Result<OpenJson, CallError>;

/// What a call came to, and what is wrong with the message that says so.
#[derive(Debug)]
pub struct Reply {
    pub outcome: Outcome,
    pub faults: Vec<Violation>,
}

/// The outcome of an answer that has both a result and an error, if one of them is `null`; and the fault that it has.
pub fn only_outcome(answer: &MessageHeader<'_>) -> Option<(Outcome, Violation)> {
    let (None, Some(result), Some(error)) = (answer.method(), answer.result(), answer.error()) else {
        return None;
    };
    match (result.kind(), error.kind()) {
        (_, Kind::Null) => Some((
            Ok(result.decode_as().ok()?),
            fault("error", "nothing beside `result`", "null"),
        )),
        (Kind::Null, _) => {
            let error = error.decode_as().ok()?;
            Some((
                Err(CallError::Peer(error)),
                fault("result", "nothing beside `error`", "null"),
            ))
        }
        _ => None,
    }
}

/// A result as it is read, and the faults that its schema doesn't know of; `None` for a result that is read as it came.
pub fn read_as(tolerances: &[Tolerance], result: &OpenJson) -> Option<(OpenJson, Vec<Violation>)> {
    let mut read: Option<OpenJson> = None;
    let mut faults = Vec::new();
    for tolerance in tolerances {
        let now = read.as_ref().unwrap_or(result);
        let Ok(Some(edited)) = tolerated(tolerance, now) else {
            continue;
        };
        read = Some(edited);
        // What is absent and required is a fault by the schema.
        faults.extend(
            tolerance
                .found
                .map(|found| fault(tolerance.member, "another value, or none", found)),
        );
    }
    Some((read?, faults))
}

/// The result with what is to be read for a departure, if it has that.
fn tolerated(tolerance: &Tolerance, result: &OpenJson) -> Decoded<Option<OpenJson>> {
    let object = MessageHeader::from_slice(result.text().as_bytes())?.message();
    let found = object.get(&[tolerance.member])?.map(|value| value.text());
    let is_beside = match tolerance.beside {
        Some(member) => object.get(&[member])?.is_some(),
        None => true,
    };
    if found != tolerance.found || !is_beside {
        return Ok(None);
    }
    let edited = set(object.text().as_bytes(), &[tolerance.member], tolerance.read)?;
    mcp_adapters::mcp_wire::from_str(&edited).map(Some)
}

/// A fault in a member of a message or a result.
pub fn fault(member: &str, expected: &str, found: &str) -> Violation {
    Violation {
        path: Path::from_reversed(vec![Segment::Member(member.to_owned())]),
        expected: expected.to_owned(),
        found: found.to_owned(),
        schema: "#".to_owned(),
    }
}
