//! Refuses presets that constructors couldn't give a member.

use mcp_wire::json_schema::pointer;
use serde_json::Value;

use super::type_ref::TypeRef;
use super::types::{Member, Model, TypeKind};
use crate::problem::{Problem, Problems};

/// Checks that each preset is a value of its member's type, and that the member is always there.
pub(super) fn check_presets(model: &Model) -> Result<(), Problems> {
    let objects = model.types.values().filter_map(|ty| match &ty.kind {
        TypeKind::Struct(object) => Some((ty, object)),
        _ => None,
    });
    let members = objects.flat_map(|(ty, object)| object.members.iter().map(move |member| (ty, member)));
    let problems = members.filter_map(|(ty, member)| {
        let preset = member.preset.as_ref()?;
        let what = match (member.required, can_be(model, &member.ty, preset)) {
            (true, true) => return None,
            (false, _) => "the member may be absent, so it has no preset".to_owned(),
            (true, false) => format!("constructors can't give this member the value {preset}"),
        };
        let at = pointer::child(&pointer::child(&ty.pointer, "properties"), &member.name);
        Some(Problem::at_pointer(at, what).help(
            "remove `x-preset` or `x-tag` from the overlay, or give it a text, an integer, a boolean or `{}`, as the member's schema wants",
        ))
    });
    Problems::check(problems.collect())
}

/// Whether it is `{}`: an object whose members are absent or have presets themselves.
fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(serde_json::Map::is_empty)
}

fn can_be(model: &Model, ty: &TypeRef, value: &Value) -> bool {
    match model.resolve(ty) {
        TypeRef::String => value.is_string(),
        TypeRef::Boolean => value.is_boolean(),
        TypeRef::Integer | TypeRef::Number => value.is_i64(),
        TypeRef::Named(name) => match model.kind(name) {
            Some(TypeKind::Strings { .. }) => value.is_string(),
            Some(TypeKind::Struct(object)) => is_empty(value) && !object.members.iter().any(Member::is_argument),
            _ => false,
        },
        _ => false,
    }
}
