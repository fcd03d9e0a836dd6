//! Refuses names of fields that a struct couldn't have.

use heck::ToSnakeCase;
use mcp_wire::json_schema::pointer;

use super::types::{Member, Model, TypeKind};
use crate::problem::{Problem, Problems};

/// Checks that each name that the overlay gives a field is one, and is the only one of its struct.
pub(super) fn check_fields(model: &Model) -> Result<(), Problems> {
    let mut problems = Vec::new();
    for ty in model.types.values() {
        let TypeKind::Struct(object) = &ty.kind else { continue };
        for member in &object.members {
            let Some(field) = &member.field else { continue };
            let what = if !is_field(field) {
                format!("`{field}` can't be the name of a field")
            } else if object.members.iter().filter(|other| wanted(other) == *field).count() > 1 {
                format!("another member has the field `{field}`")
            } else {
                continue;
            };
            let at = pointer::child(&pointer::child(&ty.pointer, "properties"), &member.name);
            let help = "correct `x-field` in the overlay: a name in snake_case that no other member of the object has";
            problems.push(Problem::at_pointer(at, what).help(help));
        }
    }
    Problems::check(problems)
}

fn wanted(member: &Member) -> String {
    member.field.clone().unwrap_or_else(|| member.name.to_snake_case())
}

fn is_field(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.is_ascii() && name.to_snake_case() == name
}
