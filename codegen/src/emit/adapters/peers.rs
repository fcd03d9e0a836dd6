//! A peer of any revision: its messages as the hub's, and the hub's as its own.

use serde_json::{Value, json};

use super::input::AdaptersInput;
use crate::emit::messages::result_variants;
use crate::emit::names::ident;
use crate::emit::names::import;
use crate::emit::source;
use crate::error::EmitError;
use crate::model::{Model, TypeKind, TypeRef};
use crate::templates::render;

const TITLE: &str = "\
//! Messages from and for peers of every revision.
//!
//! Handlers are written against the hub's types; these functions are where other revisions come in. For a peer
//! that speaks the hub's revision they only decode and encode.
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

/// The file of the functions that read and write the messages of a peer.
pub(super) fn peers(input: &AdaptersInput<'_>, header: &str) -> Result<String, EmitError> {
    let sides = [("Client", "Server"), ("Server", "Client")].map(|sides| values(input.hub(), sides));
    let values = json!({"sides": sides});
    let functions = render("adapters/bodies/peers.rs", &values)?;
    let imports = [
        "pub use mcp_convert::peers::read_message;\n".to_owned(),
        import(&functions, "mcp_convert", &["Role", "peers"]),
        import(&functions, "mcp_wire", &["Batch", "Decoded", "Message", "RawJson"]),
        // The word is also one of the documentation.
        import(
            &functions,
            "crate",
            &OURS[..OURS.len() - usize::from(!functions.contains("hub::"))],
        ),
    ];
    Ok(source::file(header, [TITLE.to_owned(), imports.concat(), functions]))
}

/// What the functions of a side are made from.
fn values(hub: &Model, (side, other): (&str, &str)) -> Value {
    let (_, results) = hub.requests_of(other);
    let result = format!("hub::{results}");
    let found = variants(hub, &results);
    let by_method = found.as_ref().is_some_and(|(by_method, _)| *by_method);
    let decode = match by_method {
        true => format!("{result}::read"),
        // The hub has no such requests: their results are parts of other messages.
        false => "|_, result| result.decode().map(Some)".to_owned(),
    };
    json!({
        "side": side,
        "who": side.to_lowercase(),
        "message": format!("Message<{}>", parts(hub, side)),
        "result": result,
        "by_method": by_method,
        "decode": decode,
        "variants": found.map(|(_, variants)| variants),
    })
}

/// The requests and the notifications that a side may send.
fn parts(hub: &Model, side: &str) -> String {
    let part = |name: String| match hub.kind(&name) {
        Some(TypeKind::Methods(_)) => format!("hub::{name}"),
        _ => "mcp_wire::UnknownMethod".to_owned(),
    };
    let (requests, _) = hub.requests_of(side);
    format!("{}, {}", part(requests), part(format!("{side}Notification")))
}

/// Whether the method of a request decides which result of a union it has, and the variants of the union, each with an expression
/// for the name of its type.
fn variants(hub: &Model, union: &str) -> Option<(bool, Vec<Value>)> {
    let known = |ty: &TypeRef, variant: String| match ty {
        TypeRef::Named(name) => json!({"variant": variant, "name": format!("Some({name:?})")}),
        _ => json!({"variant": variant, "name": "None"}),
    };
    let unknown = |variant: String| json!({"variant": variant, "name": "None"});
    match hub.kind(union)? {
        TypeKind::Results(methods) => {
            let variants = result_variants(methods).into_iter();
            let variants = variants.map(|(ty, variant)| known(&ty, variant.to_string()));
            let other = hub.unknown_result(methods);
            let other = other.map(|variant| unknown(ident(&variant).to_string()));
            Some((true, variants.chain(other).collect()))
        }
        TypeKind::Union(union) => {
            let variants = union.variants.iter();
            let variants = variants.map(|variant| known(&variant.ty, ident(&variant.name).to_string()));
            let other = crate::emit::unions::unknown_variant(union);
            let other = other.map(|variant| unknown(variant.to_string()));
            Some((false, variants.chain(other).collect()))
        }
        _ => None,
    }
}
