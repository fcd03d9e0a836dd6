//! Names in generated code: those derived from revisions and crates, those of the standard library, and those that code
//! uses.

use proc_macro2::Ident;

use super::source;
use crate::model::TypeRef;
use crate::model::names::identifier_part;

/// Names of the standard library that a crate's root doesn't export, so that a glob import of the root doesn't shadow
/// them.
pub(super) const STANDARD: [&str; 9] = [
    "Box", "Error", "From", "Into", "None", "Option", "Result", "String", "Vec",
];

/// The macros of the prelude that derive traits. Documentation that names a type like one has to say which it means.
const DERIVES: [&str; 9] = [
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Eq",
    "Hash",
    "Ord",
    "PartialEq",
    "PartialOrd",
];

/// The names of primitive types, and of the prelude's functions, attributes and other macros. Documentation that names
/// a module like one has to say which it means.
#[rustfmt::skip]
const LIKE_MODULES: [&str; 70] = [
    "align_of", "align_of_val", "array", "assert", "assert_eq", "assert_ne", "bench", "bool", "cfg", "char", "column",
    "compile_error", "concat", "dbg", "debug_assert", "debug_assert_eq", "debug_assert_ne", "derive", "drop", "env",
    "eprint", "eprintln", "f128", "f16", "f32", "f64", "file", "format", "format_args", "global_allocator", "i128",
    "i16", "i32", "i64", "i8", "include", "include_bytes", "include_str", "isize", "line", "matches", "module_path",
    "never", "option_env", "panic", "pointer", "print", "println", "reference", "size_of", "size_of_val", "slice",
    "str", "stringify", "test", "thread_local", "todo", "tuple", "u128", "u16", "u32", "u64", "u8", "unimplemented",
    "unit", "unreachable", "usize", "vec", "write", "writeln",
];

/// Returns a link to a type, in documentation where code uses the type without a path.
pub(super) fn link_to_type(name: &str) -> String {
    match DERIVES.contains(&name) {
        true => format!("[`type@{name}`]"),
        false => format!("[`{name}`]"),
    }
}

/// Returns a link to a module, in documentation of the module around it.
pub(super) fn link_to_module(name: &str) -> String {
    match LIKE_MODULES.contains(&name) {
        true => format!("[`mod@{name}`]"),
        false => format!("[`{name}`]"),
    }
}

/// Returns the name of a crate in code.
pub(super) fn library_name(crate_name: &str) -> String {
    crate_name.replace('-', "_")
}

/// Returns `v` and the revision, as a Rust name.
pub(super) fn module_name(revision: &str) -> String {
    format!("v{}", identifier_part(revision).to_ascii_lowercase())
}

/// Returns `V` and the revision, as a Rust name.
pub(super) fn variant_name(revision: &str) -> String {
    format!("V{}", identifier_part(revision))
}

/// Whether code uses a name, apart from comments.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.any(|line| {
        line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .any(|word| word == name)
    })
}

/// Returns the import of those names that code uses.
pub(super) fn import(code: &str, path: &str, names: &[&str]) -> String {
    let used = names.iter().filter(|name| mentions(code, name));
    source::import(path, &used.map(|name| (*name).to_owned()).collect())
}

/// Returns a type of the hub, as a path from the crate's root.
pub(super) fn qualified(ty: &TypeRef) -> String {
    match ty {
        TypeRef::Named(name) => format!("hub::{name}"),
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

/// Returns a name as an identifier; a keyword becomes a raw one.
pub(crate) fn identifier(name: &str) -> String {
    match syn::parse_str::<Ident>(name) {
        Ok(_) => name.to_owned(),
        Err(_) => format!("r#{name}"),
    }
}
