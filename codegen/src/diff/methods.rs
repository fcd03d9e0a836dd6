//! Changes of methods and error codes.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::Direction;

use super::change::{Change, ChangeKind, Compatibility, Subject, list};
use super::pair::{Pair, leaves};
use crate::model::{MessageKind, Method, Model, TypeRef};

type Key<'m> = (&'m str, MessageKind);

pub(super) fn changes(pair: &Pair<'_>) -> Vec<Change> {
    let (earlier, later) = (methods(pair.earlier), methods(pair.later));
    let names: BTreeSet<Key<'_>> = earlier.keys().chain(later.keys()).copied().collect();
    let pointer = |model: &Model, method: Option<&Method>| Some(model.pointer_of(method?).to_owned());
    let found = names.into_iter().flat_map(|key| {
        let (before, after) = (earlier.get(&key).copied(), later.get(&key).copied());
        if let (Some(before), Some(after)) = (before, after) {
            return compare(pair, before, after);
        }
        let (what, compatibility) = match before {
            None => (ChangeKind::Added, Compatibility::Additive),
            Some(_) => (ChangeKind::Removed, Compatibility::BreakingForSenders),
        };
        let change = Change::new(Subject::Method, key.0, what, compatibility)
            .values(before.map(describe), after.map(describe))
            .at(pointer(pair.earlier, before), pointer(pair.later, after))
            .planned_as([key.0.to_owned()]);
        vec![change]
    });
    found.collect()
}

fn methods(model: &Model) -> BTreeMap<Key<'_>, &Method> {
    let methods = model.methods.iter();
    methods
        .map(|method| ((method.name.as_str(), method.kind), method))
        .collect()
}

fn compare(pair: &Pair<'_>, before: &Method, after: &Method) -> Vec<Change> {
    let change = |what, compatibility| {
        let pointers = [pair.earlier.pointer_of(before), pair.later.pointer_of(after)];
        let [earlier, later] = pointers.map(|pointer| Some(pointer.to_owned()));
        Change::new(Subject::Method, &before.name, what, compatibility)
            .at(earlier, later)
            .planned_as([before.name.clone()])
    };
    let mut changes = Vec::new();
    if before.direction != after.direction {
        let compatibility = match after.direction.includes(before.direction) {
            true => Compatibility::Additive,
            false => Compatibility::BreakingForSenders,
        };
        let (from, to) = (direction(before.direction), direction(after.direction));
        changes.push(change(ChangeKind::Changed, compatibility).values(Some(from.into()), Some(to.into())));
    }
    if before.capability != after.capability {
        let needs = |method: &Method| Some(format!("capability {}", method.capability.as_ref()?));
        let compatibility = match after.capability {
            Some(_) => Compatibility::BreakingForSenders,
            None => Compatibility::Additive,
        };
        changes.push(change(ChangeKind::Changed, compatibility).values(needs(before), needs(after)));
    }
    let leaves = |model, method: &Method| -> Vec<_> {
        let results = method.results.iter();
        results.flat_map(|result| leaves(model, result)).collect()
    };
    let values = pair.compare(&leaves(pair.earlier, before), &leaves(pair.later, after));
    let Some((what, compatibility)) = values.kind() else {
        return changes;
    };
    let list = |names: &[String]| list(names).map(|names| format!("result {names}"));
    let results = before.results.iter().chain(&after.results).filter_map(TypeRef::named);
    let change = change(what, compatibility).values(list(&values.removed), list(&values.added));
    changes.push(change.planned_as(results.map(str::to_owned)));
    changes
}

fn describe(method: &Method) -> String {
    let kind = match method.kind {
        MessageKind::Request => "request",
        MessageKind::Notification => "notification",
    };
    let capability = method.capability.as_ref().map(|name| format!(", capability {name}"));
    format!(
        "{kind}, {}{}",
        direction(method.direction),
        capability.unwrap_or_default()
    )
}

/// Describes who sends a method to whom.
pub(crate) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client to server",
        Direction::ServerToClient => "server to client",
        Direction::Both => "both directions",
        Direction::InResult => "in a result",
    }
}

/// The error codes that a revision adds to JSON-RPC's.
pub(super) fn error_codes(pair: &Pair<'_>) -> Vec<Change> {
    let codes = |model: &Model| -> BTreeMap<i64, String> {
        let codes = model.error_codes.iter();
        codes.map(|error| (error.code, error.name.clone())).collect()
    };
    let (earlier, later) = (codes(pair.earlier), codes(pair.later));
    let numbers: BTreeSet<i64> = earlier.keys().chain(later.keys()).copied().collect();
    let found = numbers.into_iter().filter_map(|code| {
        let (before, after) = (earlier.get(&code), later.get(&code));
        let (what, compatibility) = match (before, after) {
            (None, _) => (ChangeKind::Added, Compatibility::Additive),
            (_, None) => (ChangeKind::Removed, Compatibility::BreakingForSenders),
            (before, after) if before == after => return None,
            _ => (ChangeKind::Renamed, Compatibility::Cosmetic),
        };
        let change = Change::new(Subject::ErrorCode, code.to_string(), what, compatibility);
        let change = change.values(before.cloned(), after.cloned());
        Some(change.planned_as([format!("error {code}")]))
    });
    found.collect()
}
