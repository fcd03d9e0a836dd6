//! Types that can contain themselves: a Rust type needs a pointer in the cycle, and an alias must end.

use std::collections::{BTreeMap, BTreeSet};

use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// Replaces the inner type of aliases that contain themselves (arrays of such arrays, maps of such maps) by any JSON,
/// because Rust has no recursive aliases.
pub(crate) fn open_endless_aliases(model: &mut Model) {
    let names: Vec<String> = model.types.keys().cloned().collect();
    for name in names {
        let target = |name: &str| match model.kind(name) {
            Some(TypeKind::Alias(target)) => target.named(),
            _ => None,
        };
        let on_the_way = std::iter::successors(target(&name), |next| target(next));
        if on_the_way.take(model.types.len()).any(|next| next == name)
            && let Some(TypeKind::Alias(target)) = model.types.get_mut(&name).map(|ty| &mut ty.kind)
        {
            open_innermost(target);
        }
    }
}

fn open_innermost(ty: &mut TypeRef) {
    match ty {
        TypeRef::List(inner) | TypeRef::Map(inner) => open_innermost(inner),
        // This also replaces a nullable type, since any JSON includes null.
        other => *other = TypeRef::Any,
    }
}

/// Marks every member and variant through which a type contains itself.
pub(crate) fn mark_recursive_parts(model: &mut Model) {
    let types = model.types.iter();
    // The type of a result depends on the request, so the union of results contains no value itself.
    let types = types.filter(|(_, ty)| !matches!(ty.kind, TypeKind::Results(_)));
    let contained: BTreeMap<String, Vec<TypeRef>> = types.map(|(name, ty)| (name.clone(), ty.kind.parts())).collect();
    let leads_to = |owner: &str, ty: &TypeRef| {
        let (mut reached, mut waiting) = (BTreeSet::new(), Vec::from_iter(by_value(ty)));
        while let Some(name) = waiting.pop() {
            if name == owner {
                return true;
            }
            if reached.insert(name) {
                let parts = contained.get(name).into_iter().flatten();
                waiting.extend(parts.filter_map(by_value));
            }
        }
        false
    };
    for (owner, ty) in &mut model.types {
        match &mut ty.kind {
            TypeKind::Struct(object) => {
                for member in &mut object.members {
                    member.recursive = leads_to(owner, &member.ty);
                }
            }
            TypeKind::Union(union) => {
                for variant in &mut union.variants {
                    variant.boxed = leads_to(owner, &variant.ty);
                }
            }
            _ => {}
        }
    }
}

/// Returns the type that a value of this type contains without a pointer. Arrays and maps are already behind pointers.
fn by_value(ty: &TypeRef) -> Option<&str> {
    match ty {
        TypeRef::Named(name) => Some(name),
        TypeRef::Nullable(inner) => by_value(inner),
        _ => None,
    }
}
