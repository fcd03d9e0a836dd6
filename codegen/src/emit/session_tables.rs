//! The part of a revision's table that sessions need: facts, names, errors, and what methods need and tolerate.

use serde_json::{Map, Value, json};

use super::tables::said;
use crate::adapt::Plan;
use crate::model::{Lifecycle, Model, ModelledRevision, OwnMessage};

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

/// The facts by the names of `mcp_convert::Facts`: those that aren't as in `Facts::NONE`.
pub(super) fn facts(revision: &ModelledRevision, specification: &str) -> Value {
    let (model, facts) = (&revision.model, &revision.facts);
    let mut statuses = facts.statuses.clone().unwrap_or_default();
    let errors = model.error_codes.iter();
    statuses.extend(errors.filter_map(|error| Some((error.code, error.status?))));
    let mut row = json!(facts);
    row["released"] = json!(revision.entry().released);
    row["batches"] = json!(model.batches);
    row["errors_without_id"] = json!(model.errors_without_id);
    row["initializes"] = json!(model.lifecycle.names.contains_key("begin"));
    row["specification"] = json!(specification);
    row["statuses"] = json!((!statuses.is_empty()).then(|| Vec::from_iter(statuses)));
    said(row)
}

/// The names by those of `mcp_convert::Lifecycle`.
pub(super) fn lifecycle(lifecycle: &Lifecycle) -> Value {
    let field = |role: &str| role.replace(['.', '-'], "_");
    let mut row = Map::new();
    row.extend(lifecycle.names.iter().map(|(role, name)| (field(role), json!(name))));
    let params = PARAMS.iter().map(|role| (role, "params", lifecycle.params.get(*role)));
    let results = RESULTS
        .iter()
        .map(|role| (role, "result", lifecycle.results.get(*role)));
    let members = params.chain(results);
    let members =
        members.filter_map(|(role, part, members)| Some((format!("{}_{part}", field(role)), json!(members?))));
    row.extend(members);
    let messages = lifecycle.messages.iter().filter(|(_, message)| !is_empty(message));
    let messages: Map<String, Value> = messages
        .map(|(method, message)| (method.clone(), json!(message)))
        .collect();
    let own = [("messages", Value::Object(messages)), ("kinds", json!(lifecycle.kinds))];
    row.extend(own.map(|(name, rows)| (name.to_owned(), rows)));
    Value::Object(row)
}

fn is_empty(message: &OwnMessage) -> bool {
    message.params.is_empty() && message.result.is_empty()
}

/// The errors that a session sends and reads.
pub(super) fn errors(model: &Model) -> Value {
    let errors = model.error_codes.iter().filter_map(|error| {
        let role = error.role?;
        let data = model.error_data.get(&error.code).cloned().unwrap_or_default();
        Some(json!({"role": role, "code": error.code, "data": data, "asks": error.asks}))
    });
    errors.collect()
}

/// The rules about errors from a revision to a neighbour.
pub(super) fn error_rules(plan: Option<&Plan>) -> Value {
    json!(plan.map_or(&[][..], |plan| plan.errors.as_slice()))
}
