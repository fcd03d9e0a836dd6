//! The module of each type.

use std::collections::{BTreeMap, BTreeSet};

use heck::ToSnakeCase;
use proc_macro2::Ident;

use super::names::identifier_part;
use super::type_ref::TypeRef;
use super::types::{Model, TypeKind};

/// The module of types that several parts of the protocol use.
const SHARED: &str = "base";

/// The module of the unions of messages.
pub(crate) const MESSAGES: &str = "messages";
/// The names of a crate's other files, and of the crate that it depends on.
const TAKEN: [&str; 8] = [
    "definitions",
    "error_code",
    "extension",
    "lib",
    "main",
    "mcp_wire",
    "methods",
    "schema",
];

/// The definitions of each module.
pub(crate) type Modules = BTreeMap<String, Vec<String>>;

/// Assigns modules: those that `assigned` defines by official name, else that of the method, or the only module that
/// uses the type.
pub(crate) fn assign_modules(model: &mut Model, assigned: &Modules) {
    let assigned = assigned.iter();
    let assigned = assigned.flat_map(|(module, definitions)| definitions.iter().map(move |name| (name, module)));
    let assigned: BTreeMap<&String, &String> = assigned.collect();
    let mut modules: BTreeMap<String, String> = BTreeMap::new();
    for (name, ty) in &model.types {
        if matches!(ty.kind, TypeKind::Methods(_) | TypeKind::Results(_)) {
            modules.insert(name.clone(), MESSAGES.to_owned());
        } else if let (true, Some(module)) = (ty.official, assigned.get(&ty.documented_as)) {
            modules.insert(name.clone(), (*module).clone());
        }
    }
    for method in &model.methods {
        let module = module_of_method(&method.name);
        let results = method.results.iter().filter_map(TypeRef::as_named);
        for name in results.chain([method.ty.as_str()]) {
            modules.entry(name.to_owned()).or_insert_with(|| module.clone());
        }
    }
    // Each round assigns modules to the types that are used by those which got one in the round before.
    let mut latest = modules.clone();
    while !latest.is_empty() {
        let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, module) in &latest {
            for used in uses(model, name) {
                if !modules.contains_key(&used) {
                    users.entry(used).or_default().insert(module.clone());
                }
            }
        }
        let assigned = users.into_iter().map(|(name, users)| {
            let mut users = users.into_iter();
            let only = users.next().filter(|_| users.next().is_none());
            (name, only.unwrap_or_else(|| SHARED.to_owned()))
        });
        latest = assigned.collect();
        modules.extend(latest.clone());
    }
    for (name, ty) in &mut model.types {
        ty.module = modules.remove(name).unwrap_or_else(|| SHARED.to_owned());
    }
}

/// Returns the module of a method: `tools/call` and `notifications/tools/list_changed` belong to `tools`, and `ping` to
/// [`SHARED`].
fn module_of_method(method: &str) -> String {
    let path = method.strip_prefix("notifications/").unwrap_or(method);
    let group = path
        .split_once('/')
        .map(|(group, _)| identifier_part(group).to_snake_case());
    match group {
        Some(name) if is_module_name(&name) => name,
        Some(name) if name.starts_with(|c: char| c.is_ascii_lowercase()) => format!("{name}_methods"),
        _ => SHARED.to_owned(),
    }
}

/// Whether a name is valid for a module.
pub(super) fn is_module_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.is_ascii()
        && name == name.to_snake_case()
        // syn doesn't know that this is reserved.
        && name != "gen"
        && syn::parse_str::<Ident>(name).is_ok()
        && !TAKEN.contains(&name)
}

/// Returns the types that a type refers to.
fn uses(model: &Model, name: &str) -> impl Iterator<Item = String> {
    let parts = model.kind(name).map(TypeKind::parts).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.named().map(str::to_owned))
}

/// Returns the types that are reachable from these. Types for which `ends` is true are excluded, and not followed.
pub(super) fn reachable(model: &Model, from: Vec<String>, ends: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let (mut reached, mut waiting) = (BTreeSet::new(), from);
    while let Some(name) = waiting.pop() {
        if !ends(&name) && model.types.contains_key(&name) && reached.insert(name.clone()) {
            waiting.extend(uses(model, &name));
        }
    }
    reached
}
