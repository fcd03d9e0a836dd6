//! The errors that sessions send and read automatically.

use mcp_wire::serde_json::Value;
use mcp_wire::{ErrorObject, RawJson, error_code};

use super::PeerTypes;
use super::object::{Object, text};
use crate::lifecycle::ErrorRole;
use crate::negotiation::Mismatch;

/// Creates the error for a revision that isn't supported.
#[must_use]
pub fn unsupported<R: PeerTypes>(revision: R, mismatch: &Mismatch<R>) -> ErrorObject {
    let Some(known) = revision.known_error(ErrorRole::UnsupportedVersion) else {
        return mismatch.to_error();
    };
    let mut data = Object::default();
    let mut versions = mismatch.names();
    versions.retain(|version| revision.lifecycle().can_list(version));
    data.put(known.data.versions, RawJson::from_encode(&versions).ok());
    data.put(known.data.name, Some(text(&mismatch.requested)));
    ErrorObject::new(known.code, "Unsupported protocol version").with_data(data.finish().0)
}

/// Reads the supported revisions from the error for a revision that isn't supported. `None` for another error.
#[must_use]
pub fn supported_by_peer<R: PeerTypes>(error: &ErrorObject) -> Option<Vec<String>> {
    let mut known = R::revisions().filter_map(|revision| revision.known_error(ErrorRole::UnsupportedVersion));
    let known = known.find(|known| known.code == error.code)?;
    error.data.as_ref()?.get(known.data.versions?)?.parse().ok()
}

/// Reads the input requests in an error: their method, and the parameters of each. `None` for another error.
#[must_use]
pub fn input_requests_in_error<R: PeerTypes>(revision: R, error: &ErrorObject) -> Option<(&'static str, Vec<RawJson>)> {
    let known = revision.known_error(ErrorRole::InputRequired)?;
    let asks = known.asks.filter(|_| known.code == error.code)?;
    let params: Vec<Value> = error.data.as_ref()?.get(asks.params)?.parse().ok()?;
    Some((asks.method, params.into_iter().map(RawJson::from).collect()))
}

/// Creates the error for a request that needs a capability of the client. `capability` is the path of a member in the
/// capabilities.
#[must_use]
pub fn missing_capability<R: PeerTypes>(revision: R, capability: &str, message: String) -> ErrorObject {
    let Some(known) = revision.known_error(ErrorRole::MissingCapability) else {
        return ErrorObject::new(error_code::INVALID_PARAMS, message);
    };
    let nested = capability
        .rsplit('.')
        .fold("{}".to_owned(), |inner, member| format!("{{{}:{inner}}}", text(member)));
    let mut data = Object::default();
    data.put(known.data.capabilities, mcp_wire::from_str(&nested).ok());
    ErrorObject::new(known.code, message).with_data(data.finish().0)
}
