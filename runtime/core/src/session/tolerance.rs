//! Corrections of tolerated violations in the peer's responses.

use mcp_adapters::mcp_wire::json_schema::{Violation, ViolationKind};
use mcp_adapters::mcp_wire::path::{Path, Segment};
use mcp_adapters::mcp_wire::{DecodeError, JsonType, MessageHeader, RawJson, Reader};
use mcp_adapters::{Revision, Tolerance};

use super::json_edit::set_member;
use super::negotiated::Negotiated;
use crate::error::CallError;

/// The maximum number of entries that are left out of a list.
const LEFT_OUT: usize = 64;
/// The maximum number of bytes that are read again to leave out entries. A peer could otherwise have a list of the maximum
/// size read for each of them.
const READ_AGAIN: usize = 64 * 1024 * 1024;

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
        let Some(edited) = tolerance
            .read
            .and_then(|read| with_member(current, tolerance.member, read))
        else {
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

/// Decodes a result. The entries of a list that can't be read are left out, if that is tolerated.
///
/// # Errors
/// When the rest of the result can't be read, or too many entries.
pub fn read_tolerantly<T, E>(
    (negotiated, method): (&Negotiated, &str),
    result: &RawJson,
    read: impl Fn(&RawJson) -> Result<T, E>,
    cause: impl Fn(&E) -> Option<&DecodeError>,
) -> Result<T, E> {
    let limit = LEFT_OUT.min(READ_AGAIN / result.text().len().max(1));
    let (mut rest, mut left_out) = (None, Vec::new());
    let read = loop {
        let result = rest.as_ref().unwrap_or(result);
        let error = match read(result) {
            Ok(read) => break read,
            Err(error) if left_out.len() == limit => return Err(error),
            Err(error) => error,
        };
        let tolerances = negotiated.revision.tolerances(method);
        match cause(&error).and_then(|cause| without_entry(tolerances, result, cause, &left_out)) {
            Some((shorter, entry)) => (rest, _) = (Some(shorter), left_out.push(entry)),
            None => return Err(error),
        }
    };
    if !left_out.is_empty() {
        let peer = negotiated.info.as_ref().and_then(|info| info.implementation.as_ref());
        let entries: Vec<_> = left_out.into_iter().map(|entry| entry.described).collect();
        let (peer, entries) = (peer.map(|peer| &*peer.name), entries.join("; "));
        tracing::warn!(
            peer,
            method,
            entries,
            "entries of a list can't be read, and are left out"
        );
    }
    Ok(read)
}

/// An entry of a list that was left out.
struct LeftOut {
    /// The member that is the list.
    list: String,
    /// The index in the list that the peer has sent.
    index: usize,
    /// Its name if it can be read, its place, and the reason.
    described: String,
}

/// Removes the entry of a list that can't be read. `earlier` are the entries that have been removed before.
fn without_entry(
    tolerances: &[Tolerance],
    result: &RawJson,
    cause: &DecodeError,
    earlier: &[LeftOut],
) -> Option<(RawJson, LeftOut)> {
    let path = cause.path();
    let [Segment::Member(member), Segment::Index(index), inside @ ..] = path.segments() else {
        return None;
    };
    let is_left_out = |tolerance: &Tolerance| tolerance.member == member && tolerance.read.is_none();
    tolerances.iter().find(|tolerance| is_left_out(tolerance))?;
    let mut entries: Vec<RawJson> = result.get(member)?.decode_as().ok()?;
    let entry = (*index < entries.len()).then(|| entries.remove(*index))?;
    let name: Option<String> = entry.get("name").and_then(|name| name.parse().ok());
    let removed = earlier.iter().filter(|entry| entry.list == *member);
    let mut removed: Vec<_> = removed.map(|entry| entry.index).collect();
    removed.sort_unstable();
    let index = removed
        .iter()
        .fold(*index, |index, removed| index + usize::from(*removed <= index));
    let place = [Segment::Member(member.clone()), Segment::Index(index)];
    let place = Path::from_reversed(place.iter().chain(inside).rev().cloned().collect());
    let reason = format!("`{place}`: {}", cause.reason());
    let left_out = LeftOut {
        list: member.clone(),
        index,
        described: match name {
            Some(name) => format!("{name:?} ({reason})"),
            None => reason,
        },
    };
    let entries = RawJson::from_encode(&entries).ok()?;
    Some((with_member(result.text(), member, entries.text())?, left_out))
}

fn with_member(result: &str, member: &str, json: &str) -> Option<RawJson> {
    mcp_wire::from_slice(&set_member(result.into(), &[member], json).ok()?).ok()
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
        tolerance.read.is_some()
            && values(tolerance.member) == Vec::from_iter(tolerance.found)
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

#[cfg(test)]
mod tests {
    use mcp_adapters::hub::ListToolsResult;
    use mcp_adapters::mcp_wire::from_str;

    use super::*;

    #[test]
    fn an_entry_is_described_with_its_place_in_the_list_that_the_peer_has_sent() {
        let list = r#"{"tools":[5,{"name":"a","inputSchema":{"type":"object"}},{"name":"b"},{"name":"c"},null]}"#;
        let with_tolerance = Revision::all().find(|revision| !revision.tolerances("tools/list").is_empty());
        let tolerances = with_tolerance.unwrap().tolerances("tools/list");
        let (mut rest, mut left_out): (RawJson, Vec<LeftOut>) = (from_str(list).unwrap(), Vec::new());
        while let Err(error) = rest.decode_as::<ListToolsResult>() {
            let Some((shorter, entry)) = without_entry(tolerances, &rest, &error, &left_out) else {
                break;
            };
            (rest, _) = (shorter, left_out.push(entry));
        }
        let mut described: Vec<_> = left_out.into_iter().map(|entry| entry.described).collect();
        described.sort();
        assert_eq!(
            described,
            [
                r#""b" (`tools[2].inputSchema`: expected a required member, found nothing)"#,
                r#""c" (`tools[3].inputSchema`: expected a required member, found nothing)"#,
                "`tools[0]`: expected an object, found a number",
                "`tools[4]`: expected an object, found null",
            ]
        );
    }
}
