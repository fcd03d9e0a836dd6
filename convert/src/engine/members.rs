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

/// Whether an object has no members, or a list no elements.
pub(super) fn is_empty(node: &Node<'_>) -> bool {
    match node {
        Node::Object(members) => members.is_empty(),
        Node::Array(elements) => elements.is_empty(),
        node => is_empty_object(&node.to_text()),
    }
}

/// Whether the text of an object has no members.
pub(super) fn is_empty_object(text: &str) -> bool {
    text.trim_matches(['{', '}']).trim().is_empty()
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
