//! The table of what peers say about themselves, of the names that a session uses by itself, and of its errors.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::input::{AdaptersInput, RevisionInput};
use super::names::mentions;
use crate::emit::source;
use crate::model::{Lifecycle, Members, Model};
use crate::overlay::Asks;

/// The types that each revision has to have.
const TYPES: [&str; 3] = ["ClientCapabilities", "ServerCapabilities", "Implementation"];

/// The roles whose methods have members that a session reads or writes.
const PARAMS: [&str; 7] = [
    "acknowledge",
    "begin",
    "cancel",
    "listen",
    "set-level",
    "subscribe",
    "unsubscribe",
];
const RESULTS: [&str; 2] = ["begin", "discover"];

/// The file of the table; `None` if a revision lacks the types.
pub(super) fn peer_types(input: &AdaptersInput<'_>, header: &str) -> Option<String> {
    let has_types = |model: &Model| TYPES.iter().all(|name| model.types.contains_key(*name));
    if !input.revisions.iter().all(|revision| has_types(revision.model)) {
        return None;
    }
    let with_cfg = |revision: &RevisionInput<'_>, row: String| input.cfg(revision, "        ") + &row;
    let lifecycles = input
        .revisions
        .iter()
        .map(|revision| with_cfg(revision, lifecycle(revision)));
    let errors = input
        .revisions
        .iter()
        .filter_map(|revision| Some(with_cfg(revision, errors(revision)?)));
    let table = format!(
        "peer_types! {{\n    Revision: hub;\n    lifecycle {{\n{}    }}\n    errors {{\n{}    }}\n}}\n",
        lifecycles.collect::<String>(),
        errors.collect::<String>(),
    );
    let ours = ["ErrorRole", "KnownError", "Members", "OwnMessage", "Presets"].map(str::to_owned);
    let mut used: BTreeSet<String> = ours.into_iter().filter(|name| mentions(&table, name)).collect();
    used.insert("peer_types".to_owned());
    let imports = source::import("mcp_convert", &used) + &input.imports(&table, &["Revision", "hub"]);
    let title = "//! What peers of each revision say about themselves, and by which names.".to_owned();
    Some(source::file(header, [title, imports, table]))
}

fn lifecycle(revision: &RevisionInput<'_>) -> String {
    let lifecycle = &revision.model.lifecycle;
    let field = |role: &str| role.replace(['.', '-'], "_");
    let names = lifecycle.names.iter();
    let names = names.map(|(role, name)| format!("{}: Some({name:?})", field(role)));
    let params = PARAMS
        .iter()
        .filter_map(|role| Some((*role, "params", lifecycle.params.get(*role)?)));
    let results = RESULTS
        .iter()
        .filter_map(|role| Some((*role, "result", lifecycle.results.get(*role)?)));
    let members = params.chain(results);
    let members = members.map(|(role, part, members)| format!("{}_{part}: {}", field(role), write_members(members)));
    let own = [("messages", messages(lifecycle)), ("kinds", kinds(lifecycle))];
    let own = own.into_iter().filter(|(_, rows)| !rows.is_empty());
    let own = own.map(|(field, rows)| format!("{field}: &[{}]", rows.join(", ")));
    let rows: String = names
        .chain(members)
        .chain(own)
        .map(|row| format!("            {row},\n"))
        .collect();
    format!("        {} {{\n{rows}        }}\n", revision.variant())
}

/// The methods whose messages have presets.
fn messages(lifecycle: &Lifecycle) -> Vec<String> {
    let messages = lifecycle.messages.iter().filter_map(|(method, message)| {
        let parts = [("params", &message.params), ("result", &message.result)];
        let parts = parts.into_iter().filter(|(_, presets)| !presets.is_empty());
        let parts: Vec<String> = parts
            .map(|(part, presets)| {
                let (members, meta) = (pairs(&presets.members), pairs(&presets.meta));
                format!("{part}: Presets {{ members: {members}, meta: {meta} }}")
            })
            .collect();
        let none = if parts.len() < 2 { ", ..OwnMessage::NONE" } else { "" };
        let message = format!("OwnMessage {{ method: {method:?}, {}{none} }}", parts.join(", "));
        (!parts.is_empty()).then_some(message)
    });
    messages.collect()
}

/// Members, and their values as JSON.
fn pairs(values: &Map<String, Value>) -> String {
    let pairs: Vec<String> = values
        .iter()
        .map(|(member, value)| format!("({member:?}, {:?})", value.to_string()))
        .collect();
    format!("&[{}]", pairs.join(", "))
}

/// The kinds of results, and the methods whose results usually are of each.
fn kinds(lifecycle: &Lifecycle) -> Vec<String> {
    let kinds = lifecycle.kinds.iter();
    kinds
        .map(|(kind, methods)| format!("({kind:?}, &{methods:?})"))
        .collect()
}

/// The errors with a role, if there are any.
fn errors(revision: &RevisionInput<'_>) -> Option<String> {
    let errors = revision.model.error_codes.iter().filter_map(|error| {
        let role = error.role.as_ref()?;
        let data = write_members(&error.data);
        let code = error.code;
        let asks = error.asks.as_ref().map_or("None".to_owned(), |asks| {
            let Asks { method, params } = asks;
            format!("Some(mcp_convert::Asks {{ method: {method:?}, params: {params:?} }})")
        });
        Some(format!(
            "            KnownError {{ role: ErrorRole::{}, code: {code}, data: {data}, asks: {asks} }},\n",
            role.variant()
        ))
    });
    let errors: String = errors.collect();
    (!errors.is_empty()).then(|| format!("        {} => [\n{errors}        ];\n", revision.variant()))
}

fn write_members(members: &Members) -> String {
    let fields = [
        ("name", &members.name),
        ("versions", &members.versions),
        ("capabilities", &members.capabilities),
        ("implementation", &members.implementation),
        ("text", &members.text),
        ("request", &members.request),
        ("level", &members.level),
        ("filter", &members.filter),
    ];
    let fields = fields
        .iter()
        .filter_map(|(name, member)| Some(format!("{name}: Some({:?})", member.as_ref()?)));
    let fields: Vec<String> = fields.collect();
    match fields.is_empty() {
        true => "Members::NONE".to_owned(),
        false => format!("Members {{ {}, ..Members::NONE }}", fields.join(", ")),
    }
}
