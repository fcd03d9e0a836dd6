//! A peer of any revision: its messages as the hub's, and the hub's as its own.

use std::collections::BTreeSet;

use super::input::{AdaptersInput, RevisionInput};
use super::names::mentions;
use crate::emit::messages::result_variants;
use crate::emit::source;
use crate::emit::tokens::ident;
use crate::model::{TypeKind, TypeRef};

const TITLE: &str = "\
//! Messages from and for peers of every revision.
//!
//! Handlers are written against the hub's types; these functions are where other revisions come in. For a peer
//! that speaks the hub's revision they only decode and encode.
";

/// The file of the functions that read and write the messages of a peer.
pub(super) fn peers(input: &AdaptersInput<'_>, header: &str) -> String {
    let Some(hub) = input.revision(input.hub) else {
        return source::file(header, [TITLE.to_owned()]);
    };
    let sides = ["Client", "Server"].into_iter();
    let functions: String = sides
        .map(|side| messages(hub, side) + &results(hub, side).unwrap_or_default())
        .collect();
    let import = |path: &str, names: &[&str]| {
        let used = names.iter().filter(|name| mentions(&functions, name));
        let used: BTreeSet<String> = used.map(|name| (*name).to_owned()).collect();
        source::import(path, &used)
    };
    let ours = [
        "Conversion",
        "FromPeer",
        "FromResult",
        "Loss",
        "Revision",
        "Translated",
        "Unrepresentable",
        "hub",
    ];
    let imports = [
        import("mcp_convert", &["Role", "peers"]),
        import("mcp_wire", &["Batch", "Decoded", "Message", "RawJson"]),
        import(
            "crate",
            if functions.contains("hub::") {
                &ours
            } else {
                &ours[..ours.len() - 1]
            },
        ),
    ];
    source::file(header, [TITLE.to_owned(), imports.concat(), functions])
}

fn messages(hub: &RevisionInput<'_>, side: &str) -> String {
    let who = side.to_lowercase();
    let message = format!("Message<{}>", parts(hub, side));
    format!(
        "\
/// Decodes what a {who} of revision `peer` sent, and converts it to messages of the hub.
///
/// # Errors
/// When the bytes aren't JSON, or a single message that isn't one of that revision. Other problems are part of the
/// result: a message that the hub can't represent, an element of a batch that isn't a message, an empty batch, and
/// a batch in a revision without batches.
pub fn {who}_message(
    peer: Revision,
    json: &[u8],
    conversion: Conversion,
) -> Decoded<Batch<Translated<{message}>>> {{
    peers::read_messages(peer, Role::{side}, json, conversion)
}}

/// Converts a message of the hub to revision `peer`, and encodes it as a {who} sends it.
#[must_use]
pub fn {who}_message_for(
    peer: Revision,
    message: &{message},
    conversion: Conversion,
) -> Translated<Vec<u8>> {{
    peers::encode_message(peer, Role::{side}, message, conversion)
}}

"
    )
}

fn results(hub: &RevisionInput<'_>, side: &str) -> Option<String> {
    let who = side.to_lowercase();
    let (_, results) = hub.model.requests_of(other(side));
    let (by_method, variants) = variants(hub, &results)?;
    let result = format!("hub::{results}");
    let decode = match by_method {
        true => format!("{result}::read"),
        // The hub has no such requests: their results are parts of other messages.
        false => "|_, result| result.decode().map(Some)".to_owned(),
    };
    let unless_hub = match by_method {
        true => "",
        false => "    if peer == Revision::HUB {\n        return Ok(None);\n    }\n",
    };
    let arms: String = variants
        .iter()
        .map(|(variant, name)| format!("        {result}::{variant}(_) => {name},\n"))
        .collect();
    Some(format!(
        "\
/// Decodes the result of `method` that a {who} of revision `peer` gave, and converts it to the hub; `None` if the
/// {who} has no such method.
///
/// # Errors
/// When it isn't a result of the method, or the hub can't represent it.
pub fn {who}_result(
    peer: Revision,
    method: &str,
    result: &RawJson,
    conversion: Conversion,
) -> Result<Option<FromResult<{result}>>, FromPeer> {{
{unless_hub}    peers::read_result(peer, Role::{side}, method, result, conversion, {decode})
}}

/// Converts a result of the hub to revision `peer`, and encodes it as a {who} gives it.
///
/// # Errors
/// When that revision can't represent it.
pub fn {who}_result_for(
    peer: Revision,
    result: &{result},
    conversion: Conversion,
) -> Result<(RawJson, Vec<Loss>), Unrepresentable> {{
    let name = match result {{
{arms}    }};
    peers::encode_result(peer, Role::{side}, name, result, conversion)
}}

"
    ))
}

/// The requests and the notifications that a side may send.
fn parts(hub: &RevisionInput<'_>, side: &str) -> String {
    let part = |name: String| match hub.model.types.get(&name).map(|ty| &ty.kind) {
        Some(TypeKind::Methods(_)) => format!("hub::{name}"),
        _ => "mcp_wire::UnknownMethod".to_owned(),
    };
    let (requests, _) = hub.model.requests_of(side);
    format!("{}, {}", part(requests), part(format!("{side}Notification")))
}

/// Whether the method of a request decides which result of a union it has, and the variants of the union, each with an expression
/// for the name of its type.
fn variants(hub: &RevisionInput<'_>, union: &str) -> Option<(bool, Vec<(String, String)>)> {
    let name = |ty: &TypeRef| match ty {
        TypeRef::Named(name) => format!("Some({name:?})"),
        _ => "None".to_owned(),
    };
    match &hub.model.types.get(union)?.kind {
        TypeKind::Results(methods) => {
            let known = result_variants(methods).into_iter();
            let known = known.map(|(ty, variant)| (variant.to_string(), name(&ty)));
            let unknown = hub.model.unknown_result(methods);
            let unknown = unknown.map(|variant| (ident(&variant).to_string(), "None".to_owned()));
            Some((true, known.chain(unknown).collect()))
        }
        TypeKind::Union(union) => {
            let known = union.variants.iter();
            let known = known.map(|variant| (ident(&variant.name).to_string(), name(&variant.ty)));
            let unknown = crate::emit::unions::unknown_variant(union);
            let unknown = unknown.map(|variant| (variant.to_string(), "None".to_owned()));
            Some((false, known.chain(unknown).collect()))
        }
        _ => None,
    }
}

fn other(side: &str) -> &'static str {
    if side == "Client" { "Server" } else { "Client" }
}
