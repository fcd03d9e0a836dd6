//! The metadata of each request and each result.

use mcp_wire::path::Segment;
use mcp_wire::{MessageHeader, RawJson, Reader};

use super::object::{MemberReader, Object, text};
use super::{ClientDescription, META, PeerTypes, Read, SessionError};
use crate::loss::Loss;
use crate::supply::Supply;

/// The key of a [`Supply`] for the version that each request names.
pub const VERSION_KEY: &str = "meta.version";

/// Creates the metadata of each request: keys of `_meta` and their values.
///
/// # Errors
/// The revision can't represent it.
pub fn request_meta<R: PeerTypes>(
    revision: R,
    description: ClientDescription<R>,
) -> Result<Vec<(&'static str, RawJson)>, SessionError> {
    let lifecycle = revision.lifecycle();
    let mut object = Object::default();
    object.put(lifecycle.meta_version, Some(text(&description.version)));
    object.put_encoded(
        lifecycle.meta_capabilities,
        revision.client_capabilities(description.capabilities),
    )?;
    if let (Some(implementation), Some(_)) = (description.implementation, lifecycle.meta_client) {
        object.put_encoded(lifecycle.meta_client, revision.implementation(implementation))?;
    }
    object.put(
        lifecycle.meta_log_level,
        description.log_level.map(|level| text(&level)),
    );
    Ok(object.entries)
}

/// Creates the supply of values for the metadata of each request: the version, the capabilities and the client.
#[must_use]
pub fn supply(version: &str, capabilities: RawJson, client: Option<RawJson>) -> Supply {
    let client = client.map(|client| ("meta.client", client));
    let supplied = [(VERSION_KEY, text(version)), ("meta.capabilities", capabilities)];
    let supplied = supplied.into_iter().chain(client);
    supplied.map(|(role, json)| (role.to_owned(), json)).collect()
}

/// Adds the id that conversions supply to elicitations.
pub fn supply_elicitation(supply: &mut Supply, id: &str) {
    supply.insert("elicitation".to_owned(), text(id));
}

/// Returns the name of the revision in the `_meta` of a request, and the revision with this name, or else one that has
/// the same key in `_meta`. `None` without the key.
///
/// # Errors
/// The value is not a string.
pub fn version_in_meta<R: PeerTypes>(request: &MessageHeader<'_>) -> Result<Option<(R, String)>, SessionError> {
    if matches!(request.param(&[META]), Ok(None)) {
        return Ok(None);
    }
    for revision in R::revisions().rev() {
        let Some(key) = revision.lifecycle().meta_version else {
            continue;
        };
        match request.param(&[META, key]) {
            Ok(None) => {}
            Ok(Some(version)) => {
                let version = version.string().map_err(|_| SessionError::Missing(key))?.into_owned();
                let named = R::by_name(&version).filter(|named| named.is_stateless());
                return Ok(Some((named.unwrap_or(revision), version)));
            }
            Err(_) => return Err(SessionError::Missing(key)),
        }
    }
    Ok(None)
}

/// Returns a required key that the `_meta` of a request lacks.
#[must_use]
pub fn missing_key<R: PeerTypes>(revision: R, request: &MessageHeader<'_>) -> Option<&'static str> {
    let lifecycle = revision.lifecycle();
    let mut keys = [lifecycle.meta_version, lifecycle.meta_capabilities]
        .into_iter()
        .flatten();
    keys.find(|key| !matches!(request.param(&[META, key]), Ok(Some(_))))
}

/// Reads the metadata of a request.
///
/// # Errors
/// A key is missing or invalid.
pub fn read_request_meta<R: PeerTypes>(revision: R, request: &MessageHeader<'_>) -> Read<ClientDescription<R>> {
    let lifecycle = revision.lifecycle();
    if !matches!(request.param(&[META]), Ok(Some(_))) {
        return Err(SessionError::Missing(META));
    }
    let mut reader = MemberReader::new(|key| request.param(&[META, key]).ok()??.decode_as().ok());
    let version = reader.text(lifecycle.meta_version)?;
    let capabilities = reader.read(lifecycle.meta_capabilities, |json| {
        revision.read_client_capabilities(json)
    })?;
    let is_there = |key: &&'static str| matches!(request.param(&[META, key]), Ok(Some(_)));
    let implementation = lifecycle.meta_client.filter(is_there);
    let implementation = implementation.map(|key| reader.read(Some(key), |json| revision.read_implementation(json)));
    let log_level = lifecycle.meta_log_level.filter(is_there);
    let description = ClientDescription {
        version,
        capabilities,
        implementation: implementation.transpose()?,
        log_level: log_level.map(|key| reader.text(Some(key))).transpose()?,
    };
    Ok(reader.finish(description))
}

/// Whether a loss concerns the metadata of each request, which has been read already.
#[must_use]
pub fn is_in_request_meta<R: PeerTypes>(revision: R, loss: &Loss) -> bool {
    let lifecycle = revision.lifecycle();
    let keys = [
        lifecycle.meta_version,
        lifecycle.meta_capabilities,
        lifecycle.meta_client,
        lifecycle.meta_log_level,
        lifecycle.meta_server,
    ];
    let is_key = |segment: &Segment| matches!(segment, Segment::Member(name) if keys.contains(&Some(name)));
    let is_meta = |segment: &Segment| *segment == Segment::Member(META.to_owned());
    let mut pairs = loss.path.segments().windows(2);
    pairs.any(|pair| matches!(pair, [meta, key] if is_meta(meta) && is_key(key)))
}

/// Returns the member with the kind of a result, and the kind. `None` for the usual kind, and for a method with results
/// of several kinds: decoding distinguishes those.
#[must_use]
pub fn unusual_kind<R: PeerTypes>(
    revision: R,
    method: &str,
    result: &mut Reader<'_>,
) -> Option<(&'static str, String)> {
    let lifecycle = revision.lifecycle();
    let (member, usual) = (lifecycle.result_kind?, lifecycle.usual_kind(method)?);
    // The member comes early, and decoding refuses a duplicate one.
    let kind = result.peek_tag(member).ok()??;
    (kind != usual).then(|| (member, kind.into_owned()))
}
