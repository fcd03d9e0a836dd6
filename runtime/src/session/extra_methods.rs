//! Methods of a server that only one revision has, and the capabilities that clients of this revision see for them.

use mcp_adapters::mcp_wire::OpenJson;
use mcp_adapters::{PeerTypes, Revision, hub};
use serde_json::{Map, Value, json};

/// A method of a server that only one revision has.
#[derive(Debug, Clone)]
pub struct ExtraMethod {
    pub revision: Revision,
    pub name: &'static str,
    /// The capability that it needs, as a member of a server's capabilities.
    capability: Option<Value>,
}

/// Why a server can't have a method of one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoExtraMethod {
    #[error("clients of the revision don't call it")]
    NotCalled,
    #[error("sessions answer it by themselves")]
    Internal,
    #[error("the handlers for clients of every revision answer it")]
    OfHub,
}

impl ExtraMethod {
    pub fn new(revision: Revision, name: &str) -> Result<Self, NoExtraMethod> {
        let method = revision.method(name).ok_or(NoExtraMethod::NotCalled)?;
        if !method.direction.from_client() {
            return Err(NoExtraMethod::NotCalled);
        }
        let lifecycle = revision.lifecycle();
        let internal = [
            lifecycle.begin,
            lifecycle.discover,
            lifecycle.listen,
            lifecycle.ping,
            lifecycle.set_level,
            lifecycle.subscribe,
            lifecycle.unsubscribe,
        ];
        if internal.contains(&Some(name)) {
            return Err(NoExtraMethod::Internal);
        }
        if Revision::HUB.method(name).is_some() {
            return Err(NoExtraMethod::OfHub);
        }
        Ok(Self {
            revision,
            name: method.name,
            capability: method.capability.and_then(|path| capability(revision, path)),
        })
    }
}

/// The capabilities of a server with those of its extra methods.
pub fn with_extra<'m>(
    capabilities: &hub::ServerCapabilities,
    methods: impl Iterator<Item = &'m ExtraMethod>,
) -> hub::ServerCapabilities {
    let mut merged = serde_json::to_value(capabilities).unwrap_or_default();
    for capability in methods.filter_map(|method| method.capability.as_ref()) {
        merge(&mut merged, capability);
    }
    OpenJson::from(merged)
        .decode_as()
        .unwrap_or_else(|_| capabilities.clone())
}

/// The capabilities that have only the member at a path. Its value is an empty object, or `true` if the revision wants that.
fn capability(revision: Revision, path: &str) -> Option<Value> {
    let nested = |value| path.rsplit('.').fold(value, |inner, member| json!({ member: inner }));
    let values = [Value::from(Map::new()), Value::Bool(true)].map(nested);
    values
        .into_iter()
        .find(|capabilities| revision.read_server_capabilities(&capabilities.into()).is_ok())
}

/// Adds the members that an object lacks.
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
