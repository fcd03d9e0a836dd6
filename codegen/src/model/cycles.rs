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
    let reachable = reachability(model);
    let returns = |owner: &str, ty: &TypeRef| {
        by_value(ty)
            .is_some_and(|name| name == owner || reachable.get(name).is_some_and(|reached| reached.contains(owner)))
    };
    for (owner, ty) in &mut model.types {
        match &mut ty.kind {
            TypeKind::Struct(object) => {
                for member in &mut object.members {
                    member.boxed = returns(owner, &member.ty);
                }
            }
            TypeKind::Union(union) => {
                for variant in &mut union.variants {
                    variant.boxed = returns(owner, &variant.ty);
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

fn reachability(model: &Model) -> BTreeMap<String, BTreeSet<String>> {
    let contains = |name: &str| -> Vec<&str> {
        match model.kind(name) {
            Some(TypeKind::Struct(object)) => object
                .members
                .iter()
                .filter_map(|member| by_value(&member.ty))
                .collect(),
            Some(TypeKind::Union(union)) => union
                .variants
                .iter()
                .filter_map(|variant| by_value(&variant.ty))
                .collect(),
            Some(TypeKind::Methods(methods)) => methods.iter().map(|(_, ty)| ty.as_str()).collect(),
            Some(TypeKind::Alias(target)) => by_value(target).into_iter().collect(),
            _ => Vec::new(),
        }
    };
    model
        .types
        .keys()
        .map(|start| {
            let mut reached = BTreeSet::new();
            let mut waiting = contains(start);
            while let Some(name) = waiting.pop() {
                if reached.insert(name.to_owned()) {
                    waiting.extend(contains(name));
                }
            }
            (start.clone(), reached)
        })
        .collect()
}
