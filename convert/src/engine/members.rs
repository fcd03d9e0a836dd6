//! The members of an object that is converted in place.

use super::node::{Entry, Node};
use crate::tables::rows::Refusal;
use crate::unrepresentable::Unrepresentable;

pub(super) type Members<'a> = Vec<Entry<'a>>;

/// Returns the position of a declared or undeclared member.
pub(super) fn position(members: &Members<'_>, name: &str, declared: bool) -> Option<usize> {
    members
        .iter()
        .position(|entry| entry.declared == declared && entry.name == name)
}

pub(super) fn refused(refusal: &Refusal) -> Unrepresentable {
    Unrepresentable::new(refusal.code, refusal.because, refusal.rule)
}

/// Whether an object has no members.
pub(super) fn has_no_members(node: &Node<'_>) -> bool {
    match node {
        Node::Object(members) => members.is_empty(),
        node => is_empty_object(&node.to_text()),
    }
}

/// Whether the text of an object has no members.
pub(super) fn is_empty_object(text: &str) -> bool {
    text.trim_matches(['{', '}']).trim().is_empty()
}

/// Takes the value at a path out of an object, and removes objects on the path that are empty then.
pub(super) fn take_from<'a>(object: &mut Node<'a>, path: &[&str]) -> Option<Node<'a>> {
    let (first, rest) = path.split_first()?;
    let members = object.members().ok()?;
    let at = members
        .iter()
        .position(|entry| entry.name == *first && !entry.value.is_null())?;
    if rest.is_empty() {
        return Some(members.remove(at).value);
    }
    let taken = take_from(&mut members[at].value, rest)?;
    if has_no_members(&members[at].value) {
        members.remove(at);
    }
    Some(taken)
}

/// Puts a value at a path, unless there is one. Missing objects on the path are created. Returns the depth of the first
/// member that is new, or `None` if the value wasn't put there.
pub(super) fn put<'a>(path: &[&'static str], value: Node<'a>, members: &mut Members<'a>) -> Option<usize> {
    let (name, rest) = path.split_first()?;
    let known = position(members, name, true);
    if rest.is_empty() {
        if known.is_some() {
            return None;
        }
        members.retain(|entry| entry.name != *name);
        members.push(Entry::declared(*name, value));
        return Some(1);
    }
    let at = known.unwrap_or_else(|| {
        members.push(Entry::declared(*name, Node::Object(Vec::new())));
        members.len() - 1
    });
    let inner = members[at].value.members().ok()?;
    // The members of an object that was opened from text are undeclared. They count as declared here, unless they are
    // `null`.
    for entry in inner.iter_mut().filter(|entry| !entry.value.is_null()) {
        entry.declared = true;
    }
    let depth = put(rest, value, inner)?;
    Some(known.map_or(1, |_| 1 + depth))
}

/// Adds the members of another object to an object, and to the objects in it. Returns `false` if both have a value at the
/// same place.
pub(super) fn merge<'a>(object: &mut Node<'a>, other: Node<'a>) -> bool {
    let (Ok(members), Node::Object(others)) = (object.members(), other) else {
        return false;
    };
    others.into_iter().all(
        |entry| match members.iter().position(|known| known.name == entry.name) {
            Some(at) => merge(&mut members[at].value, entry.value),
            None => {
                members.push(entry);
                true
            }
        },
    )
}
