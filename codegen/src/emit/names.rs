//! Names in generated code: those that the name of a revision or a crate decides, or the standard library, and those that code has in it.

use proc_macro2::{Ident, Span};

use super::source;
use crate::model::TypeRef;
use crate::model::names::identifier_part;

/// Names of the standard library that a crate's root leaves to it, so that `use` of all names there shadows none.
pub(super) const STANDARD: [&str; 9] = [
    "Box", "Error", "From", "Into", "None", "Option", "Result", "String", "Vec",
];

/// What code calls a crate.
pub(super) fn library_name(crate_name: &str) -> String {
    crate_name.replace('-', "_")
}

/// `v` and the revision, as a Rust name.
pub(super) fn module_name(revision: &str) -> String {
    format!("v{}", identifier_part(revision).to_ascii_lowercase())
}

/// `V` and the revision, as a Rust name.
pub(super) fn variant_name(revision: &str) -> String {
    format!("V{}", identifier_part(revision))
}

/// Whether code has a name in it, comments aside.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.any(|line| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|word| word == name)
    })
}

/// The import of those names that code has in it.
pub(super) fn import(code: &str, path: &str, names: &[&str]) -> String {
    let used = names.iter().filter(|name| mentions(code, name));
    source::import(path, &used.map(|name| (*name).to_owned()).collect())
}

/// A type of the hub, as a path from the crate's root.
pub(super) fn qualified(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(name) => format!("hub::{}", ident(name)),
        TypeRef::RequestId => "mcp_wire::RequestId".to_owned(),
        TypeRef::String => "String".to_owned(),
        TypeRef::Boolean => "bool".to_owned(),
        TypeRef::Integer => "i64".to_owned(),
        TypeRef::Number => "mcp_wire::Number".to_owned(),
        TypeRef::Null => "()".to_owned(),
        TypeRef::Any => "mcp_wire::RawJson".to_owned(),
        TypeRef::RawObject => "mcp_wire::RawObject".to_owned(),
        TypeRef::List(ty) => format!("Vec<{}>", qualified(ty)),
        TypeRef::Map(ty) => format!("mcp_wire::Map<{}>", qualified(ty)),
        TypeRef::Nullable(ty) => format!("Option<{}>", qualified(ty)),
    }
}

/// An identifier; a keyword becomes a raw one.
pub(crate) fn ident(name: &str) -> Ident {
    syn::parse_str(name).unwrap_or_else(|_| Ident::new_raw(name, Span::call_site()))
}
