//! Two revisions, and which of their declarations correspond.

use std::borrow::Cow;

use super::path::Step;
use super::rules::Rules;
use crate::model::{
    Assertions, Member, MemberSchema, Method, ModelledRevision, OpenSchema, Struct, TypeKind, TypeRef, open_schema,
};

/// Maximum depth of nested objects that are searched for supplied members.
const MAX_DEPTH: usize = 8;

impl ModelledRevision {
    pub(super) fn name(&self, ty: &TypeRef) -> String {
        self.model.resolve(ty).to_string()
    }

    /// Returns the name and the members of a type that is an object.
    fn object(&self, ty: &TypeRef) -> Option<(&str, &Struct)> {
        let name = self.model.resolve(ty).named()?;
        let (name, _) = self.model.types.get_key_value(name)?;
        Some((name, self.model.struct_of(ty)?))
    }

    /// Whether a type is an object that allows no undeclared members.
    pub(super) fn is_closed(&self, name: &str) -> bool {
        self.model.types.get(name).is_some_and(|ty| ty.schema.closed)
    }

    /// Returns the schema of a member of a type.
    pub(super) fn member_schema(&self, ty: &str, member: &str) -> Option<&MemberSchema> {
        self.model.types.get(ty)?.schema.members.get(member)
    }

    pub(super) fn is_nullable(&self, ty: &TypeRef) -> bool {
        matches!(self.model.resolve(ty), TypeRef::Nullable(_))
    }

    /// Returns the assertions of the schema about values of a type that the type doesn't express.
    pub(super) fn assertions(&self, ty: &TypeRef) -> Option<&Assertions> {
        let name = self.model.resolve(ty).named()?;
        Some(&self.model.types.get(name)?.schema.assertions)
    }

    /// Whether the schema makes such an assertion about an object along a path, or about the member at its end.
    pub(super) fn asserts_at(&self, ty: &str, path: &[Step]) -> bool {
        let (Some(owner), [Step::Member(name), rest @ ..]) = (self.model.types.get(ty), path) else {
            // The schema may restrict the list and its elements in several places.
            return !path.is_empty();
        };
        let schema = owner.schema.members.get(name).filter(|_| rest.is_empty());
        let object = self.model.struct_of(&TypeRef::Named(ty.to_owned()));
        let inner = object.and_then(|object| self.model.resolve(&object.member(name)?.ty).named());
        !owner.schema.assertions.is_empty()
            || schema.is_some_and(|schema| !schema.assertions.is_empty())
            || inner.is_some_and(|inner| self.asserts_at(inner, rest))
    }

    /// Whether the schema may refuse an element that a rule adds to a list of an object.
    pub(super) fn may_refuse_added(&self, ty: &str, list: &str) -> bool {
        let is_open = self.member_schema(ty, list).is_some_and(|schema| schema.open.is_some());
        is_open || self.asserts_at(ty, &[Step::Member(list.to_owned())])
    }

    /// Whether the schema enumerates a type's values, so that no other is valid.
    pub(super) fn is_enumeration(&self, ty: &TypeRef) -> bool {
        matches!(self.model.resolve(ty), TypeRef::Named(name) if self.model.is_enumeration(name))
    }

    /// Returns the requirements of a member's schema of open JSON, even if its type is another.
    pub(super) fn open_schema(&self, ty: &str, member: &str) -> Option<Cow<'_, OpenSchema>> {
        let schema = self.member_schema(ty, member)?;
        Some(match &schema.open {
            Some(open) => Cow::Borrowed(open),
            None => Cow::Owned(open_schema(&self.model, &self.schema, &schema.pointers)),
        })
    }
}

/// Two revisions, the direction of the conversion, and the rules: how types, members and variants relate.
#[derive(Clone, Copy)]
pub(crate) struct Pairing<'m> {
    /// The revision that values come from.
    pub(crate) from: &'m ModelledRevision,
    /// The revision that they go to.
    pub(crate) to: &'m ModelledRevision,
    pub(crate) rules: &'m Rules,
    /// Whether the target is the later of the two.
    pub(crate) upward: bool,
}

