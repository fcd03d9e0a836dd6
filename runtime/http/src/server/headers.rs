//! The headers of requests: media types, and the protocol's own.

use http::{HeaderMap, HeaderValue, StatusCode, header};
use mcp_adapters::{PeerTypes, Revision};

use super::rejection::Rejection;

pub(crate) const LAST_EVENT_ID: &str = "last-event-id";

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// Whether a client accepts a media type.
pub(crate) fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let general = media_type.split('/').next().unwrap_or_default();
    media_ranges(headers).any(|range| {
        let is_general = range
            .strip_suffix("/*")
            .is_some_and(|range| range.eq_ignore_ascii_case(general));
        range == "*/*" || is_general || range.eq_ignore_ascii_case(media_type)
    })
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

/// Refuses a body whose media type isn't JSON.
pub(crate) fn check_content_type(headers: &HeaderMap) -> Result<(), Rejection> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next()).unwrap_or_default();
    match essence.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Rejection::invalid(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "Unsupported media type: Content-Type must be application/json",
        )),
    }
}

/// The revision of a request: the negotiated one of its session, or the one that its header names.
pub(crate) fn check_revision(
    headers: &HeaderMap,
    negotiated: Option<Revision>,
    supported: &[Revision],
) -> Result<Revision, Rejection> {
    let value = match negotiated {
        Some(revision) => revision.facts().version_header.and_then(|header| headers.get(header)),
        None => version_value(headers, supported),
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

/// The value of the header that names the revision, whatever it is called in these.
fn version_value<'h>(headers: &'h HeaderMap, revisions: &[Revision]) -> Option<&'h HeaderValue> {
    let names = revisions.iter().filter_map(|revision| revision.facts().version_header);
    names.into_iter().find_map(|name| headers.get(name))
}

fn revision_named(value: &HeaderValue) -> Option<Revision> {
    value.to_str().ok()?.parse().ok()
}

/// The supported revision without sessions that the header names.
pub(crate) fn stateless_revision(headers: &HeaderMap, supported: &[Revision]) -> Option<Revision> {
    let named = revision_named(version_value(headers, supported)?)?;
    (named.is_stateless() && supported.contains(&named)).then_some(named)
}

/// The names that the header with a session's id has in these revisions.
pub(crate) fn session_headers(revisions: &[Revision]) -> Vec<&'static str> {
    let mut names: Vec<_> = revisions
        .iter()
        .filter_map(|revision| revision.facts().session_header)
        .collect();
    names.dedup();
    names
}

/// The revision of requests without the header: the first that has sessions over HTTP and doesn't have the header.
fn default_revision() -> Revision {
    let first = Revision::all().find(|revision| {
        let facts = revision.facts();
        facts.session_header.is_some() && facts.version_header.is_none()
    });
    first.unwrap_or(Revision::HUB)
}
