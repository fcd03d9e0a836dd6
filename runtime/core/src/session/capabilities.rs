//! The capabilities that both sides declare, and checks of those that requests and notifications need.

use mcp_adapters::mcp_wire::{ErrorObject, JsonType, MessageHeader, Method, RawJson, error_code};
use mcp_adapters::{Need, Revision, hub};
use serde_json::Value;

use super::negotiated::{Negotiated, PeerInfo};
use super::state::{SessionState, method};
use crate::error::{CallError, invalid_params};
use crate::message::to_value;
use crate::side::Side;

impl<S: Side> SessionState<S> {
    /// Checks that the peer can receive requests, which it can't if the session ends with the response to its request.
    pub fn check_session(&self, negotiated: &Negotiated, name: &str) -> Result<(), CallError> {
        match !negotiated.is_stateless() && self.sender.ends_with_response() {
            true => Err(CallError::NoSession(name.to_owned())),
            false => Ok(()),
        }
    }

    /// Checks that the peer can receive a call, and has declared the capability that the call needs. Before the
    /// handshake, every call is allowed.
    pub fn check_call(&self, negotiated: &Negotiated, name: &str) -> Result<(), CallError> {
        self.check_session(negotiated, name)?;
        let (Some(info), Some(entry)) = (&negotiated.info, method::<S>(negotiated.revision, name, false)) else {
            return Ok(());
        };
        match missing(&info.capabilities, negotiated.revision, entry) {
            Some(capability) => Err(not_offered(negotiated, name, capability)),
            None => Ok(()),
        }
    }

    /// Checks that the peer has declared the capabilities that the parameters of a call need.
    pub fn check_call_params(&self, negotiated: &Negotiated, method: &str, request: &[u8]) -> Result<(), CallError> {
        let needs = negotiated.revision.needs(method);
        let Some(info) = negotiated.info.as_ref().filter(|_| !needs.is_empty()) else {
            return Ok(());
        };
        let unreadable = |error: mcp_wire::DecodeError| CallError::Unrepresentable(error.to_string());
        let header = MessageHeader::from_slice(request).map_err(unreadable)?;
        match unmet(&info.capabilities, (negotiated.revision, method), &header) {
            Some(need) => Err(not_offered(negotiated, method, need.capability)),
            None => Ok(()),
        }
    }

    /// Checks that this side has declared the capability that a notification to the peer needs.
    pub fn check_notification(&self, negotiated: &Negotiated, name: &str) -> Result<(), CallError> {
        let entry = method::<S>(negotiated.revision, name, false);
        match entry.and_then(|entry| missing(&self.own_capabilities, negotiated.revision, entry)) {
            Some(capability) => Err(CallError::NotDeclared {
                method: name.to_owned(),
                capability,
            }),
            None => Ok(()),
        }
    }

    /// Whether the peer has declared the capability that its notification needs.
    pub fn peer_declares(&self, negotiated: &Negotiated, name: &str) -> bool {
        let entry = method::<S>(negotiated.revision, name, true);
        let info = negotiated.info.as_ref();
        let is_declared = |info: &PeerInfo, entry| missing(&info.capabilities, negotiated.revision, entry).is_none();
        entry.is_some_and(|entry| info.is_none_or(|info| is_declared(info, entry)))
    }

    /// Checks that this side has declared the capability that a request of the peer needs.
    pub fn check_request(&self, negotiated: &Negotiated, name: &str) -> Result<(), ErrorObject> {
        let entry = method::<S>(negotiated.revision, name, true);
        match entry.and_then(|entry| missing(&self.own_capabilities, negotiated.revision, entry)) {
            Some(capability) => {
                let what = format!("this side doesn't offer `{capability}`, which {name} needs");
                Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, what))
            }
            None => Ok(()),
        }
    }

    /// Checks that this side has declared the capabilities that the parameters of a request of the peer need.
    pub fn check_request_params(
        &self,
        negotiated: &Negotiated,
        method: &str,
        request: &MessageHeader<'_>,
    ) -> Result<(), ErrorObject> {
        let revision = negotiated.revision;
        if revision.needs(method).is_empty() || negotiated.info.is_none() {
            return Ok(());
        }
        // A request that only this side may send gets the error of an unknown method.
        if self::method::<S>(revision, method, true).is_none() {
            return Ok(());
        }
        match unmet(&self.own_capabilities, (revision, method), request) {
            // A method that this side does not offer gets its own error.
            Some(_) if self.check_request(negotiated, method).is_err() => Ok(()),
            Some(Need { member, capability, .. }) => {
                let what = format!("this side doesn't offer `{capability}`, which `{member}` of {method} needs");
                Err(invalid_params(what))
            }
            None => Ok(()),
        }
    }
}

