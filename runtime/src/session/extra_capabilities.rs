//! What a server declares to clients of one revision besides the capabilities that the hub has.

use mcp_adapters::mcp_wire::OpenJson;
use mcp_adapters::{Revision, hub};
use serde_json::Value;

/// Capabilities of a server that only clients of one revision see.
pub type ExtraCapabilities = (Revision, Value);

/// The capabilities of a server with those of `extra`.
pub fn with_extra<'e>(
    capabilities: &hub::ServerCapabilities,
    extra: impl Iterator<Item = &'e ExtraCapabilities>,
) -> hub::ServerCapabilities {
    let mut merged = serde_json::to_value(capabilities).unwrap_or_default();
    for (_, capabilities) in extra {
        merge(&mut merged, capabilities);
    }
    OpenJson::from(merged)
        .decode_as()
        .unwrap_or_else(|_| capabilities.clone())
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
