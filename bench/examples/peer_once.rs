//! Reads one message from a peer of a revision, or writes one for it, once. It is run under callgrind, which counts the
//! instructions of `measured`. For the hub's revision nothing is converted.
//!
//! A result is read as it was written for that peer. `again` does the same once before the measurement, as in a session
//! that has already handled such a message.

use std::hint::black_box;
use std::sync::Arc;

use mcp_adapters::{Conversion, Policy, Revision, Role, Supply, Translated, hub, peers};
use mcp_bench_cases::inputs::{Members, blocks, tools};
use mcp_bench_cases::{Case, Failure};
use mcp_wire::{MessageHeader, RawJson};

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (case, revision, direction, again) = match words[..] {
        [case, revision, direction] => (case, revision, direction, false),
        [case, revision, direction, "again"] => (case, revision, direction, true),
        _ => return Err("name a case, a revision, and `decode`, `encode` or `losing`, and maybe `again`".into()),
    };
    let peer: Revision = revision.parse()?;
    let action = match (case, direction) {
        ("call", "decode") => call(peer)?,
        ("tools", direction) => result("tools/list", tools(Members::Latest), peer, direction)?,
        ("blocks", direction) => result("tools/call", blocks(Members::Latest), peer, direction)?,
        _ => return Err("the cases are call, tools and blocks, and call has only `decode`".into()),
    };
    if again {
        action();
    }
    measured(&*action);
    Ok(())
}

#[inline(never)]
fn measured(action: &dyn Fn()) {
    action();
}

type Action = Box<dyn Fn()>;

/// Returns an action that reads a tool call of a client whose session supplies the metadata that requests of the hub's
/// revision require.
fn call(peer: Revision) -> Result<Action, Failure> {
    let supplied = [
        ("meta.version", r#""2026-07-28""#),
        ("meta.client", r#"{"name":"load","version":"1.0"}"#),
        ("meta.capabilities", "{}"),
    ];
    let mut supply = Supply::new();
    for (key, json) in supplied {
        supply.insert(key.to_owned(), mcp_wire::from_str(json)?);
    }
    let supply = Arc::new(supply);
    let read = move |json: &str| {
        let conversion = Conversion::new(Policy::Conform).supplied_with(supply.clone());
        let header = MessageHeader::from_slice(black_box(json.as_bytes()))?;
        peers::read_message::<hub::ClientRequest, hub::ClientNotification, Revision>(
            peer,
            Role::Client,
            &header,
            conversion,
        )
    };
    let json = if peer == Revision::HUB {
        Case::LatestCall
    } else {
        Case::Call
    }
    .json();
    match read(&json)? {
        Translated::Message { .. } => Ok(Box::new(move || drop(black_box(read(&json))))),
        _ => Err("the call is refused".into()),
    }
}

fn result(method: &'static str, json: String, peer: Revision, direction: &str) -> Result<Action, Failure> {
    let read = move |peer, json: &RawJson| {
        let result = peers::server_result(peer, method, black_box(json), Conversion::new(Policy::Conform));
        result.map_err(|error| format!("{error:?}"))
    };
    let write = move |result: &hub::ServerResult| {
        peers::server_result_for(peer, black_box(result), Conversion::new(Policy::Conform))
    };
    let whole = read(Revision::HUB, &mcp_wire::from_str(&json)?)?
        .ok_or("no result")?
        .result;
    let (json, _) = write(&whole)?;
    match direction {
        "decode" => Ok(Box::new(move || drop(black_box(read(peer, &json))))),
        "losing" => Ok(Box::new(move || drop(black_box(write(&whole))))),
        "encode" => {
            let kept = read(peer, &json)?.ok_or("no result")?.result;
            Ok(Box::new(move || drop(black_box(write(&kept)))))
        }
        _ => Err("expected `decode`, `encode`, or `losing`, which writes members that the revision lacks".into()),
    }
}
