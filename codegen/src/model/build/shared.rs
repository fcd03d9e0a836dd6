//! Unnamed shapes that occur in several places, and their common name.

use std::collections::BTreeMap;

use super::builder::{Builder, Context};
use super::unions::label_of;
use crate::messages::message_unions;
use crate::model::lookup::flatten;
use crate::model::names::unique;
use crate::normalise::{Node, Property, Shape};

impl Builder<'_> {
    /// Chooses one name for each shape that occurs in several places. This happens before any type is built, because
    /// the best name can be found last.
    pub(super) fn name_shared(&mut self) {
        let mut candidates = Candidates::new();
        for (pointer, definition) in &self.input.shapes().definitions {
            // Each definition got a name, or there was a collision.
            let name = &self.rust_names[pointer];
            let is_of_messages = message_unions().any(|name| name == definition.name);
            if let (Shape::Union(_), false) = (&definition.node.shape, is_of_messages) {
                let shape = key(&definition.node.shape);
                let group = candidates.entry(shape.clone()).or_insert((shape, Vec::new()));
                group.1.push((0, name.len(), name.clone()));
            }
            self.collect_shared(&definition.node, &Context::of_type(name), true, &mut candidates);
        }
        for (group, (shape, mut names)) in candidates {
            names.sort();
            let free = |name: &str| self.keys.get(name).is_none_or(|other| *other == shape);
            let name = match names.iter().find(|(rank, _, name)| *rank == 0 || free(name)) {
                Some((_, _, name)) => name.clone(),
                None => unique(&names[0].2, |name| !free(name)),
            };
            self.keys.insert(name.clone(), shape);
            self.shared.insert(group, name);
        }
    }

    fn collect_shared(&self, node: &Node, context: &Context<'_>, is_definition: bool, found: &mut Candidates) {
        let shape = if is_definition { String::new() } else { key(&node.shape) };
        if let (false, Some(group)) = (is_definition, group_of(node, context, &shape)) {
            let (rank, name) = self.wanted_name(node, context);
            let group = found.entry(group).or_insert((shape, Vec::new()));
            group.1.push((rank, name.len(), name));
        }
        let own = || match is_definition {
            true => context.parent.to_owned(),
            false => self.wanted_name(node, context).1,
        };
        match &node.shape {
            Shape::Union(variants) => {
                let (flat, own) = (flatten(self.input.shapes(), variants).unwrap_or_default(), own());
                for variant in variants {
                    let label = label_of(self.input.shapes(), &flat, variant);
                    self.collect_shared(variant, &Context::of_type(&own).variant(label.as_deref()), false, found);
                }
            }
            Shape::Nullable(inner) => self.collect_shared(inner, context, false, found),
            Shape::List(inner) => self.collect_shared(inner, &context.within("[]"), false, found),
            Shape::Map(inner) => self.collect_shared(inner, &context.within("{}"), false, found),
            Shape::Object(members) => {
                let own = own();
                for (member, property) in members {
                    self.collect_shared(&property.node, &Context::of_member(&own, member), false, found);
                }
            }
            _ => {}
        }
    }

    /// Returns the wanted name of an unnamed node, and its rank (0 is the best).
    pub(super) fn wanted_name(&self, node: &Node, context: &Context<'_>) -> (u8, String) {
        if let Some(name) = &node.name {
            return (1, self.input.names.type_name(name));
        }
        if let Some(name) = self.input.lock.name(&node.pointer) {
            return (2, name.to_owned());
        }
        let later = self.input.later.at(&context.position);
        let free = |name: &&String| !self.rust_names.values().any(|taken| taken == *name);
        match later.filter(free) {
            Some(name) => (3, name.clone()),
            None => (4, context.default_name()),
        }
    }
}

/// Shapes by their group: the key of the shape, and its possible names, each with its rank (0 is the best) and its
/// length.
type Candidates = BTreeMap<String, (String, Vec<(u8, usize, String)>)>;

/// Returns the group of an unnamed node with a shape of this key. The nodes of a group become one type: unions of the same
/// variants, and members with the same name and shape. The parameters of methods are never shared.
pub(super) fn group_of(node: &Node, context: &Context<'_>, key: &str) -> Option<String> {
    match node.shape {
        Shape::Union(_) => Some(key.to_owned()),
        Shape::Object(_) | Shape::Strings(_) if context.member != "params" => Some(format!("{} {key}", context.member)),
        _ => None,
    }
}

/// Returns a key of a shape, independent of its place: equal for shapes that become one Rust type.
pub(super) fn key(shape: &Shape) -> String {
    match shape {
        Shape::Reference(pointer) => format!("ref {pointer}"),
        Shape::List(inner) => format!("[{}]", key(&inner.shape)),
        Shape::Map(inner) => format!("map {}", key(&inner.shape)),
        Shape::Nullable(inner) => format!("null or {}", key(&inner.shape)),
        Shape::Union(variants) => {
            let variants: Vec<String> = variants.iter().map(|variant| key(&variant.shape)).collect();
            format!("({})", variants.join(" or "))
        }
        Shape::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, Property { node, required })| {
                    let tag = node.tag.iter().map(|tag| format!(" tagged {tag:?}"));
                    let preset = node.preset.iter().map(|preset| format!(" preset {preset}"));
                    let field = node.field.iter().map(|field| format!(" field {field}"));
                    let said: String = tag.chain(preset).chain(field).collect();
                    format!("{name:?} {required} {}{said}", key(&node.shape))
                })
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        scalar => format!("{scalar:?}"),
    }
}
