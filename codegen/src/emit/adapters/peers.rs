//! Emits the functions that convert messages between the hub and a peer of any revision.

use serde_json::{Value, json};

use super::input::AdaptersInput;
use crate::emit::messages::variants_of_results;
use crate::emit::names::import;
use crate::emit::source;
use crate::error::EmitError;
use crate::model::{Model, TypeKind, TypeRef};
use crate::templates::render;

const TITLE: &str = "\
//! Messages from and for peers of every revision.
//!
//! Handlers are written against the hub's types. These functions convert messages from and to other revisions; for a
//! peer that speaks the hub's revision they only decode and encode.
";

const OURS: [&str; 8] = [
    "Conversion",
    "FromPeer",
    "FromResult",
    "Loss",
    "Revision",
    "Translated",
    "Unrepresentable",
    "hub",
];

/// Emits the file of the functions that read and write the messages of a peer.
pub(super) fn peers(input: &AdaptersInput<'_>, header: &str) -> Result<String, EmitError> {
    let sides = [("Client", "Server"), ("Server", "Client")].map(|sides| values(input.hub(), sides));
    let functions = render("adapters/bodies/peers.rs", json!({"sides": sides}))?;
    let imports = [
        "pub use mcp_convert::peers::read_message;\n".to_owned(),
        import(&functions, "mcp_convert", &["Role", "peers"]),
        import(
            &functions,
            "mcp_wire",
            &["Batch", "Decoded", "Message", "RawJson", "Reader"],
        ),
        import(&functions, "crate", &OURS),
    ];
    Ok(source::file(header, [TITLE.to_owned(), imports.concat(), functions]))
}

/// Returns the template's values for the functions of a side.
fn values(hub: &Model, (side, other): (&str, &str)) -> Value {
    let (_, results) = hub.requests_of(other);
    let variant = |(ty, variant): (Option<TypeRef>, String)| match ty {
        Some(TypeRef::Named(name)) => json!({"variant": variant, "name": name}),
        _ => json!({"variant": variant, "name": null}),
    };
    let variants = variants_of_results(hub, results);
    let variants = variants.map(|variants| Value::from_iter(variants.into_iter().map(variant)));
    json!({
        "side": side,
        "who": side.to_lowercase(),
        "message": message(hub, side),
        "result": format!("hub::{results}"),
        "by_method": matches!(hub.kind(results), Some(TypeKind::Results(_))),
        "variants": variants,
    })
}

/// Returns the type of the messages that a side may send.
fn message(hub: &Model, side: &str) -> String {
    let part = |name: &str| match hub.kind(name) {
        Some(TypeKind::Methods(_)) => format!("hub::{name}"),
        _ => "mcp_wire::UnknownMethod".to_owned(),
    };
    let (requests, _) = hub.requests_of(side);
    let notifications = format!("{side}Notification");
    format!("Message<{}, {}>", part(requests), part(&notifications))
}
