//! Which members a type has, through the types of its members.

use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// Whether a type declares a member, that one the next, and so on: `member.member`. A union declares what any variant does.
pub(super) fn declares(model: &Model, ty: &str, path: &str) -> bool {
    declares_path(model, &TypeRef::Named(ty.to_owned()), path)
}

fn declares_path(model: &Model, ty: &TypeRef, path: &str) -> bool {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match model.kind_of(ty) {
        Some(TypeKind::Struct(object)) if rest.is_empty() => object.declares(first),
        Some(TypeKind::Struct(object)) => {
            let member = object.member(first);
            member.is_some_and(|member| declares_path(model, &member.ty, rest))
        }
        Some(TypeKind::Union(union)) => {
            let mut variants = union.variants.iter();
            variants.any(|variant| declares_path(model, &variant.ty, path))
        }
        _ => false,
    }
}
