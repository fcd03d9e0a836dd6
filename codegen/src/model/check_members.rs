//! Checks the overlay's annotations of members: names of fields, and presets.

use heck::ToSnakeCase;
use mcp_json_schema::pointer;
use serde_json::Value;

use super::declarations::{declarations, places_of};
use super::type_ref::TypeRef;
use super::types::{Member, Model, Struct, TypeKind};
use crate::normalise::NormalisedSchema;
use crate::problem::{Problem, Problems};

const FIELD_HELP: &str =
    "correct `x-field` in the overlay: a name in snake_case that no other member of the object has";
const PRESET_HELP: &str =
    "remove the entry, or give it a text, an integer, a boolean, `[]` or `{}`, as the member's schema wants";

/// Checks that each name of a field in the overlay is valid and unique in its struct, and that each preset is a valid value
/// of its member, and the member required.
pub(super) fn check_members(model: &Model, schema: &NormalisedSchema) -> Result<(), Problems> {
    let mut problems = Vec::new();
    let root = &*schema.shapes.schema;
    for (ty, object) in model.objects() {
        for member in &object.members {
            let field = wrong_field(object, member).map(|what| ("x-field", what, FIELD_HELP));
            let annotated = |annotation: &str| {
                let declarations = declarations(root, &ty.pointer);
                let places = places_of(&declarations, &member.name).map(str::to_owned);
                let is_annotated =
                    |place: &String| pointer::resolve(root, &pointer::child(place, annotation)).is_some();
                places.filter(is_annotated).collect::<Vec<_>>()
            };
            let preset = wrong_preset(model, member).or_else(|| {
                let preset = member.preset.as_ref()?;
                // The members of an object have presets themselves.
                let mut places = annotated(preset_annotation(member))
                    .into_iter()
                    .filter(|_| !preset.is_object());
                let violation = places.find_map(|place| schema.validator.validate(&place, preset).into_iter().next());
                violation
                    .map(|violation| format!("constructors can't give this member the value {preset}: {violation}"))
            });
            let preset = preset.map(|what| (preset_annotation(member), what, PRESET_HELP));
            let wrong = field.into_iter().chain(preset);
            problems.extend(wrong.map(|(annotation, what, help)| {
                let place = annotated(annotation).into_iter().next();
                let at = place.map(|place| pointer::child(&place, annotation));
                Problem::at_pointer(at.unwrap_or_else(|| ty.pointer.clone()), what).help(help)
            }));
        }
    }
    Problems::check(problems)
}

fn wrong_field(object: &Struct, member: &Member) -> Option<String> {
    let field = member.field.as_ref()?;
    let wanted = |member: &Member| member.field.clone().unwrap_or_else(|| member.name.to_snake_case());
    if !is_field(field) {
        Some(format!("`{field}` can't be the name of a field"))
    } else if object.members.iter().filter(|other| wanted(other) == *field).count() > 1 {
        Some(format!("another member has the field `{field}`"))
    } else {
        None
    }
}

fn is_field(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.is_ascii() && name.to_snake_case() == name
}

fn wrong_preset(model: &Model, member: &Member) -> Option<String> {
    let preset = member.preset.as_ref()?;
    match (member.required, can_be(model, &member.ty, preset)) {
        (true, true) => None,
        (false, _) => Some("the member may be absent, so it has no preset".to_owned()),
        (true, false) => Some(format!("constructors can't give this member the value {preset}")),
    }
}

/// Returns the annotation that the preset comes from: a required member's tag is a preset too.
fn preset_annotation(member: &Member) -> &'static str {
    let preset = member.preset.as_ref().and_then(Value::as_str);
    if member.tag.is_some() && member.tag.as_deref() == preset {
        "x-tag"
    } else {
        "x-preset"
    }
}

/// Whether constructors can give a member of a type this value.
pub(super) fn can_be(model: &Model, ty: &TypeRef, value: &Value) -> bool {
    // `{}` is an object whose members are absent or have presets themselves.
    let is_empty = value.as_object().is_some_and(serde_json::Map::is_empty);
    match model.resolve(ty) {
        TypeRef::String => value.is_string(),
        TypeRef::Boolean => value.is_boolean(),
        TypeRef::Integer | TypeRef::Number => value.is_i64(),
        TypeRef::List(_) => value.as_array().is_some_and(Vec::is_empty),
        TypeRef::Map(_) | TypeRef::RawObject => is_empty,
        TypeRef::Named(name) => match model.kind(name) {
            Some(TypeKind::Strings(_)) => value.is_string(),
            Some(TypeKind::Struct(object)) => is_empty && !object.members.iter().any(Member::is_argument),
            _ => false,
        },
        _ => false,
    }
}
