//! Which members a type has, through the types of its members.

use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// Whether a type declares a member, that one the next, and so on: `member.member`. A union declares what any variant does.
pub(super) fn declares(model: &Model, ty: &str, path: &str) -> bool {
    declares_path(model, &TypeRef::Named(ty.to_owned()), path)
}

fn declares_path(model: &Model, ty: &TypeRef, path: &str) -> bool {
    let TypeRef::Named(name) = model.resolve(ty) else {
        return false;
    };
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match model.types.get(name).map(|ty| &ty.kind) {
        Some(TypeKind::Struct(object)) => {
            let is_constant = object.constants.iter().any(|constant| constant.name == first);
            let member = object.members.iter().find(|member| member.name == first);
            is_constant && rest.is_empty()
                || member.is_some_and(|member| rest.is_empty() || declares_path(model, &member.ty, rest))
        }
        Some(TypeKind::Union(union)) => {
            let mut variants = union.variants.iter();
            variants.any(|variant| declares_path(model, &variant.ty, path))
        }
        _ => false,
    }
}
