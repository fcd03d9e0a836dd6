//! The overlay's presets for the messages that a session sends automatically, and for the kinds of results.

use std::collections::BTreeMap;

use mcp_json_schema::pointer;
use serde_json::{Value, json};

use super::check_members::can_be;
use super::lifecycle::{Lifecycle, Members, OwnMessage, Presets};
use super::method::Method;
use super::roles::{RESULT_KIND, is_internal};
use super::type_ref::TypeRef;
use super::types::{Member, Model, Struct, TypeKind};
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

/// Returns the methods by the usual kind of their result, as far as they have a single result whose kind is a constant,
/// or has a preset or tag.
pub(super) fn usual_kinds(model: &Model, lifecycle: &Lifecycle) -> BTreeMap<String, Vec<String>> {
    let mut kinds = BTreeMap::<String, Vec<String>>::new();
    let Some(kind) = lifecycle.names.get(RESULT_KIND) else {
        return kinds;
    };
    let usual = |method: &Method| match &method.results[..] {
        [result] if method.kind == MessageKind::Request => {
            let object = model.struct_of(result)?;
            let of_member = |member: &Member| {
                let preset = member.preset.as_ref().and_then(Value::as_str);
                preset.or(member.tag.as_deref()).map(str::to_owned)
            };
            let constant = object.constant_text(kind).map(str::to_owned);
            constant.or_else(|| object.member(kind).and_then(of_member))
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
    let Some((ty, object)) = ty.and_then(|ty| Some((ty, model.struct_of(ty)?))) else {
        return Presets::default();
    };
    let is_known =
        |member: &str| member == META || known.is_some_and(|known| known.values().any(|name| name == member));
    let mut presets = required(model, (ty, object), DEPTH, &is_known);
    if let Some(member) = object.member(META)
        && let Some(keys) = model.struct_of(&member.ty)
    {
        if member.required {
            presets.members.insert(META.to_owned(), json!({}));
        }
        let has_role = |key: &str| lifecycle.names.values().any(|name| name == key);
        // A session that writes a key into the optional object also has to write its required keys.
        if member.required || keys.members.iter().any(|key| has_role(&key.name)) {
            let of_keys = required(model, (&member.ty, keys), DEPTH, &has_role);
            presets.meta = of_keys.members;
            presets.lack(META, of_keys.lacking);
        }
    }
    presets
}

/// Returns the preset values of the required members, and what those without one lack.
fn required(
    model: &Model,
    (ty, object): (&TypeRef, &Struct),
    depth: usize,
    is_known: &dyn Fn(&str) -> bool,
) -> Presets {
    let constants = object.constants.iter().filter(|constant| constant.required);
    let constants = constants.map(|constant| (constant.name.clone(), json!(constant.value)));
    let mut presets = Presets {
        members: constants.collect(),
        ..Presets::default()
    };
    let members = object.members.iter().filter(|member| member.required);
    for member in members.filter(|member| !is_known(&member.name)) {
        let name = member.name.clone();
        let value = match (model.struct_of(&member.ty), depth.checked_sub(1)) {
            (Some(inner), Some(depth)) => {
                let inner = required(model, (&member.ty, inner), depth, &|_| false);
                presets.lack(&name, inner.lacking);
                Some(Value::Object(inner.members))
            }
            _ => member.preset.clone(),
        };
        match value {
            Some(value) => drop(presets.members.insert(name, value)),
            None => drop(presets.lacking.insert(name, empty_value(model, ty, member))),
        }
    }
    presets
}

impl Presets {
    /// Adds what a member lacks.
    fn lack(&mut self, member: &str, inner: BTreeMap<String, (String, Option<Value>)>) {
        let inner = inner.into_iter();
        self.lacking
            .extend(inner.map(|(name, value)| (format!("{member}.{name}"), value)));
    }
}

/// Returns the pointer of the schema of an object's member, and the empty value of its type: `None` if the type can't have
/// a preset.
fn empty_value(model: &Model, ty: &TypeRef, member: &Member) -> (String, Option<Value>) {
    let object = model.resolve(ty).named().and_then(|name| model.types.get(name));
    let members = pointer::child(object.map_or("#", |object| &object.pointer), "properties");
    let value = match (model.resolve(&member.ty), model.kind_of(&member.ty)) {
        (_, Some(TypeKind::Strings(strings))) => json!(strings.values.first()),
        (TypeRef::Boolean, _) => json!(false),
        (TypeRef::Integer | TypeRef::Number, _) => json!(0),
        (TypeRef::List(_), _) => json!([]),
        (TypeRef::Map(_) | TypeRef::RawObject, _) => json!({}),
        _ => json!(""),
    };
    let value = Some(value).filter(|value| can_be(model, &member.ty, value));
    (pointer::child(&members, &member.name), value)
}
