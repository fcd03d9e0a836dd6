//! Refuses types that contain each other so deeply that rustc can't compile a program that uses them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::cycles::components;
use super::type_ref::TypeRef;
use super::types::{Model, Type, TypeKind};
use crate::problem::{Problem, Problems, correction};

/// The maximum depth of a type. To find out whether a type can be sent to another thread, rustc looks at everything in
/// it, and its recursion limit is 128. Programs put types into others, such as futures.
const MAX_DEPTH: usize = 100;

/// The depth that containers add: the number of types between the container and its elements.
const OPTION: usize = 1;
const BOX: usize = 2;
const LIST: usize = 3;
const MAP: usize = 10;

/// The depth at which a type is found first, and the type that contains it.
type Found<'m> = BTreeMap<&'m str, (usize, Option<&'m str>)>;

/// Checks how deeply types contain each other.
///
/// # Errors
/// The objects at which the deepest chain of types must be cut.
pub(super) fn check_depth(model: &Model) -> Result<(), Problems> {
    let is_too_deep = |found: &Found<'_>| found.values().any(|(depth, _)| *depth > MAX_DEPTH);
    let mut deep = Vec::from_iter(bounds(model).into_iter().filter(|(_, bound)| *bound > MAX_DEPTH));
    deep.sort_by_key(|(name, bound)| Reverse((*bound, *name)));
    let mut found = deep.into_iter().map(|(name, _)| contained(model, name));
    let Some(found) = found.find(is_too_deep) else {
        return Ok(());
    };
    let (mut problems, mut cut_at) = (Vec::new(), 0);
    for name in deepest_chain(&found) {
        let (depth, ty) = (found[name].0, &model.types[name]);
        if depth > cut_at + MAX_DEPTH / 2 && matches!(ty.kind, TypeKind::Struct(_)) && !ty.imported {
            problems.push(too_deep(ty));
            cut_at = depth;
        }
    }
    Problems::check(problems)
}

/// Returns a bound of the depth of the types that each type contains. It is exact for most types, and takes only one pass,
/// whereas the depth takes one for each type.
fn bounds(model: &Model) -> BTreeMap<&str, usize> {
    let types = model.types.iter();
    let parts: BTreeMap<&str, Vec<(&str, usize)>> = types
        .map(|(name, ty)| (name.as_str(), named_parts(&ty.kind).collect()))
        .collect();
    let graph = parts.iter();
    let graph = graph.map(|(name, parts)| (*name, parts.iter().map(|(part, _)| *part).collect()));
    let components = components(&graph.collect());
    let mut types: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, component) in &components {
        types.entry(*component).or_default().push(name);
    }
    let mut bounds = BTreeMap::new();
    // A way through a component comes to each of its types at most once, before it leaves the component.
    for (component, names) in types.into_iter().rev() {
        let (mut within, mut beyond) = (1, 0);
        for name in &names {
            let (inner, outer): (Vec<_>, Vec<_>) = parts[name]
                .iter()
                .partition(|(part, _)| components.get(part) == Some(&component));
            within += inner.iter().map(|(_, added)| *added).max().unwrap_or_default();
            let outer = outer
                .into_iter()
                .filter_map(|(part, added)| Some(added + bounds.get(part)? - 1));
            beyond = outer.max().unwrap_or_default().max(beyond);
        }
        bounds.extend(names.into_iter().map(|name| (name, within + beyond)));
    }
    bounds
}

/// Returns the types that a type contains, itself included. Like rustc, it looks at a member and everything in it before
/// the next member, and at each type once: the depth at which a type is found first depends on this order.
fn contained<'m>(model: &'m Model, name: &'m str) -> Found<'m> {
    let mut found = Found::new();
    let mut waiting = vec![(name, 1, None)];
    while let Some((name, depth, parent)) = waiting.pop() {
        let Some(ty) = model.types.get(name).filter(|_| !found.contains_key(name)) else {
            continue;
        };
        found.insert(name, (depth, parent));
        let parts = named_parts(&ty.kind).map(|(part, added)| (part, depth + added, Some(name)));
        waiting.extend(parts.rev());
    }
    found
}

/// Returns the named types in the parts of a type, each with the depth that the way to it adds.
fn named_parts(kind: &TypeKind) -> impl DoubleEndedIterator<Item = (&str, usize)> {
    let parts = parts(kind).into_iter();
    parts.filter_map(|(part, added)| Some((part.named()?, added + containers(part))))
}

/// Returns the types of the parts of a type, each with the depth that the way to it adds.
fn parts(kind: &TypeKind) -> Vec<(&TypeRef, usize)> {
    match kind {
        TypeKind::Struct(object) => {
            let members = object.members.iter();
            let depth = |required: bool, boxed: bool| 1 + usize::from(!required) * OPTION + usize::from(boxed) * BOX;
            members
                .map(|member| (&member.ty, depth(member.required, member.is_boxed())))
                .collect()
        }
        TypeKind::Union(union) => {
            let variants = union.variants.iter();
            variants
                .map(|variant| (&variant.ty, 1 + usize::from(variant.boxed) * BOX))
                .collect()
        }
        TypeKind::Alias(target) => vec![(target, 0)],
        TypeKind::Strings(_) | TypeKind::Methods(_) | TypeKind::Results(_) => Vec::new(),
    }
}

/// Returns the depth that the containers around a named type add.
fn containers(ty: &TypeRef) -> usize {
    match ty {
        TypeRef::List(inner) => LIST + containers(inner),
        TypeRef::Map(inner) => MAP + containers(inner),
        TypeRef::Nullable(inner) => OPTION + containers(inner),
        _ => 0,
    }
}

/// Returns the types that lead to the deepest one, in their order.
fn deepest_chain<'m>(found: &Found<'m>) -> Vec<&'m str> {
    let last = found.iter().max_by_key(|(_, (depth, _))| *depth);
    let mut chain: Vec<&str> = std::iter::successors(last.map(|(name, _)| *name), |name| found[name].1).collect();
    chain.reverse();
    chain
}

fn too_deep(ty: &Type) -> Problem {
    let line = correction(&format!("{}/x-open", ty.pointer), None, true);
    let what = "types contain each other too deeply for rustc, and this one is in the middle";
    Problem::at_pointer(&ty.pointer, what).help(format!("keep the JSON of this object as it is by {line}"))
}
