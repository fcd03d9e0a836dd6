//! Changes beyond the schemas: batches, and the facts of the overlays.

use serde_json::{Map, Value, json};

use super::change::{Change, ChangeKind, Compatibility, Subject};
use crate::model::ModelledRevision;

/// The facts that require peers of the earlier revision to change when they become true, and which peers. All others
/// are optional.
const OBLIGATIONS: [(&str, Compatibility); 6] = [
    ("batches", Compatibility::BreakingForReceivers),
    ("cancels_by_closing", Compatibility::Breaking),
    ("errors_without_id", Compatibility::BreakingForReceivers),
    ("input_errors_as_results", Compatibility::BreakingForReceivers),
    ("mirrors", Compatibility::BreakingForSenders),
    ("version_header", Compatibility::BreakingForSenders),
];

pub(super) fn changes(earlier: &ModelledRevision, later: &ModelledRevision) -> Vec<Change> {
    let (before, after) = (facts(earlier), facts(later));
    let mut found = Vec::new();
    for (name, now) in &after {
        let was = before.get(name).unwrap_or(&Value::Null);
        if was == now {
            continue;
        }
        let obligation = OBLIGATIONS.iter().find(|(obliging, _)| obliging == name);
        let gained = obligation.map_or(Compatibility::Additive, |(_, compatibility)| *compatibility);
        let (what, compatibility) = match (is_nothing(was), is_nothing(now)) {
            (true, true) => continue,
            (true, false) => (ChangeKind::Added, gained),
            (false, true) => (ChangeKind::Removed, Compatibility::BreakingForSenders),
            (false, false) => (ChangeKind::Changed, Compatibility::Breaking),
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) if !is_nothing(value) => Some(value.to_string()),
            _ => None,
        };
        found.push(Change::new(Subject::Fact, name, what, compatibility).values(text(was), text(now)));
    }
    found
}

/// Every fact by its name in an overlay.
fn facts(side: &ModelledRevision) -> Map<String, Value> {
    let mut facts = json!(side.facts);
    facts["batches"] = json!(side.model.batches);
    facts["errors_without_id"] = json!(side.model.errors_without_id);
    facts.as_object().cloned().unwrap_or_default()
}

fn is_nothing(fact: &Value) -> bool {
    match fact {
        Value::Null | Value::Bool(false) => true,
        Value::Object(members) => members.values().all(is_nothing),
        _ => false,
    }
}
