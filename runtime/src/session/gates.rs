//! What each side may ask and tell the other, by the capabilities that were declared when the session began.

use mcp_adapters::Need;
use mcp_adapters::mcp_wire::{ErrorObject, Kind, MessageHeader, error_code};
use serde_json::Value;

use super::shared::Shared;
use crate::error::CallError;
use crate::side::Side;

impl<S: Side> Shared<S> {
    /// Whether the peer offers what a method needs. Until it has said what it offers, anything may be asked.
    pub fn may_ask(&self, method: &str) -> Result<(), CallError> {
        let (Some(info), Some(line)) = (self.info(), self.method(method, false)) else {
            return Ok(());
        };
        match missing(&info.capabilities, line.capability) {
            Some(capability) => Err(not_offered(method, capability)),
            None => Ok(()),
        }
    }

    /// Whether the peer offers what a request needs for what it says.
    pub fn may_ask_this(&self, method: &str, request: &[u8]) -> Result<(), CallError> {
        let needs = self.spoken().needs(method);
        let Some(info) = self.info().filter(|_| !needs.is_empty()) else {
            return Ok(());
        };
        let unreadable = |error: mcp_adapters::mcp_wire::DecodeError| CallError::Unrepresentable(error.to_string());
        let header = MessageHeader::from_slice(request).map_err(unreadable)?;
        match unmet(&info.capabilities, needs, &header) {
            Some(need) => Err(not_offered(method, need.capability)),
            None => Ok(()),
        }
    }

    /// Whether this side has declared what a notification needs.
    pub fn may_tell(&self, method: &str) -> Result<(), CallError> {
        let line = self.method(method, false);
        match line.and_then(|line| missing(&self.own_capabilities, line.capability)) {
            Some(capability) => Err(CallError::NotDeclared {
                method: method.to_owned(),
                capability,
            }),
            None => Ok(()),
        }
    }

    /// Whether this side has declared what a request of the peer needs.
    pub fn may_be_asked(&self, method: &str) -> Result<(), ErrorObject> {
        let line = self.method(method, true);
        match line.and_then(|line| missing(&self.own_capabilities, line.capability)) {
            Some(capability) => {
                let what = format!("this side doesn't offer `{capability}`, which {method} needs");
                Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, what))
            }
            None => Ok(()),
        }
    }

    /// Whether this side has declared what a request of the peer needs for what it says.
    pub fn may_be_asked_this(&self, method: &str, request: &MessageHeader<'_>) -> Result<(), ErrorObject> {
        let needs = self.spoken().needs(method);
        // Whether the method can be called at all is another question, and told first.
        if needs.is_empty() || self.revision().is_none() || self.may_be_asked(method).is_err() {
            return Ok(());
        }
        match unmet(&self.own_capabilities, needs, request) {
            Some(Need { member, capability, .. }) => {
                let what = format!("this side doesn't offer `{capability}`, which `{member}` of {method} needs");
                Err(ErrorObject::new(error_code::INVALID_PARAMS, what))
            }
            None => Ok(()),
        }
    }
}

fn not_offered(method: &str, capability: &'static str) -> CallError {
    CallError::NotOffered {
        method: method.to_owned(),
        capability,
    }
}

/// The capability, if `capabilities` don't have it.
fn missing(capabilities: &Value, capability: Option<&'static str>) -> Option<&'static str> {
    let capability = capability?;
    let offered = capability
        .split('.')
        .try_fold(capabilities, |at, member| at.get(member));
    matches!(offered, None | Some(Value::Null | Value::Bool(false))).then_some(capability)
}

/// What a request needs and `capabilities` don't have.
fn unmet(capabilities: &Value, needs: &'static [Need], request: &MessageHeader<'_>) -> Option<&'static Need> {
    let mut needs = needs.iter().filter(|need| asks_for(request, need));
    needs.find(|need| missing(capabilities, Some(need.capability)).is_some())
}

/// Whether a request says what needs a capability. One that can't be read may say so.
fn asks_for(request: &MessageHeader<'_>, need: &Need) -> bool {
    let found = match request.param(&[need.member]) {
        Ok(Some(found)) => found,
        Ok(None) => return false,
        Err(_) => return true,
    };
    match (found.kind(), need.value) {
        (Kind::Null, _) => false,
        (_, None) => true,
        (Kind::String, Some(value)) => found.string().map_or(true, |found| found == value),
        (_, Some(_)) => false,
    }
}
