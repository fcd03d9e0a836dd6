//! Types that may contain themselves: a Rust value needs a pointer somewhere on the way, and an alias an end.

use std::collections::{BTreeMap, BTreeSet};

use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// Opens aliases that lead to themselves (arrays of such arrays, maps of such maps) where they do: Rust has no such alias.
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
        // Any JSON includes null.
        other => *other = TypeRef::Any,
    }
}

/// Marks every member and variant that lies on a way from a type to itself.
pub(crate) fn box_cycles(model: &mut Model) {
    let types = model.types.iter();
    // Which result it is depends on the request, so that nothing is in the union itself.
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
                    member.boxed = leads_to(owner, &member.ty);
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

/// The type that a value of this type contains without a pointer; arrays and maps are pointers already.
fn by_value(ty: &TypeRef) -> Option<&str> {
    match ty {
        TypeRef::Named(name) => Some(name),
        TypeRef::Nullable(inner) => by_value(inner),
        _ => None,
    }
}
