//! The members of unions of messages, and their methods.

use std::collections::BTreeMap;

use crate::messages::message_unions;
use crate::normalise::{Node, Shape, Shapes};

pub(super) const METHOD: &str = "method";

/// Returns the members of a union and of its inner unions, by their pointers. A member is a definition; an inline
/// schema counts as the definition with the same method, if there is one.
pub(super) fn union_members<'s>(shapes: &'s Shapes, union: &str) -> BTreeMap<String, &'s Node> {
    let Some(definition) = shapes.definitions.values().find(|definition| definition.name == union) else {
        return BTreeMap::new();
    };
    let mut members = BTreeMap::new();
    let mut waiting = vec![&definition.node];
    while let Some(node) = waiting.pop() {
        match &node.shape {
            Shape::Union(variants) => waiting.extend(variants),
            Shape::Reference(pointer) => {
                let Some(target) = shapes.definitions.get(pointer) else {
                    continue;
                };
                let is_new = members.insert(pointer.clone(), &target.node).is_none();
                if is_new && matches!(target.node.shape, Shape::Union(_) | Shape::Reference(_)) {
                    waiting.push(&target.node);
                }
            }
            _ => {
                let mut twins = twins(shapes, node).peekable();
                if twins.peek().is_none() {
                    members.insert(node.pointer.clone(), node);
                }
                members.extend(twins);
            }
        }
    }
    members
}

/// Returns the definitions with the same method as an inline message, by their pointers.
pub(super) fn twins<'s>(shapes: &'s Shapes, message: &'s Node) -> impl Iterator<Item = (String, &'s Node)> {
    let method = method_constant(shapes, message);
    // A union of messages with only one member can be that member.
    let is_union = |name: &str| message_unions().any(|union| union == name);
    let twins = shapes.definitions.iter().filter(move |(_, twin)| {
        method.is_some() && !is_union(&twin.name) && method_constant(shapes, &twin.node) == method
    });
    twins.map(|(pointer, twin)| (pointer.clone(), &twin.node))
}

/// Returns the constant `method` of an object.
pub(super) fn method_constant<'s>(shapes: &'s Shapes, node: &'s Node) -> Option<&'s str> {
    let Shape::Object(members) = &node.shape else {
        return None;
    };
    match shapes.shape(&members.get(METHOD)?.node) {
        Shape::Constant(method) => method.text(),
        _ => None,
    }
}
