//! Builds unions.

use std::collections::BTreeSet;

use super::builder::{Builder, Context};
use crate::model::decide::{Decision, decide, json_kind};
use crate::model::lookup::{accepts_everything, flatten};
use crate::model::names::variant_names;
use crate::model::type_ref::TypeRef;
use crate::model::types::{Union, Variant};
use crate::normalise::{Node, Scalar, Shape, Shapes};
use mcp_wire::JsonType;

impl Builder<'_> {
    /// Builds the union of `variants`, or returns the wider type that replaces it if the variants can't be
    /// distinguished.
    pub(super) fn union(&mut self, name: &str, node: &Node, variants: &[Node]) -> Result<Union, TypeRef> {
        let shapes = self.input.shapes();
        let flat = flatten(shapes, variants).ok_or(TypeRef::Any)?;
        let kinds: Vec<JsonType> = flat.iter().map(|variant| json_kind(shapes.shape(variant))).collect();
        let is_repeated = |kind: &JsonType| kinds.iter().filter(|other| *other == kind).count() > 1;
        let indistinguishable = [JsonType::Boolean, JsonType::Number, JsonType::String, JsonType::Array];
        if indistinguishable.iter().any(is_repeated) || accepts_everything(shapes, &kinds, &flat) {
            return Err(TypeRef::Any);
        }
        let is_default = |variant: &&Node| match &variant.shape {
            Shape::Reference(at) => {
                let target = shapes.definitions.get(at);
                target.is_some_and(|target| Some(&target.name) == node.default_variant.as_ref())
            }
            _ => false,
        };
        let default = flat.iter().position(is_default);
        let objects = decide_objects(shapes, &flat, &kinds, default)?;
        let context = Context::of_type(name);
        let types: Vec<TypeRef> = flat
            .iter()
            .map(|variant| self.type_ref(variant, &context.variant(label_of(shapes, &flat, variant))))
            .collect();
        let names = variant_names(&types, &kinds, objects.as_ref());
        let variants = names.into_iter().zip(types).zip(kinds);
        let variants = variants.map(|((name, ty), kind)| Variant {
            name,
            ty,
            kind,
            boxed: false,
        });
        Ok(Union {
            variants: variants.collect(),
            objects,
        })
    }
}

/// Returns what an unnamed variant is named after: its tag, the type of its JSON if no other variant has it, or else a
/// member that no other variant has and that it requires.
pub(super) fn label_of<'s>(shapes: &'s Shapes, variants: &[&'s Node], variant: &'s Node) -> Option<&'s str> {
    let shape = shapes.shape(variant);
    let kind = json_kind(shape);
    let others = variants.iter().filter(|other| !std::ptr::eq(**other, variant));
    let mut alike = others.filter(|other| json_kind(shapes.shape(other)) == kind).peekable();
    let is_only = alike.peek().is_none();
    let members_of_others: Vec<_> = alike.filter_map(|other| shapes.members(other)).collect();
    let is_own = |name: &&String| !members_of_others.iter().any(|members| members.contains_key(*name));
    tag_of(shapes, variants, variant).or_else(|| match shape {
        Shape::Object(_) | Shape::Strings(_) if is_only => Some(kind.name()),
        Shape::Object(members) => {
            let required = members.iter().filter(|(_, property)| property.required);
            required.map(|(name, _)| name).find(is_own).map(String::as_str)
        }
        _ => None,
    })
}

/// Returns the tag of a variant, if all variants that are objects have different constants in the same member, or in the
/// same member of a member.
fn tag_of<'s>(shapes: &'s Shapes, variants: &[&'s Node], variant: &'s Node) -> Option<&'s str> {
    let constant = |object: &'s Node, (outer, name): (Option<&str>, &str)| {
        let object = outer.map_or(Some(object), |outer| Some(&shapes.members(object)?.get(outer)?.node))?;
        match shapes.shape(&shapes.members(object)?.get(name)?.node) {
            Shape::Constant(Scalar::String(value)) => Some(value.as_str()),
            _ => None,
        }
    };
    let members = shapes.members(variant)?;
    let direct = members.keys().map(|name| (None, name.as_str()));
    let nested = members.iter().flat_map(|(outer, property)| {
        let members = shapes.members(&property.node).into_iter().flatten();
        members.map(move |(name, _)| (Some(outer.as_str()), name.as_str()))
    });
    let objects: Vec<&&Node> = variants
        .iter()
        .filter(|other| shapes.members(other).is_some())
        .collect();
    direct.chain(nested).find_map(|path| {
        let values: Option<BTreeSet<&str>> = objects.iter().map(|object| constant(object, path)).collect();
        (values?.len() == objects.len()).then(|| constant(variant, path))?
    })
}

/// Returns the decision between the variants that are objects, or the wider type if they can't be distinguished.
fn decide_objects<'s>(
    shapes: &'s Shapes,
    flat: &[&'s Node],
    kinds: &[JsonType],
    default: Option<usize>,
) -> Result<Option<Decision>, TypeRef> {
    let objects: Vec<usize> = (0..flat.len())
        .filter(|index| kinds[*index] == JsonType::Object)
        .collect();
    if let [] | [_] = objects.as_slice() {
        return Ok(objects.first().map(|single| Decision::Is(*single)));
    }
    let wider = if objects.len() == flat.len() {
        TypeRef::RawObject
    } else {
        TypeRef::Any
    };
    let candidates = objects
        .into_iter()
        .map(|index| Some((index, shapes.members(flat[index])?)));
    let Some(candidates) = candidates.collect::<Option<Vec<_>>>() else {
        return Err(wider);
    };
    decide(shapes, &candidates, default).map(Some).ok_or(wider)
}
