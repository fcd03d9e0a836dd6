//! Refuses types that contain each other so deeply that rustc can't compile a program that uses them.

use std::collections::BTreeMap;

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
    let depth = |found: &Found<'_>| found.values().map(|(depth, _)| *depth).max();
    let found = model.types.keys().map(|name| contained(model, name));
    let Some(found) = found.max_by_key(depth).filter(|found| depth(found) > Some(MAX_DEPTH)) else {
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
        let parts = parts(&ty.kind).into_iter();
        let named =
            parts.filter_map(|(part, added)| Some((part.named()?, depth + added + containers(part), Some(name))));
        waiting.extend(named.rev());
    }
    found
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
        TypeKind::Strings { .. } | TypeKind::Methods(_) | TypeKind::Results(_) => Vec::new(),
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
