//! The shapes of unions.

use std::collections::BTreeSet;

use super::added_schemas::AddedSchemas;
use super::{Node, Scalar, Shape, Strings};

/// Returns the shape of a value that has one of several shapes.
///
/// `null` makes it nullable, inner unions are flattened, and shapes that share a Rust type (two arrays, two strings)
/// become one.
pub(super) fn one_of(added: &AddedSchemas<'_>, variants: Vec<Node>, pointer: &str) -> Shape {
    let mut nullable = false;
    let mut nodes: Vec<Node> = Vec::new();
    let mut waiting: Vec<Node> = variants.into_iter().rev().collect();
    while let Some(node) = waiting.pop() {
        match node.shape {
            Shape::Any => return Shape::Any,
            Shape::Null => nullable = true,
            Shape::Nullable(inner) => {
                nullable = true;
                waiting.push(*inner);
            }
            Shape::Union(inner) => waiting.extend(inner.into_iter().rev()),
            _ => add_variant(added, &mut nodes, node),
        }
    }
    let inner = match nodes.len() {
        0 => return if nullable { Shape::Null } else { Shape::Any },
        1 => nodes.remove(0),
        _ => Node::at(pointer, Shape::Union(nodes)),
    };
    if nullable {
        return Shape::Nullable(Box::new(inner));
    }
    inner.shape
}

fn add_variant(added: &AddedSchemas<'_>, nodes: &mut Vec<Node>, node: Node) {
    if nodes.iter().any(|other| other.shape == node.shape) {
        return;
    }
    for other in nodes.iter_mut() {
        if let Some(both) = either(added, other, &node) {
            *other = both;
            return;
        }
    }
    nodes.push(node);
}

/// Returns a node that accepts the values of both nodes, if one shape can.
fn either(added: &AddedSchemas<'_>, left: &Node, right: &Node) -> Option<Node> {
    let shape = match (&left.shape, &right.shape) {
        (Shape::List(left), Shape::List(right)) => {
            let element = one_of(added, vec![(**left).clone(), (**right).clone()], &left.pointer);
            Shape::List(Box::new(node_of_both(added, left, right, element)))
        }
        (left, right) => either_scalar(left, right)?,
    };
    Some(node_of_both(added, left, right, shape))
}

fn node_of_both(added: &AddedSchemas<'_>, left: &Node, right: &Node, shape: Shape) -> Node {
    Node {
        pointer: added.either([&left.pointer, &right.pointer], &shape),
        shape,
        ..left.clone()
    }
}

/// Returns the shape that accepts the values of both scalar shapes, if there is one.
pub(super) fn either_scalar(left: &Shape, right: &Shape) -> Option<Shape> {
    if let (Some(left), Some(right)) = (known_strings(left), known_strings(right)) {
        let values = distinct(left.values.into_iter().chain(right.values));
        return Some(match values.as_slice() {
            [] => Shape::String,
            _ => Shape::Strings(Strings {
                values,
                ordered: false,
                open: left.open || right.open,
            }),
        });
    }
    let type_of = |shape: &Shape| match shape {
        Shape::Number => Some(Shape::Number),
        Shape::Integer | Shape::Constant(Scalar::Integer(_)) => Some(Shape::Integer),
        Shape::Boolean | Shape::Constant(Scalar::Boolean(_)) => Some(Shape::Boolean),
        _ => None,
    };
    match (type_of(left)?, type_of(right)?) {
        (Shape::Number, Shape::Integer) | (Shape::Integer, Shape::Number) => Some(Shape::Number),
        (left, right) => (left == right).then_some(left),
    }
}

/// Returns the values in their order, each once.
pub(super) fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    values.filter(|value| seen.insert(value.clone())).collect()
}

/// Returns the known values of a string shape, or `None` for other shapes.
fn known_strings(shape: &Shape) -> Option<Strings> {
    let (values, open) = match shape {
        Shape::String => (Vec::new(), true),
        Shape::Constant(Scalar::String(value)) => (vec![value.clone()], false),
        Shape::Strings(strings) => return Some(strings.clone()),
        _ => return None,
    };
    Some(Strings {
        values,
        ordered: false,
        open,
    })
}
