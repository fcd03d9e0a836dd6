//! The part of a revision's table that sessions need: facts, names, errors, and what methods need and tolerate.

use serde_json::{Map, Value, json};

use crate::adapt::PlannedRevision;
use crate::facts::Facts;
use crate::model::{Lifecycle, Method, Model, OwnMessage};

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
pub(super) fn facts(revision: &PlannedRevision, specification: &str) -> Value {
    let (model, facts) = (&revision.model, &revision.facts);
    let truths = [
        ("released", revision.entry.released),
        ("batches", model.batches),
        ("errors_without_id", model.errors_without_id),
        ("initializes", model.lifecycle.names.contains_key("begin")),
        ("listening", facts.listening.unwrap_or_default()),
        ("resumption", facts.resumption.unwrap_or_default()),
        ("polling", facts.polling.unwrap_or_default()),
        ("cancels_by_closing", facts.cancels_by_closing.unwrap_or_default()),
        ("authorizes_at_origin", facts.authorizes_at_origin.unwrap_or_default()),
        (
            "input_errors_as_results",
            facts.input_errors_as_results.unwrap_or_default(),
        ),
    ];
    let truths = truths.into_iter().filter(|(_, is_true)| *is_true);
    let mut row: Map<String, Value> = truths.map(|(name, _)| (name.to_owned(), json!(true))).collect();
    row.insert("specification".to_owned(), json!(specification));
    let statuses = statuses(model, facts);
    let others = [
        (
            "version_header",
            json!(facts.version_header.as_ref().and_then(Option::as_ref)),
        ),
        (
            "session_header",
            json!(facts.session_header.as_ref().and_then(Option::as_ref)),
        ),
        (
            "statuses",
            if statuses.is_empty() {
                Value::Null
            } else {
                json!(statuses)
            },
        ),
        ("mirrors", json!(facts.mirrors)),
    ];
    let others = others.into_iter().filter(|(_, value)| !value.is_null());
    row.extend(others.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(row)
}

/// The statuses by code: those of the facts, and of the errors that the overlay defines.
fn statuses(model: &Model, facts: &Facts) -> Vec<(i64, u16)> {
    let mut statuses = facts.statuses.clone().unwrap_or_default();
    statuses.extend(
        model
            .error_codes
            .iter()
            .filter_map(|error| Some((error.code, error.status?))),
    );
    statuses.into_iter().collect()
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
        Some(json!({"role": role, "code": error.code, "data": error.data, "asks": error.asks}))
    });
    errors.collect()
}

/// The rules about errors from a revision to a neighbour.
pub(super) fn error_rules(revision: &PlannedRevision, upward: bool) -> Value {
    let plan = revision.plans.get(usize::from(!upward));
    let rules = plan.into_iter().flat_map(|plan| &plan.errors).map(
        |plan| json!({"method": plan.method, "from": plan.from, "data": plan.data, "to": plan.to, "rule": plan.rule}),
    );
    rules.collect()
}

/// What a method needs for some of its parameters, and the mistakes in its results that are tolerated.
pub(super) fn extend_method(method: &Method, row: &mut Map<String, Value>) {
    if !method.needs.is_empty() {
        row.insert("wants".to_owned(), json!(method.needs));
    }
    if !method.tolerances.is_empty() {
        row.insert("tolerates".to_owned(), json!(method.tolerances));
    }
}
