//! Which variant of a union corresponds to which one of another revision: by their tags and members, never by position.

use std::collections::BTreeMap;

use crate::model::{Model, Struct, TypeKind, TypeRef, result_variants};
use crate::normalise::Scalar;
use mcp_wire::JsonType;

/// A variant that a value may be held by; a type that isn't a union is its own only variant.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) ty: TypeRef,
    pub(crate) kind: Option<JsonType>,
}

impl Candidate {
    /// A type that isn't a variant of anything.
    pub(crate) fn alone(ty: TypeRef) -> Self {
        Self { ty, kind: None }
    }
}

/// The variants of a type.
pub(crate) fn candidates(model: &Model, ty: &TypeRef) -> Vec<Candidate> {
    let kind = match ty {
        TypeRef::Named(name) => model.kind(name),
        _ => None,
    };
    match kind {
        Some(TypeKind::Union(union)) => {
            let variants = union.variants.iter().map(|variant| Candidate {
                ty: model.resolve(&variant.ty).clone(),
                kind: Some(variant.kind),
            });
            variants.collect()
        }
        Some(TypeKind::Results(results)) => {
            let variants = result_variants(results).into_iter().map(|(ty, _)| Candidate {
                ty: model.resolve(&ty).clone(),
                kind: Some(JsonType::Object),
            });
            variants.collect()
        }
        _ => vec![Candidate::alone(ty.clone())],
    }
}

/// How well two structs correspond, the best last; `None` if what distinguishes them says that they don't.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Similarity {
    /// A constant that no other candidate has is the same in both.
    tagged: bool,
    /// The schema has the same name for both.
    named: bool,
    /// How many members both declare.
    common: usize,
}

/// A type of a model.
#[derive(Clone, Copy)]
pub(crate) struct Typed<'m> {
    pub(crate) model: &'m Model,
    pub(crate) ty: &'m TypeRef,
}

impl<'m> Typed<'m> {
    fn official_name(self) -> Option<&'m str> {
        match self.ty {
            TypeRef::Named(name) => Some(self.model.types.get(name)?.documented_as.as_str()),
            _ => None,
        }
    }

    fn structure(self) -> Option<&'m Struct> {
        self.model.struct_of(self.ty)
    }
}

/// How well `from`, which is one of `siblings`, corresponds to `to`, which is one of `others`. Members of `from` have the `names` there,
/// and a rule may say that `from` is `to` by another name.
pub(crate) fn similarity(
    from: Typed<'_>,
    to: Typed<'_>,
    (siblings, others): (&[Candidate], &[Candidate]),
    (names, is_renamed): (&BTreeMap<String, String>, bool),
) -> Option<Similarity> {
    let named = is_renamed || from.official_name().is_some() && from.official_name() == to.official_name();
    let (Some(source), Some(target)) = (from.structure(), to.structure()) else {
        let same = from.ty == to.ty || named;
        return Some(Similarity {
            tagged: false,
            named: same,
            common: 0,
        });
    };
    let holders = |model: &Model, candidates: &[Candidate], tag: &(String, Scalar)| {
        let structs = candidates.iter().filter_map(|other| model.struct_of(&other.ty));
        structs.filter(|other| has_tag(other, tag)).count()
    };
    let there = |name: &str| names.get(name).map_or(name, String::as_str).to_owned();
    let here = |name: &str| {
        names
            .iter()
            .find(|(_, other)| *other == name)
            .map_or(name, |(own, _)| own)
            .to_owned()
    };
    // A tag that nothing else has on either side may have got another value.
    let is_retagged = |own: (&str, &Scalar), other: (&str, Scalar)| {
        let is_gone = holders(to.model, others, &(other.0.to_owned(), own.1.clone())) == 0;
        named && is_gone && holders(from.model, siblings, &(own.0.to_owned(), other.1)) == 0
    };
    let other_tag = |name: &str| tags(target).find(|(own, _)| *own == name);
    if tags(source).any(|(name, value)| {
        contradicts(to.model, target, &there(name), &value)
            && !other_tag(&there(name)).is_some_and(|other| is_retagged((name, &value), other))
    }) || tags(target).any(|(name, value)| {
        contradicts(from.model, source, &here(name), &value)
            && !tags(source).any(|(own, other)| own == here(name) && is_retagged((own, &other), (name, value.clone())))
    }) {
        return None;
    }
    let tagged = tags(source).any(|(name, value)| {
        let (own, other) = ((name.to_owned(), value.clone()), (there(name), value));
        has_tag(target, &other) && holders(to.model, others, &other) == 1 && holders(from.model, siblings, &own) == 1
    });
    let required = source.constants.iter().filter(|constant| constant.required);
    let required = required.map(|constant| &constant.name).chain(source.required());
    let told_apart = { required }.all(|name| target.declares(&there(name)))
        && target.required().all(|name| source.declares(&here(name)));
    if !tagged && !told_apart && !named {
        return None;
    }
    let members = source.members.iter();
    let common = members.filter(|member| target.declares(&there(&member.name))).count();
    Some(Similarity { tagged, named, common })
}

/// What distinguishes an object from others: its constants, and the members that the overlay takes for tags.
fn tags(object: &Struct) -> impl Iterator<Item = (&str, Scalar)> {
    let constants = object.constants.iter();
    let constants = constants.map(|constant| (constant.name.as_str(), constant.value.clone()));
    let members = object.members.iter();
    let members = members.filter_map(|member| Some((member.name.as_str(), Scalar::String(member.tag.clone()?))));
    constants.chain(members)
}

fn has_tag(object: &Struct, (name, value): &(String, Scalar)) -> bool {
    tags(object).any(|(own, other)| own == name && other == *value)
}

/// Whether a struct can't have this value in this member.
fn contradicts(model: &Model, object: &Struct, name: &str, value: &Scalar) -> bool {
    if let Some((_, own)) = tags(object).find(|(own, _)| *own == name) {
        return own != *value;
    }
    let Some(member) = object.member(name) else {
        return false;
    };
    match (model.resolve(&member.ty), value) {
        (TypeRef::Named(name), value) => match (model.kind(name), value) {
            (Some(TypeKind::Strings { values, .. }), Scalar::String(text)) => !values.contains(text),
            (Some(TypeKind::Union(_)), _) => false,
            _ => true,
        },
        (TypeRef::Any, _) => false,
        (TypeRef::String, Scalar::String(_)) | (TypeRef::Boolean, Scalar::Boolean(_)) => false,
        (TypeRef::Integer | TypeRef::Number, Scalar::Integer(_)) => false,
        _ => true,
    }
}
