//! Matches the variants of a union with those of another revision: by their tags and members, never by position.

use super::pairing::Pairing;
use crate::model::{Model, ModelledRevision, Struct, TypeKind, TypeRef, result_variants};
use crate::normalise::Scalar;

impl ModelledRevision {
    /// Returns the types that may hold a value of a type: the variants of a union; any other type is its own only variant.
    pub(super) fn candidates(&self, ty: &TypeRef) -> Vec<TypeRef> {
        let ty = self.model.resolve(ty);
        match self.model.kind_of(ty) {
            Some(TypeKind::Union(union)) => self.resolved(union.variants.iter().map(|variant| &variant.ty)),
            Some(TypeKind::Results(results)) => {
                let variants = result_variants(results);
                self.resolved(variants.iter().map(|(ty, _)| ty))
            }
            _ if *ty == TypeRef::RequestId => vec![TypeRef::String, TypeRef::Integer],
            _ => vec![ty.clone()],
        }
    }

    pub(super) fn resolved<'t>(&self, types: impl Iterator<Item = &'t TypeRef>) -> Vec<TypeRef> {
        types.map(|ty| self.model.resolve(ty).clone()).collect()
    }
}

/// How well two types correspond; a better match is greater: whether both have the same constant, and no other candidate
/// has it; whether both have the same name in the schema, or a rule renames one to the other; whether the target requires
/// no constant in a member that the source doesn't declare; and the number of members that both declare.
pub(super) type Similarity = (bool, bool, bool, usize);

impl Pairing<'_> {
    /// Returns how well a type of the source, which is one of `siblings`, corresponds to one of the target, which is
    /// one of `others`; `None` if they don't, by their tags, members and names.
    pub(super) fn similarity(
        &self,
        (from, siblings): (&TypeRef, &[TypeRef]),
        (to, others): (&TypeRef, &[TypeRef]),
    ) -> Option<Similarity> {
        let (model, model_there) = (&self.from.model, &self.to.model);
        let is_renamed = self.renamed_type(from).is_some_and(|(_, there)| there == *to);
        let official_name = official_name(model, from);
        let named = is_renamed || official_name.is_some() && official_name == self::official_name(model_there, to);
        let Some(objects) = self.objects(from, to) else {
            return Some((false, from == to || named, true, 0));
        };
        let (source, target, names) = (objects.from, objects.to, self.other_names(objects));
        let holders = |model: &Model, candidates: &[TypeRef], name: &str, value: &Scalar| {
            let structs = candidates.iter().filter_map(|other| model.struct_of(other));
            structs.filter(|other| has_tag(other, name, value)).count()
        };
        let there = |name: &str| names.get(name).copied().unwrap_or(name).to_owned();
        let here = |name: &str| {
            let own = names.iter().find(|(_, other)| **other == name);
            own.map_or(name, |(own, _)| own).to_owned()
        };
        // A tag may have got another value, unless another type on either side has that value.
        let is_retagged = |own: (&str, &Scalar), other: (&str, &Scalar)| {
            let is_gone = holders(model_there, others, other.0, own.1) == 0;
            named && is_gone && holders(model, siblings, own.0, other.1) == 0
        };
        let is_contradicted = |(name, value): (&str, Scalar)| {
            let other = tags(target).find(|(other, _)| *other == there(name));
            match other {
                Some((other, there)) => there != value && !is_retagged((name, &value), (other, &there)),
                None => refuses(model_there, target, &there(name), &value),
            }
        };
        let is_refused = |(name, value): (&str, Scalar)| {
            let is_tag = tags(source).any(|(own, _)| own == here(name));
            !is_tag && refuses(model, source, &here(name), &value)
        };
        if tags(source).any(is_contradicted) || tags(target).any(is_refused) {
            return None;
        }
        let is_only_there = |(name, value): &(&str, Scalar)| {
            has_tag(target, &there(name), value) && holders(model_there, others, &there(name), value) == 1
        };
        let tagged = tags(source).any(|tag| is_only_there(&tag) && holders(model, siblings, tag.0, &tag.1) == 1);
        // Where the target has only one type, or only one with a tag of the source, other tags distinguish nothing.
        let is_alone = others.len() == 1 || tags(source).any(|tag| is_only_there(&tag));
        let required = source
            .constants
            .iter()
            .filter(|constant| constant.required && !is_alone);
        let required = required.map(|constant| &constant.name).chain(source.required());
        let told_apart = { required }.all(|name| target.declares(&there(name)))
            && target.required().all(|name| source.declares(&here(name)));
        if !tagged && !told_apart && !named {
            return None;
        }
        let members = source.members.iter();
        let common = members.filter(|member| target.declares(&there(&member.name))).count();
        let mut constants = target.constants.iter().filter(|constant| constant.required);
        let is_declared = constants.all(|constant| source.declares(&here(&constant.name)));
        Some((tagged, named, is_declared, common))
    }
}

/// The name that the schema gives a type, or by which the type is documented.
fn official_name<'m>(model: &'m Model, ty: &TypeRef) -> Option<&'m str> {
    match ty {
        TypeRef::Named(name) => Some(model.types.get(name)?.documented_as.as_str()),
        _ => None,
    }
}

/// Returns the tags of an object: its constants, and the members that the overlay declares as tags.
pub(super) fn tags(object: &Struct) -> impl Iterator<Item = (&str, Scalar)> {
    let constants = object.constants.iter();
    let constants = constants.map(|constant| (constant.name.as_str(), constant.value.clone()));
    let members = object.members.iter();
    let members = members.filter_map(|member| Some((member.name.as_str(), Scalar::String(member.tag.clone()?))));
    constants.chain(members)
}

fn has_tag(object: &Struct, name: &str, value: &Scalar) -> bool {
    tags(object).any(|(own, other)| own == name && other == *value)
}

/// Whether a struct can't have this value in this member, which isn't a tag of it.
pub(super) fn refuses(model: &Model, object: &Struct, name: &str, value: &Scalar) -> bool {
    let Some(member) = object.member(name) else {
        return false;
    };
    match (model.resolve(&member.ty), value) {
        (TypeRef::Named(name), value) => match (model.kind(name), value) {
            (Some(TypeKind::Strings(strings)), Scalar::String(text)) => !strings.values.contains(text),
            (Some(TypeKind::Union(_)), _) => false,
            _ => true,
        },
        (TypeRef::Any, _) => false,
        (TypeRef::String, Scalar::String(_)) | (TypeRef::Boolean, Scalar::Boolean(_)) => false,
        (TypeRef::Integer | TypeRef::Number, Scalar::Integer(_)) => false,
        _ => true,
    }
}
