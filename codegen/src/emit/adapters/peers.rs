//! A peer of any revision: its messages as the hub's, and the hub's as its own.

use std::collections::BTreeSet;

use super::input::{AdaptersInput, RevisionInput};
use super::names::mentions;
use crate::emit::source;
use crate::model::TypeKind;

const TITLE: &str = "\
//! Messages from and for peers of every revision.
//!
//! Handlers are written against the hub's types; these functions are where other revisions come in. For a peer
//! that speaks the hub's revision they only decode and encode.
";

/// The file of the functions that match on the revision of a peer.
pub(super) fn peers(input: &AdaptersInput<'_>, header: &str) -> String {
    let Some(hub) = input.revision(input.hub) else {
        return source::file(header, [TITLE.to_owned()]);
    };
    let sides = ["Client", "Server"].into_iter();
    let functions: String = sides
        .map(|side| messages(input, hub, side) + &results(input, hub, side).unwrap_or_default())
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
    ];
    let imports = [
        import("mcp_convert", &["peers"]),
        import("mcp_wire", &["Batch", "Decoded", "Message", "OpenJson"]),
        input.imports(&functions, &ours),
    ];
    source::file(header, [TITLE.to_owned(), imports.concat(), functions])
}

fn messages(input: &AdaptersInput<'_>, hub: &RevisionInput<'_>, side: &str) -> String {
    let who = side.to_lowercase();
    let hub_message = format!("Message<{}>", parts(hub, side));
    let arm = |revision: &RevisionInput<'_>, code: String| arm(input, revision, &code);
    let read: String = input
        .revisions
        .iter()
        .map(|revision| match input.is_hub(revision) {
            true => arm(revision, "peers::read_same(peer, json)".to_owned()),
            false => {
                let code = format!(
                    "peers::read_messages::<{}, _, _, _>(peer, json, conversion)",
                    parts(revision, side)
                );
                arm(revision, code)
            }
        })
        .collect();
    let encoded: String = input
        .revisions
        .iter()
        .map(|revision| match input.is_hub(revision) {
            true => arm(revision, "peers::encode_same(message)".to_owned()),
            false => {
                let code = format!(
                    "peers::encode_message::<{}, _, _, _>(message, conversion)",
                    parts(revision, side)
                );
                arm(revision, code)
            }
        })
        .collect();
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
) -> Decoded<Batch<Translated<{hub_message}>>> {{
    let _ = &conversion;
    match peer {{
{read}    }}
}}

/// Converts a message of the hub to revision `peer`, and encodes it as a {who} sends it.
#[must_use]
pub fn {who}_message_for(
    peer: Revision,
    message: {hub_message},
    conversion: Conversion,
) -> Translated<Vec<u8>> {{
    let _ = &conversion;
    match peer {{
{encoded}    }}
}}

"
    )
}

fn results(input: &AdaptersInput<'_>, hub: &RevisionInput<'_>, side: &str) -> Option<String> {
    let who = side.to_lowercase();
    let hub_result = result(hub, side)?;
    let arm = |revision: &RevisionInput<'_>, code: String| arm(input, revision, &code);
    let read: String = input
        .revisions
        .iter()
        .map(
            |revision| match result(revision, side).filter(|_| tells_by_method(revision, side)) {
                Some(own) if input.is_hub(revision) => arm(
                    revision,
                    format!("peers::read_same_result({own}::decode, method, result)"),
                ),
                Some(own) => arm(
                    revision,
                    format!("peers::read_result({own}::decode, method, result, conversion)"),
                ),
                None => arm(revision, "Ok(None)".to_owned()),
            },
        )
        .collect();
    let encoded: String = input
        .revisions
        .iter()
        .map(|revision| match result(revision, side) {
            Some(own) if !input.is_hub(revision) => arm(
                revision,
                format!("peers::encode_result::<{own}, _, _>(result, conversion)"),
            ),
            _ => arm(revision, "peers::encode_same_result(&result)".to_owned()),
        })
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
    result: &OpenJson,
    conversion: Conversion,
) -> Result<Option<FromResult<{hub_result}>>, FromPeer> {{
    let _ = (method, result, &conversion);
    match peer {{
{read}    }}
}}

/// Converts a result of the hub to revision `peer`, and encodes it as a {who} gives it.
///
/// # Errors
/// When that revision can't represent it.
pub fn {who}_result_for(
    peer: Revision,
    result: {hub_result},
    conversion: Conversion,
) -> Result<(OpenJson, Vec<Loss>), Unrepresentable> {{
    let _ = &conversion;
    match peer {{
{encoded}    }}
}}

"
    ))
}

/// What is done for peers of a revision.
fn arm(input: &AdaptersInput<'_>, revision: &RevisionInput<'_>, code: &str) -> String {
    let cfg = input.cfg(revision, "        ");
    format!("{cfg}        Revision::{} => {code},\n", revision.variant())
}

/// The requests and the notifications that a side may send.
fn parts(revision: &RevisionInput<'_>, side: &str) -> String {
    let part = |name: String| match revision.model.types.get(&name).map(|ty| &ty.kind) {
        Some(TypeKind::Methods(_)) => format!("{}::{name}", revision.module),
        _ => "mcp_wire::UnknownMethod".to_owned(),
    };
    let (requests, _) = revision.requests_of(side);
    format!("{}, {}", part(requests), part(format!("{side}Notification")))
}

/// The results that a side may give.
fn result(revision: &RevisionInput<'_>, side: &str) -> Option<String> {
    let (_, results) = revision.requests_of(other(side));
    match revision.model.types.get(&results).map(|ty| &ty.kind) {
        Some(TypeKind::Results(_) | TypeKind::Union(_)) => Some(format!("{}::{results}", revision.module)),
        _ => None,
    }
}

/// Whether the method of a request tells what its result is. Otherwise there is no such request, and its result is a part
/// of another message.
fn tells_by_method(revision: &RevisionInput<'_>, side: &str) -> bool {
    let (_, results) = revision.requests_of(other(side));
    let kind = revision.model.types.get(&results).map(|ty| &ty.kind);
    matches!(kind, Some(TypeKind::Results(_)))
}

fn other(side: &str) -> &'static str {
    if side == "Client" { "Server" } else { "Client" }
}
