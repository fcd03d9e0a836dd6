//! Types that can contain themselves: a Rust type needs a pointer in the cycle, and an alias must end.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::find_cycles;

use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// Replaces the inner type of aliases that contain themselves (arrays of such arrays, maps of such maps) by any JSON,
/// because Rust has no recursive aliases.
pub(crate) fn open_endless_aliases(model: &mut Model) {
    let target = |name: &str| match model.types.get_key_value(name)?.1.kind {
        TypeKind::Alias(ref target) => target.named(),
        _ => None,
    };
    let names = model.types.keys().map(String::as_str);
    let mut endless = Vec::new();
    find_cycles(
        names,
        |name| Vec::from_iter(target(name)),
        |cycle| endless.extend(cycle.iter().min().map(|first| (*first).to_owned())),
    );
    for name in endless {
        if let Some(TypeKind::Alias(target)) = model.types.get_mut(&name).map(|ty| &mut ty.kind) {
            open_innermost(target);
        }
    }
}

/// Lets each alias of an alias refer to the type at the end of the chain, so that following aliases takes one step.
pub(crate) fn shorten_aliases(model: &mut Model) {
    for name in model.types.keys().cloned().collect::<Vec<_>>() {
        let (mut chain, mut end) = (Vec::new(), TypeRef::Named(name));
        while let Some(TypeKind::Alias(next)) = end.as_named().and_then(|name| model.kind(name)) {
            let next = next.clone();
            chain.push(std::mem::replace(&mut end, next));
        }
        for alias in chain.iter().filter_map(TypeRef::as_named) {
            if let Some(ty) = model.types.get_mut(alias) {
                ty.kind = TypeKind::Alias(end.clone());
            }
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
    let parts = contained.iter();
    let parts = parts.map(|(name, parts)| (name.as_str(), parts.iter().filter_map(by_value).collect()));
    let components = components(&parts.collect());
    let leads_to = |owner: &str, ty: &TypeRef| {
        let component = by_value(ty).and_then(|name| components.get(name));
        component.is_some() && component == components.get(owner)
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

/// Returns the component of each node of a graph. Nodes that lead to each other are in the same component, and the others
/// that a node leads to are in components with a greater number. This is Kosaraju's algorithm, without recursion, because
/// the depth of the graph has no limit.
pub(super) fn components<'n>(successors: &BTreeMap<&'n str, Vec<&'n str>>) -> BTreeMap<&'n str, usize> {
    let mut predecessors: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (node, next) in successors {
        next.iter()
            .for_each(|next| predecessors.entry(next).or_default().push(node));
    }
    let mut components = BTreeMap::new();
    for (number, start) in in_order_of_leaving(successors).into_iter().rev().enumerate() {
        let mut waiting = vec![start];
        while let Some(node) = waiting.pop() {
            if !components.contains_key(node) {
                components.insert(node, number);
                waiting.extend(predecessors.get(node).into_iter().flatten());
            }
        }
    }
    components
}

/// Returns the nodes of a graph in the order in which a depth-first search leaves them.
fn in_order_of_leaving<'n>(successors: &BTreeMap<&'n str, Vec<&'n str>>) -> Vec<&'n str> {
    let (mut entered, mut left) = (BTreeSet::new(), Vec::new());
    for (start, next) in successors {
        let mut path = Vec::from_iter(entered.insert(*start).then(|| (*start, next.iter())));
        while let Some((node, next)) = path.last_mut() {
            match next.next().map(|next| successors.get_key_value(next)) {
                Some(Some((next, others))) if entered.insert(*next) => path.push((*next, others.iter())),
                Some(_) => {}
                None => {
                    left.push(*node);
                    path.pop();
                }
            }
        }
    }
    left
}