/// Two types that are objects: one of the source, and one of the target.
#[derive(Clone, Copy)]
pub(super) struct Objects<'m> {
    pub(super) from_name: &'m str,
    pub(super) from: &'m Struct,
    pub(super) to_name: &'m str,
    pub(super) to: &'m Struct,
}

impl<'m> Pairing<'m> {
    /// Returns the objects that two types are, if both are.
    pub(super) fn objects(&self, source: &TypeRef, target: &TypeRef) -> Option<Objects<'m>> {
        let ((from_name, from), (to_name, to)) = (self.from.object(source)?, self.to.object(target)?);
        Some(Objects {
            from_name,
            from,
            to_name,
            to,
        })
    }

    /// Returns the messages of two types, if one is a union of messages, and the other too, or a single message.
    pub(super) fn messages(&self, source: &TypeRef, target: &TypeRef) -> Option<[Vec<(String, String)>; 2]> {
        let (from, to) = (&self.from.model, &self.to.model);
        let mut kinds = [from.kind_of(source), to.kind_of(target)].into_iter();
        let has_union = kinds.any(|kind| matches!(kind, Some(TypeKind::Methods(_))));
        has_union.then_some(())?;
        Some([from.messages(source)?, to.messages(target)?])
    }

    /// Whether every required member of an object can be supplied.
    pub(super) fn is_supplied(&self, side: &ModelledRevision, ty: &TypeRef, depth: usize) -> bool {
        let Some((name, object)) = side.object(ty).filter(|_| depth < MAX_DEPTH) else {
            return false;
        };
        let mut required = object.members.iter().filter(|member| member.required);
        let is_supplied = |member: &Member| {
            let place = format!("{name}.{}", member.name);
            let found = self.rules.find(&place, |rule| rule.supplied.as_ref());
            found.is_some() || self.is_supplied(side, &member.ty, depth + 1)
        };
        object.required().next().is_some() && required.all(is_supplied)
    }

    /// Whether the target's schema of a type asserts something that doesn't follow from the source's schema.
    pub(super) fn is_narrower(&self, source: &TypeRef, target: &TypeRef) -> bool {
        let (known, asserted) = (self.from.assertions(source), self.to.assertions(target));
        !self.from.model.is_open(source) && asserted.is_some_and(|asserted| !asserted.follow_from(known))
    }

    /// Returns the revision whose directory has the rules.
    pub(super) fn rules_of(&self) -> &'m str {
        let later = if self.upward { self.to } else { self.from };
        &later.model.revision
    }

    pub(super) fn rule_name(&self, index: usize) -> String {
        format!("{} {}", self.rules_of(), self.rules.rules[index].at)
    }

    /// Returns the target's method for one of the source, if it has one: that with the same name, or with the same role in
    /// a session, or whose request or notification has the same definition, perhaps renamed.
    pub(super) fn target_method(&self, name: &str) -> Option<&'m Method> {
        let (from, to) = (&self.from.model, &self.to.model);
        if let Some(same) = to.method(name) {
            return Some(same);
        }
        let method = from.method(name)?;
        if let Some(named) = method.role.as_ref().and_then(|role| to.lifecycle.names.get(role)) {
            return to.method(named);
        }
        let mut others = to.methods.iter().filter(|other| from.method(&other.name).is_none());
        let renamed = self.renamed_type(&TypeRef::Named(method.ty.clone()));
        let is_renamed = |other: &str| renamed.as_ref().is_some_and(|(_, there)| there.named() == Some(other));
        others
            .find(|other| other.kind == method.kind && (other.definition == method.definition || is_renamed(&other.ty)))
    }

    /// Returns what the target has for a method of the source.
    pub(super) fn of_method<'t, T>(&self, method: &str, others: &'t [(String, T)]) -> Option<&'t T> {
        let method = self.target_method(method)?;
        let there = others.iter().find(|(name, _)| *name == method.name);
        there.map(|(_, there)| there)
    }
}
