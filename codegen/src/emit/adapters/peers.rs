//! A peer of any revision: its messages as the hub's, and the hub's as its own.

use std::collections::BTreeSet;

use super::{AdaptersInput, RevisionInput, mentions};
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
        "Policy",
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
                    "peers::read_messages::<{}, _, _, _>(peer, json, policy)",
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
                    "peers::encode_message::<{}, _, _, _>(message, Conversion::new(policy))",
                    parts(revision, side)
                );
                arm(revision, code)
            }
        })
        .collect();
    format!(
        "\
/// What a {who} of revision `peer` sent, as messages of the hub.
///
/// # Errors
/// When the bytes aren't JSON, or a single message that is none of that revision. Whatever else is wrong has an
/// outcome in what is returned: a message that the hub can't represent, an element of a batch that is no
/// message, an empty batch, and one where the revision has none.
pub fn {who}_message(
    peer: Revision,
    json: &[u8],
    policy: Policy,
) -> Decoded<Batch<Translated<{hub_message}>>> {{
    let _ = policy;
    match peer {{
{read}    }}
}}

/// A message of the hub, as a {who} of revision `peer` would send it.
#[must_use]
pub fn {who}_message_for(
    peer: Revision,
    message: {hub_message},
    policy: Policy,
) -> Translated<Vec<u8>> {{
    let _ = policy;
    match peer {{
{encoded}    }}
}}

"
    )
}

fn results(input: &AdaptersInput<'_>, hub: &RevisionInput<'_>, side: &str) -> Option<String> {
    let who = side.to_lowercase();
    let union = format!("{side}Result");
    let hub_result = result(hub, &union)?;
    let arm = |revision: &RevisionInput<'_>, code: String| arm(input, revision, &code);
    let read: String = input
        .revisions
        .iter()
        .map(|revision| match result(revision, &union) {
            Some(own) if input.is_hub(revision) => arm(
                revision,
                format!("peers::read_same_result({own}::decode, method, result)"),
            ),
            Some(own) => arm(
                revision,
                format!("peers::read_result({own}::decode, method, result, Conversion::new(policy))"),
            ),
            None => arm(revision, "Ok(None)".to_owned()),
        })
        .collect();
    let encoded: String = input
        .revisions
        .iter()
        .map(|revision| match result(revision, &union) {
            Some(own) if !input.is_hub(revision) => arm(
                revision,
                format!("peers::encode_result::<{own}, _, _>(result, Conversion::new(policy))"),
            ),
            _ => arm(revision, "peers::encode_same_result(&result)".to_owned()),
        })
        .collect();
    Some(format!(
        "\
/// What a {who} of revision `peer` answered to `method`, as a result of the hub; `None` for an unknown method.
///
/// # Errors
/// When it is no result of the method, or the hub can't represent it.
pub fn {who}_result(
    peer: Revision,
    method: &str,
    result: &OpenJson,
    policy: Policy,
) -> Result<Option<FromResult<{hub_result}>>, FromPeer> {{
    let _ = policy;
    match peer {{
{read}    }}
}}

/// A result of the hub, as a {who} of revision `peer` would give it.
///
/// # Errors
/// When that revision can't represent it.
pub fn {who}_result_for(
    peer: Revision,
    result: {hub_result},
    policy: Policy,
) -> Result<(OpenJson, Vec<Loss>), Unrepresentable> {{
    let _ = policy;
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

/// The requests and the notifications that a side may send. What a server asks in results alone stands for its requests.
fn parts(revision: &RevisionInput<'_>, side: &str) -> String {
    let model = revision.model;
    let is_union = |name: &String| matches!(model.types.get(name).map(|ty| &ty.kind), Some(TypeKind::Methods(_)));
    let part = |kind: &str| Some(format!("{side}{kind}")).filter(is_union);
    let questions = || match (side, model.questions().first()) {
        ("Server", Some(questions)) => questions.requests.named().map(str::to_owned),
        _ => None,
    };
    let path = |name: Option<String>| match name {
        Some(name) => format!("{}::{name}", revision.module),
        None => "mcp_wire::UnknownMethod".to_owned(),
    };
    let (requests, notifications) = (part("Request").or_else(questions), part("Notification"));
    format!("{}, {}", path(requests), path(notifications))
}

fn result(revision: &RevisionInput<'_>, union: &str) -> Option<String> {
    match revision.model.types.get(union).map(|ty| &ty.kind) {
        Some(TypeKind::Results(_)) => Some(format!("{}::{union}", revision.module)),
        _ => None,
    }
}