fn not_offered(negotiated: &Negotiated, method: &str, capability: &'static str) -> CallError {
    CallError::NotOffered {
        method: method.to_owned(),
        capability,
        revision: negotiated.revision,
    }
}

/// Returns the capability that a method of a revision needs, if `capabilities`, which are in the form of the hub, lack
/// it.
pub fn missing(capabilities: &Value, revision: Revision, method: &Method) -> Option<&'static str> {
    let capability = method.capability?;
    let place = place_in_hub(revision, method).unwrap_or(capability);
    is_absent(capabilities, place).then_some(capability)
}

/// Returns the path in the hub of the capability that a method of a revision needs.
fn place_in_hub(revision: Revision, method: &Method) -> Option<&'static str> {
    let renamed = || Revision::HUB.method(Revision::HUB.name_of_method(revision, method.name));
    Revision::HUB.method(method.name).or_else(renamed)?.capability
}

fn is_absent(capabilities: &Value, place: &str) -> bool {
    matches!(at(capabilities, place), None | Some(Value::Null | Value::Bool(false)))
}

/// Returns the first need of a request that `capabilities`, which are in the form of the hub, don't meet.
fn unmet(
    capabilities: &Value,
    (revision, method): (Revision, &str),
    request: &MessageHeader<'_>,
) -> Option<&'static Need> {
    let needs = revision.needs(method);
    let in_hub = Revision::HUB.needs(Revision::HUB.name_of_method(revision, method));
    let mut places = in_hub.iter().map(|need| need.capability);
    let mut needs = needs
        .iter()
        .map(|need| (need, places.next().unwrap_or(need.capability)));
    let unmet = needs.find(|(need, place)| {
        has_need(request, need)
            && is_absent(capabilities, place)
            && !(need.or_empty && is_offered_by_empty(capabilities, place))
    });
    unmet.map(|(need, _)| need)
}

/// Whether the object around a capability is empty, which declares that capability.
fn is_offered_by_empty(capabilities: &Value, place: &str) -> bool {
    let around = place.rsplit_once('.').and_then(|(around, _)| at(capabilities, around));
    let members = around.and_then(Value::as_object);
    members.is_some_and(|members| members.values().all(Value::is_null))
}

/// Returns the member at a path.
fn at<'v>(value: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(value, |at, member| at.get(member))
}

/// Whether a request has the parameter that needs a capability. Parameters that can't be decoded count as having it.
fn has_need(request: &MessageHeader<'_>, need: &Need) -> bool {
    let Ok(found) = request.param(&[need.member]) else {
        return true;
    };
    let found = found.filter(|found| found.json_type() != JsonType::Null);
    let is = |value: &str| match &found {
        Some(found) if found.json_type() == JsonType::String => found.string().map(|found| found == value).ok(),
        _ => Some(false),
    };
    match (need.value, need.other_than) {
        (Some(value), _) => is(value).unwrap_or(true),
        (None, Some(value)) => !is(value).unwrap_or(false),
        (None, None) => found.is_some(),
    }
}

/// Capabilities of a server that only clients of one revision see.
pub type ExtraCapabilities = (Revision, Value);

/// Merges `extra` into the capabilities of a server.
pub fn with_extra(
    capabilities: &hub::ServerCapabilities,
    extra: impl IntoIterator<Item = Value>,
) -> hub::ServerCapabilities {
    let mut extra = extra.into_iter().peekable();
    if extra.peek().is_none() {
        return capabilities.clone();
    }
    let mut merged = to_value(capabilities);
    for capabilities in extra {
        merge(&mut merged, &capabilities);
    }
    RawJson::from(merged)
        .decode_as()
        .unwrap_or_else(|_| capabilities.clone())
}

/// Returns the capabilities of a server without those for change notifications, such as `tools.listChanged`.
pub fn without_changes(capabilities: &hub::ServerCapabilities) -> hub::ServerCapabilities {
    let mut kept = to_value(capabilities);
    let notifications = Revision::HUB.methods().iter().filter(|method| !method.is_request());
    // Only nested capabilities are for changes: a top-level one, such as that of log messages, is independent.
    for (around, member) in notifications.filter_map(|method| method.capability?.rsplit_once('.')) {
        let around = kept.pointer_mut(&format!("/{}", around.replace('.', "/")));
        if let Some(Value::Object(members)) = around {
            members.remove(member);
        }
    }
    RawJson::from(kept).decode_as().unwrap_or_default()
}

/// Adds the members of `from` that `into` lacks, recursively.
fn merge(into: &mut Value, from: &Value) {
    let (Value::Object(into), Value::Object(from)) = (into, from) else {
        return;
    };
    for (member, value) in from {
        match into.get_mut(member) {
            Some(known) => merge(known, value),
            None => {
                into.insert(member.clone(), value.clone());
            }
        }
    }
}
