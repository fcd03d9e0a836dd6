//! What a server declares besides the capabilities that its handler has, or without them.

use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Revision, hub};
use serde::Serialize;
use serde_json::Value;

/// Capabilities of a server that only clients of one revision see.
pub type ExtraCapabilities = (Revision, Value);

/// The capabilities of a server with those of `extra`.
pub fn with_extra<C: Serialize>(
    capabilities: &hub::ServerCapabilities,
    extra: impl IntoIterator<Item = C>,
) -> hub::ServerCapabilities {
    let mut extra = extra.into_iter().peekable();
    if extra.peek().is_none() {
        return capabilities.clone();
    }
    let mut merged = serde_json::to_value(capabilities).unwrap_or_default();
    for capabilities in extra {
        merge(&mut merged, &serde_json::to_value(capabilities).unwrap_or_default());
    }
    RawJson::from(merged)
        .decode_as()
        .unwrap_or_else(|_| capabilities.clone())
}

/// The capabilities of a server without those to notify of changes, such as `tools.listChanged`.
pub fn without_changes(capabilities: &hub::ServerCapabilities) -> hub::ServerCapabilities {
    let mut kept = serde_json::to_value(capabilities).unwrap_or_default();
    let notifications = Revision::HUB.methods().iter().filter(|method| !method.is_request());
    // A capability of its own, such as that of log messages, isn't one to notify of changes of what another offers.
    for (around, member) in notifications.filter_map(|method| method.capability?.rsplit_once('.')) {
        let around = kept.pointer_mut(&format!("/{}", around.replace('.', "/")));
        if let Some(Value::Object(members)) = around {
            members.remove(member);
        }
    }
    RawJson::from(kept).decode_as().unwrap_or_default()
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
