//! The overlay's presets for the messages that a session sends automatically, and for the kinds of results.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::lifecycle::{Lifecycle, Members, OwnMessage, Presets};
use super::method::Method;
use super::roles::{RESULT_KIND, is_internal};
use super::type_ref::TypeRef;
use super::types::{Member, Model, Struct};
use crate::messages::MessageKind;

/// The member with the metadata of a message.
const META: &str = "_meta";

/// The maximum depth of nested required objects.
const DEPTH: usize = 8;

/// Returns the presets of the messages that a session sends itself, by method.
pub(super) fn own_messages(model: &Model, lifecycle: &Lifecycle) -> BTreeMap<String, OwnMessage> {
    // Progress notifications are created as a type of the hub, and converted.
    let is_own = |role: &str| is_internal(role) && role != "progress";
    let roles = lifecycle.names.iter().filter(|(role, _)| is_own(role));
    let messages = roles.filter_map(|(role, name)| {
        let method = model.method(name)?;
        let params = model.params(method).map(|params| &params.ty);
        let message = OwnMessage {
            params: presets(model, lifecycle, params, lifecycle.params.get(role)),
            result: presets(model, lifecycle, method.results.first(), lifecycle.results.get(role)),
        };
        Some((name.clone(), message))
    });
    messages.collect()
}

/// Returns the methods by the usual kind of their result, as far as they have a single result whose kind has a preset
/// or tag.
pub(super) fn usual_kinds(model: &Model, lifecycle: &Lifecycle) -> BTreeMap<String, Vec<String>> {
    let mut kinds = BTreeMap::<String, Vec<String>>::new();
    let Some(kind) = lifecycle.names.get(RESULT_KIND) else {
        return kinds;
    };
    let usual = |method: &Method| match &method.results[..] {
        [result] if method.kind == MessageKind::Request => {
            let member = model.struct_of(result)?.member(kind)?;
            let preset = member.preset.as_ref().and_then(Value::as_str);
            preset.or(member.tag.as_deref()).map(str::to_owned)
        }
        _ => None,
    };
    for method in &model.methods {
        if let Some(usual) = usual(method) {
            kinds.entry(usual).or_default().push(method.name.clone());
        }
    }
    kinds
}

/// Returns the presets of an object, without the members that a session knows.
fn presets(model: &Model, lifecycle: &Lifecycle, ty: Option<&TypeRef>, known: Option<&Members>) -> Presets {
    let Some(object) = ty.and_then(|ty| model.struct_of(ty)) else {
        return Presets::default();
    };
    let is_known =
        |member: &str| member == META || known.is_some_and(|known| known.values().any(|name| name == member));
    let (mut members, mut lacking) = required(model, object, DEPTH, is_known);
    let mut meta = Map::new();
    if let Some(member) = object.member(META)
        && let Some(keys) = model.struct_of(&member.ty)
    {
        if member.required {
            members.insert(META.to_owned(), json!({}));
        }
        let has_role = |key: &str| lifecycle.names.values().any(|name| name == key);
        // A session that writes a key into the optional object also has to write its required keys.
        if member.required || keys.members.iter().any(|key| has_role(&key.name)) {
            let (presets, lacking_keys) = required(model, keys, DEPTH, has_role);
            meta = presets;
            lacking.extend(lacking_keys.into_iter().map(|key| format!("{META}.{key}")));
        }
    }
    Presets { members, meta, lacking }
}

/// Returns the preset values of the required members, and the names of those without one.
fn required(
    model: &Model,
    object: &Struct,
    depth: usize,
    is_known: impl Fn(&str) -> bool,
) -> (Map<String, Value>, BTreeSet<String>) {
    let constants = object.constants.iter().filter(|constant| constant.required);
    let constants = constants.map(|constant| (constant.name.clone(), json!(constant.value)));
    let (mut values, mut lacking) = (Map::from_iter(constants), BTreeSet::new());
    let members = object.members.iter().filter(|member| member.required);
    for member in members.filter(|member| !is_known(&member.name)) {
        match value(model, member, depth) {
            Some(value) => drop(values.insert(member.name.clone(), value)),
            None => drop(lacking.insert(member.name.clone())),
        }
    }
    (values, lacking)
}

/// Returns the preset value of a required member, or for an object, that of its required members.
fn value(model: &Model, member: &Member, depth: usize) -> Option<Value> {
    let Some(object) = model.struct_of(&member.ty) else {
        return member.preset.clone();
    };
    let (values, lacking) = required(model, object, depth.checked_sub(1)?, |_| false);
    lacking.is_empty().then_some(Value::Object(values))
}
