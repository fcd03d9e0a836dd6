//! Builds unions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::builder::{Builder, Context};
use crate::model::decide::{Decision, decide, json_kind};
use crate::model::lookup::{accepts_everything, flatten};
use crate::model::names::variant_names;
use crate::model::type_ref::TypeRef;
use crate::model::types::{Union, Variant};
use crate::normalise::{Node, Scalar, Shape, Shapes};
use mcp_json_schema::JsonType;

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
            .map(|variant| self.type_ref(variant, &context.variant(label_of(shapes, &flat, variant).as_deref())))
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

/// Returns what an unnamed variant is named after: its tag, the type of its JSON if no other variant has it, a member
/// that no other variant has and that it requires, or else a constant that no other variant has.
pub(super) fn label_of<'s>(shapes: &'s Shapes, variants: &[&'s Node], variant: &'s Node) -> Option<Cow<'s, str>> {
    let shape = shapes.shape(variant);
    let kind = json_kind(shape);
    let others = variants.iter().filter(|other| !std::ptr::eq(**other, variant));
    let mut alike = others.filter(|other| json_kind(shapes.shape(other)) == kind).peekable();
    let is_only = alike.peek().is_none();
    let members_of_others: Vec<_> = alike.filter_map(|other| shapes.members(other)).collect();
    let is_own = |name: &&String| !members_of_others.iter().any(|members| members.contains_key(*name));
    let label = tag_of(shapes, variants, variant).or_else(|| match shape {
        Shape::Object(_) | Shape::Strings(_) if is_only => Some(kind.name()),
        Shape::Object(members) => {
            let required = members.iter().filter(|(_, property)| property.required);
            required.map(|(name, _)| name).find(is_own).map(String::as_str)
        }
        _ => None,
    });
    label
        .map(Cow::Borrowed)
        .or_else(|| own_constant(shapes, variants, variant))
}

/// Returns the tag of a variant, if all variants that are objects have different strings as constants in the same member,
/// or in the same member of a member.
fn tag_of<'s>(shapes: &'s Shapes, variants: &[&'s Node], variant: &'s Node) -> Option<&'s str> {
    let objects = variants.iter().filter(|other| shapes.members(other).is_some());
    let objects: Vec<Constants<'s>> = objects.map(|object| constants(shapes, object)).collect();
    let own = constants(shapes, variant).into_iter();
    own.filter_map(|(path, value)| Some((path, value.text()?)))
        .find_map(|(path, tag)| {
            let values = objects.iter().map(|object| object.get(&path)?.text());
            let values: Option<BTreeSet<&str>> = values.collect();
            (values?.len() == objects.len()).then_some(tag)
        })
}

/// Returns a label for a constant of a variant that no other variant has: its text, or the member with the value.
fn own_constant<'s>(shapes: &'s Shapes, variants: &[&'s Node], variant: &'s Node) -> Option<Cow<'s, str>> {
    let others = variants.iter().filter(|other| !std::ptr::eq(**other, variant));
    let others: Vec<Constants<'s>> = others.map(|other| constants(shapes, other)).collect();
    let mut own = constants(shapes, variant).into_iter();
    let (path, value) = own.find(|(path, value)| others.iter().all(|other| other.get(path) != Some(value)))?;
    Some(match value {
        Scalar::String(text) => Cow::Borrowed(text),
        Scalar::Boolean(value) => Cow::Owned(format!("{} {value}", path.1)),
        Scalar::Integer(value) if *value < 0 => Cow::Owned(format!("{} minus {}", path.1, value.unsigned_abs())),
        Scalar::Integer(value) => Cow::Owned(format!("{} {value}", path.1)),
    })
}

/// The constants of an object, by their member, and the member of the object in which it is.
type Constants<'s> = BTreeMap<(Option<&'s str>, &'s str), &'s Scalar>;

fn constants<'s>(shapes: &'s Shapes, object: &'s Node) -> Constants<'s> {
    let within = |outer: Option<&'s str>, object: &'s Node| {
        let members = shapes.members(object).into_iter().flatten();
        members.filter_map(move |(name, property)| match shapes.shape(&property.node) {
            Shape::Constant(value) => Some(((outer, name.as_str()), value)),
            _ => None,
        })
    };
    let members = shapes.members(object).into_iter().flatten();
    let nested = members.flat_map(|(outer, property)| within(Some(outer), &property.node));
    within(None, object).chain(nested).collect()
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
