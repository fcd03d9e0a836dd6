//! A revision on one side of a conversion.

use serde_json::Value;

use crate::model::{MemberSchema, Model, ModelledRevision, TypeRef};

/// A revision on one side of a conversion.
#[derive(Clone, Copy)]
pub(crate) struct Side<'m> {
    pub(crate) model: &'m Model,
    pub(crate) schema: &'m Value,
}

impl<'m> Side<'m> {
    pub(crate) fn of(revision: &'m ModelledRevision) -> Self {
        Self {
            model: &revision.model,
            schema: &revision.schema,
        }
    }

    /// What the schema says of a member of a type.
    pub(super) fn member_schema(&self, ty: &str, member: &str) -> Option<&'m MemberSchema> {
        self.model.types.get(ty)?.schema.members.get(member)
    }

    /// Whether the schema enumerates a type's values, so that no other is valid.
    pub(super) fn is_enumeration(&self, ty: &TypeRef) -> bool {
        matches!(self.model.resolve(ty), TypeRef::Named(name) if self.model.is_enumeration(name))
    }

    /// Whether values of a type are JSON that no type describes, or lists or maps of it.
    pub(super) fn is_open(&self, ty: &TypeRef) -> bool {
        match self.model.resolve(ty) {
            TypeRef::Any | TypeRef::RawObject => true,
            TypeRef::List(inner) | TypeRef::Map(inner) | TypeRef::Nullable(inner) => self.is_open(inner),
            _ => false,
        }
    }
}
