//! Lookup in shapes: follows references.

use std::collections::BTreeMap;

use mcp_json_schema::JsonType;

use crate::normalise::{Node, Property, Shape, Shapes};

impl Shapes {
    /// Returns the members of a node, if it is an object.
    pub(super) fn members<'s>(&'s self, node: &'s Node) -> Option<&'s BTreeMap<String, Property>> {
        match self.shape(node) {
            Shape::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the shape of a node, after following references.
    pub(super) fn shape<'s>(&'s self, node: &'s Node) -> &'s Shape {
        let mut shape = &node.shape;
        for _ in 0..=self.definitions.len() {
            let Shape::Reference(pointer) = shape else { break };
            let target = self.definitions.get(pointer);
            shape = target.map_or(&Shape::Any, |target| &target.node.shape);
        }
        shape
    }
}

/// Returns the variants of a union and of the unions that it refers to; `None` if one of them is any JSON, or null.
pub(super) fn flatten<'s>(shapes: &'s Shapes, variants: &'s [Node]) -> Option<Vec<&'s Node>> {
    let mut flat: Vec<&Node> = Vec::new();
    let mut opened: Vec<*const Shape> = Vec::new();
    let mut waiting: Vec<&Node> = variants.iter().rev().collect();
    while let Some(node) = waiting.pop() {
        match shapes.shape(node) {
            Shape::Any | Shape::Null | Shape::Nullable(_) | Shape::Reference(_) => return None,
            union @ Shape::Union(inner) => {
                if !opened.iter().any(|other| std::ptr::eq(*other, union)) {
                    opened.push(union);
                    waiting.extend(inner.iter().rev());
                }
            }
            _ if flat.iter().any(|other| other.shape == node.shape) => {}
            _ => flat.push(node),
        }
    }
    Some(flat)
}

/// Whether a union accepts any JSON: each scalar, an array, and an open object or a map.
///
/// Such unions contain themselves, and null is handled separately; `RawJson` accepts the same values.
pub(super) fn accepts_everything(shapes: &Shapes, kinds: &[JsonType], flat: &[&Node]) -> bool {
    let all = [
        JsonType::Boolean,
        JsonType::Number,
        JsonType::String,
        JsonType::Array,
        JsonType::Object,
    ];
    let is_narrow = |node: &&Node| matches!(shapes.shape(node), Shape::Object(_) | Shape::Strings(_));
    all.iter().all(|kind| kinds.contains(kind)) && !flat.iter().any(is_narrow)
}
