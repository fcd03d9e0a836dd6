//! Paths to types and members, in the names of the schema.

use mcp_json_schema::pointer;

use crate::model::{Model, Type, TypeRef};

/// Keywords whose subschemas get no step in a path.
const UNNAMED: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Returns the name of a definition or, for a type that the schema doesn't name, its path: `Definition.member[]`.
pub(crate) fn name_of(ty: &Type) -> String {
    if ty.official {
        ty.documented_as.clone()
    } else {
        way_to(&ty.pointer)
    }
}

/// Returns the path to a schema: `Definition.member[]` for the elements of a list, `Definition.member{}` for those of a
/// map.
pub(crate) fn way_to(pointer: &str) -> String {
    let mut parts = pointer::tokens(pointer).unwrap_or_default().into_iter().skip(1);
    let mut way = parts.next().unwrap_or_default();
    while let Some(part) = parts.next() {
        match part.as_str() {
            "properties" => way += &format!(".{}", parts.next().unwrap_or_default()),
            "items" => way += "[]",
            "additionalProperties" => way += "{}",
            part if UNNAMED.contains(&part) => drop(parts.next()),
            other => way += &format!("/{other}"),
        }
    }
    way
}

/// Describes a type in words.
pub(crate) fn describe_type(model: &Model, ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(name) => model.types.get(name).map_or_else(|| name.clone(), name_of),
        TypeRef::RequestId => "RequestId".into(),
        TypeRef::Any => "any JSON".into(),
        TypeRef::List(inner) => format!("list of {}", describe_type(model, inner)),
        TypeRef::Map(inner) => format!("map of {}", describe_type(model, inner)),
        TypeRef::Nullable(inner) => format!("{} or null", describe_type(model, inner)),
        simple => simple.to_string(),
    }
}
