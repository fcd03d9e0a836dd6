//! The headers of requests: media types, and the protocol's own.

use std::ops::Deref;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::mirrors::header_name;

use super::rejection::Rejection;

pub(crate) const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Whether a client accepts a media type.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let [accepted] = accepted(headers, [media_type]);
    accepted
}

/// Whether a client accepts each of these media types.
pub(crate) fn accepted<const N: usize>(headers: &HeaderMap, media_types: [&str; N]) -> [bool; N] {
    let mut accepted = [false; N];
    for range in media_ranges(headers) {
        for (accepted, media_type) in accepted.iter_mut().zip(media_types) {
            *accepted |= has(range, media_type);
        }
    }
    accepted
}

/// Whether a media range includes a media type.
fn has(range: &str, media_type: &str) -> bool {
    let is_general = |range: &str| {
        let general = media_type.split('/').next();
        general.is_some_and(|general| range.eq_ignore_ascii_case(general))
    };
    range.eq_ignore_ascii_case(media_type) || range == "*/*" || range.strip_suffix("/*").is_some_and(is_general)
}

/// The media ranges of `Accept`, without those of quality 0.
fn media_ranges(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let range = parts.next()?;
        let never = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        (!never).then_some(range)
    })
}

/// The rejection of a client that accepts none of these media types.
pub(crate) fn not_acceptable(media_types: &[&str]) -> Rejection {
    let message = format!("Not acceptable: the client must accept {}", media_types.join(" or "));
    Rejection::invalid(StatusCode::NOT_ACCEPTABLE, message)
}

/// Refuses a body that isn't plain JSON by its headers.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Rejection> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    let refusal = if !essence.trim().eq_ignore_ascii_case("application/json") {
        "Unsupported media type: Content-Type must be application/json"
    } else if !headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        "Unsupported content encoding: the body must not be compressed"
    } else {
        return Ok(());
    };
    Err(Rejection::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, refusal))
}

/// The revision of a request: the negotiated one of its session, or the one that its header names.
pub(crate) fn check_revision(
    headers: &HeaderMap,
    negotiated: Option<Revision>,
    supported: &SupportedRevisions,
) -> Result<Revision, Rejection> {
    let value = match negotiated {
        Some(revision) => revision.facts().version_header.and_then(|header| headers.get(header)),
        None => supported.version_value(headers),
    };
    let Some(value) = value else {
        return Ok(negotiated.unwrap_or_else(default_revision));
    };
    match revision_named(value).filter(|revision| supported.contains(revision)) {
        Some(named) => Ok(negotiated.unwrap_or(named)),
        None => {
            let supported: Vec<&str> = supported.iter().map(|revision| revision.as_str()).collect();
            let message = format!("Unsupported protocol version; supported are {}", supported.join(", "));
            Err(Rejection::bad_request(message))
        }
    }
}

fn revision_named(value: &HeaderValue) -> Option<Revision> {
    value.to_str().ok()?.parse().ok()
}

/// The supported revision without sessions that the header names.
pub(crate) fn stateless_revision(headers: &HeaderMap, supported: &SupportedRevisions) -> Option<Revision> {
    let named = revision_named(supported.version_value(headers)?)?;
    (named.is_stateless() && supported.contains(&named)).then_some(named)
}

/// The revisions that a server supports, and the names of their headers.
#[derive(Debug, Clone)]
pub(crate) struct SupportedRevisions {
    revisions: Vec<Revision>,
    /// The names of the header with the revision.
    version_headers: Vec<HeaderName>,
    /// The names of the header with a session's id.
    pub(crate) session_headers: Vec<HeaderName>,
}

impl SupportedRevisions {
    /// The value of the header that names the revision, under any of its names.
    fn version_value<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        self.version_headers.iter().find_map(|name| headers.get(name))
    }
}

impl From<Vec<Revision>> for SupportedRevisions {
    fn from(revisions: Vec<Revision>) -> Self {
        let facts = || revisions.iter().map(|revision| revision.facts());
        Self {
            version_headers: names(facts().filter_map(|facts| facts.version_header)),
            session_headers: names(facts().filter_map(|facts| facts.session_header)),
            revisions,
        }
    }
}

/// The names of headers, without repetitions.
fn names(names: impl Iterator<Item = &'static str>) -> Vec<HeaderName> {
    let mut names: Vec<_> = names.filter_map(header_name).collect();
    names.dedup();
    names
}

impl Deref for SupportedRevisions {
    type Target = [Revision];

    fn deref(&self) -> &[Revision] {
        &self.revisions
    }
}

/// The revision of requests without the version header: the first one that has sessions over Streamable HTTP, but not
/// this header.
fn default_revision() -> Revision {
    let first = Revision::all().find(|revision| {
        let facts = revision.facts();
        facts.session_header.is_some() && facts.version_header.is_none()
    });
    first.unwrap_or(Revision::HUB)
}
