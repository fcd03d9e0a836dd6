//! Headers of HTTP requests that repeat parts of the body, for both sides.
//!
//! Each revision defines its headers: [`Mirrors`](mcp_adapters::Mirrors).
//!
//! <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

mod arguments;
mod value;

use std::borrow::Cow;

use http::HeaderMap;
use http::HeaderName;
use mcp_adapters::mcp_wire::{Extension, MessageHeader};
use mcp_adapters::{PeerTypes, Revision, session_messages};

pub use self::arguments::{ArgumentHeader, argument_headers};
pub use self::value::encode;

/// Returns the headers that repeat parts of a message, with their values, except those that repeat arguments.
pub fn mirrored<'a>(revision: Revision, message: &MessageHeader<'a>) -> Vec<(&'static str, Cow<'a, str>)> {
    let facts = revision.facts();
    let mut headers = Vec::new();
    if let Some(header) = facts.version_header.filter(|_| revision.is_stateless()) {
        let named = session_messages::version_in_meta::<Revision>(message).ok().flatten();
        let version = named.map_or(Cow::Borrowed(revision.as_str()), |(_, version)| version.into());
        headers.push((header, version));
    }
    let Some(method) = message.method() else {
        return headers;
    };
    let params = facts.mirrors.params.iter().filter(|param| param.method == method);
    // The handler of the request refuses a parameter of another type.
    let text = |name: &str| message.param(&[name]).ok()??.string().ok();
    let params = params.filter_map(|param| Some((param.header, text(param.parameter)?)));
    let method = facts.mirrors.method.map(|header| (header, method.clone()));
    headers.extend(method.into_iter().chain(params));
    headers
}

/// Returns the headers that repeat parts of a message of an extension, with their values, if the revision has such
/// headers.
pub fn of_extension<'a>(
    extension: &Extension,
    revision: Revision,
    message: &MessageHeader<'a>,
) -> impl Iterator<Item = (&'static str, Cow<'a, str>)> {
    let method = revision.facts().mirrors.method.and_then(|_| message.method());
    let headers = extension.headers.iter();
    headers.filter_map(move |repeated| {
        let text = message.param(&[repeated.parameter]);
        let text = text.ok()??.string().ok()?;
        (method.as_deref() == Some(repeated.method)).then_some((repeated.header, text))
    })
}

/// Compares the headers of a request with those that its message requires.
///
/// # Errors
/// When a header is absent, malformed or has another value: describes the first such header.
pub fn check(mirrored: &[(&'static str, Cow<'_, str>)], headers: &HeaderMap) -> Result<(), String> {
    for (name, expected) in mirrored {
        match only_value(headers, name)? {
            None => return Err(format!("The header {name} is required")),
            Some(text) if text != *expected => {
                return Err(format!("The header {name} is {text:?}, but must be {expected:?}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Returns the text of a header that may occur only once.
fn only_value<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<Cow<'h, str>>, String> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(format!("The header {name} occurs twice"));
    }
    let text = value::decode(value).ok_or_else(|| format!("The header {name} is malformed"))?;
    Ok(Some(text))
}

/// Parses the name of a header.
pub fn header_name(name: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(name.as_bytes()).ok()
}
