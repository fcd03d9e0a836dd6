//! Compares the generated types with those of typify, an independent generator. The struct that typify makes of a
//! definition must have the same members as the generated type, whose members are in the tables.
//!
//! Types that are defined within another definition are left out: typify names them after their position.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use quote::ToTokens as _;
use serde_json::{Value, json};
use syn::punctuated::Punctuated;
use typify::TypeSpace;

/// The members of an object.
type Members = BTreeMap<String, Member>;

#[derive(Debug, PartialEq)]
struct Member {
    required: bool,
    /// In the notation of the tables.
    ty: String,
}

#[test]
fn typify_finds_the_same_members_in_the_definitions_of_each_revision() {
    let generated = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated");
    for entry in fs::read_dir(generated.join("mcp-adapters/tables")).unwrap() {
        let table = entry.unwrap().path();
        let revision = table.file_stem().unwrap().to_str().unwrap();
        let schema = generated.join(format!("mcp-types-{revision}/schema.json"));
        let theirs = by_typify(&fs::read_to_string(schema).unwrap());
        let table: Value = serde_json::from_str(&fs::read_to_string(&table).unwrap()).unwrap();
        let ours = by_table(&table["types"]);
        assert!(ours.len() > 60, "{revision} has {} definitions of objects", ours.len());
        let mut differences = Vec::new();
        for (name, members) in &ours {
            let none = Members::new();
            let other = theirs.get(name).unwrap_or(&none);
            let names: BTreeSet<&String> = members.keys().chain(other.keys()).collect();
            for member in names {
                let (ours, theirs) = (members.get(member), other.get(member));
                if !agree(ours, theirs, &table["types"]) {
                    differences.push(format!("{name}.{member}: {ours:?}, by typify {theirs:?}"));
                }
            }
        }
        assert_eq!(differences, [""; 0], "{revision}");
    }
}

/// Whether two descriptions of a member agree, as far as typify can express them.
fn agree(ours: Option<&Member>, theirs: Option<&Member>, types: &Value) -> bool {
    let (Some(ours), Some(theirs)) = (ours, theirs) else {
        return false;
    };
    // typify uses the same type for a required nullable member and for an optional one.
    let (ty, required) = match ours.ty.strip_suffix('?') {
        Some(ty) => (ty, false),
        None => (&*ours.ty, ours.required),
    };
    let is_open = |name: &str| types[name]["strings"].is_array() && types[name]["closed"].is_null();
    required == theirs.required
        && match &*theirs.ty {
            // typify chooses an integer type by the limits, which our types leave to the schema.
            "i8" | "i16" | "i32" | "u8" | "u16" | "u32" | "u64" => ty == "integer",
            of if of.starts_with("::std::num::NonZero") => ty == "integer",
            // An open enumeration: a string with some known values.
            "string" if is_open(ty) => true,
            of if types[of.trim_matches(['[', ']', '{', '}'])].is_object() || !of.contains(char::is_uppercase) => {
                ty == of
            }
            // The name of a type within the definition.
            _ => true,
        }
}

/// The definitions of objects in a table. The type of a definition has no `at`, unlike one within a definition.
fn by_table(types: &Value) -> BTreeMap<String, Members> {
    let mut objects = BTreeMap::new();
    for (name, ty) in types.as_object().unwrap().iter().filter(|(_, ty)| ty["at"].is_null()) {
        let mut members = Members::new();
        for (keyword, required) in [
            ("required", true),
            ("optional", false),
            ("constant", true),
            ("implied", false),
        ] {
            for (member, ty) in ty[keyword].as_object().into_iter().flatten() {
                let ty = match (keyword, ty) {
                    ("required" | "optional", ty) => ty.as_str().unwrap(),
                    (_, Value::String(_)) => "string",
                    _ => "integer",
                };
                let ty = ty.to_owned();
                members.insert(member.clone(), Member { required, ty });
            }
        }
        if !members.is_empty() {
            objects.insert(name.clone(), members);
        }
    }
    objects
}

/// The structs that typify generates from a schema.
fn by_typify(schema: &str) -> BTreeMap<String, Members> {
    // typify supports the keywords of an earlier dialect.
    let schema = schema
        .replace("#/$defs/", "#/definitions/")
        .replace("\"$defs\":", "\"definitions\":");
    let mut schema: Value = serde_json::from_str(&schema).unwrap();
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    let mut space = TypeSpace::default();
    space.add_root_schema(serde_json::from_value(schema).unwrap()).unwrap();
    let file: syn::File = syn::parse2(space.to_stream()).unwrap();
    let structs = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some((item.ident.to_string(), item.fields.iter().filter_map(member).collect())),
        _ => None,
    });
    structs.collect()
}

const OPTION: &str = "::std::option::Option<";

/// The member of a field; `None` for the field with undeclared members.
fn member(field: &syn::Field) -> Option<(String, Member)> {
    let ty = field.ty.to_token_stream().to_string().replace(' ', "");
    let mut name = field.ident.as_ref()?.to_string();
    let mut required = !ty.starts_with(OPTION);
    for attribute in field
        .attrs
        .iter()
        .filter(|attribute| attribute.path().is_ident("serde"))
    {
        let parts = attribute.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
        for part in parts.unwrap() {
            match &part {
                syn::Meta::Path(path) if path.is_ident("flatten") => return None,
                syn::Meta::NameValue(part) if part.path.is_ident("rename") => {
                    name = syn::parse2::<syn::LitStr>(part.value.to_token_stream())
                        .unwrap()
                        .value();
                }
                part if part.path().is_ident("default") => required = false,
                _ => {}
            }
        }
    }
    let ty = notation(&ty);
    Some((name, Member { required, ty }))
}

/// A type of typify in the notation of the tables.
fn notation(ty: &str) -> String {
    let inner = |prefix: &str| ty.strip_prefix(prefix)?.strip_suffix('>').map(notation);
    if let Some(inner) = inner(OPTION) {
        return inner;
    }
    if let Some(inner) = inner("::std::vec::Vec<") {
        return format!("[{inner}]");
    }
    if let Some(inner) = inner("::std::collections::HashMap<::std::string::String,") {
        return format!("{{{inner}}}");
    }
    match ty {
        "::std::string::String" => "string",
        "bool" => "boolean",
        "i64" => "integer",
        "f64" => "number",
        "::serde_json::Value" => "any",
        "::serde_json::Map<::std::string::String,::serde_json::Value>" => "object",
        name => name,
    }
    .to_owned()
}
