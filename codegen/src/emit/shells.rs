//! Structs and enumerations by typify: fields, names, keyword escapes.
//!
//! typify sees a schema of our own making, in which each member refers to a Rust type that is settled already. That is
//! what it does well; what it would lose (constants, absence, undeclared members) never reaches it.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::Ident;
use serde_json::{Map, Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

use super::EmitError;
use super::tokens::Scope;
use crate::model::names::unique;
use crate::model::{Model, TypeKind};

/// What typify made of a model's structs and enumerations.
#[derive(Default)]
pub struct Shells {
    structs: BTreeMap<String, StructShell>,
    strings: BTreeMap<String, BTreeMap<String, Ident>>,
}

/// A struct, and which field is which member.
pub struct StructShell {
    /// The struct, with nothing but its fields.
    pub item: syn::ItemStruct,
    /// The field of each member, by the member's name on the wire.
    pub fields: BTreeMap<String, Ident>,
}

impl Shells {
    /// Has typify lay out every struct and enumeration of the model.
    pub fn new(model: &Model, scope: &Scope) -> Result<Self, EmitError> {
        let mut settings = TypeSpaceSettings::default();
        let mut replacements: BTreeMap<String, String> = BTreeMap::new();
        let mut definitions = Map::new();
        let mut written: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (name, ty) in &model.types {
            match &ty.kind {
                TypeKind::Struct(object) => {
                    let mut properties = Map::new();
                    let keys = distinct(object.members.iter().map(|member| member.name.as_str()), field_like);
                    for member in &object.members {
                        let held = scope.held(&member.ty, member.boxed);
                        // An absent member and a null one are two things, and typify makes them one.
                        let rust = if member.required { held } else { scope.optional(&held) };
                        let number = replacements.len();
                        let replaced = replacements
                            .entry(rust.to_string())
                            .or_insert_with(|| format!("Replaced{number}"));
                        let reference = json!({"$ref": format!("#/definitions/{replaced}")});
                        properties.insert(keys[&member.name].clone(), reference);
                    }
                    let required: Vec<&String> = keys.values().collect();
                    let schema = json!({"type": "object", "properties": properties, "required": required});
                    definitions.insert(name.clone(), schema);
                    written.insert(name.clone(), invert(keys));
                }
                TypeKind::Strings { values, .. } => {
                    let keys = distinct(values.iter().map(String::as_str), variant_like);
                    let schema =
                        json!({"type": "string", "enum": values.iter().map(|value| &keys[value]).collect::<Vec<_>>()});
                    definitions.insert(name.clone(), schema);
                    written.insert(name.clone(), invert(keys));
                }
                _ => {}
            }
        }
        for (rust, replaced) in &replacements {
            settings.with_replacement(replaced, rust, std::iter::empty());
            definitions.insert(replaced.clone(), json!({"type": "string"}));
        }
        let items = run_typify(&settings, definitions)?;
        let mut shells = Self::default();
        for item in items {
            match item {
                syn::Item::Struct(item) => {
                    if let Some(members) = written.get(&item.ident.to_string()) {
                        shells
                            .structs
                            .insert(item.ident.to_string(), struct_shell(item, members, scope));
                    }
                }
                syn::Item::Enum(item) => {
                    if let Some(values) = written.get(&item.ident.to_string()) {
                        shells.strings.insert(item.ident.to_string(), variants(&item, values));
                    }
                }
                _ => {}
            }
        }
        let missing = written
            .keys()
            .find(|name| !shells.structs.contains_key(*name) && !shells.strings.contains_key(*name));
        match missing {
            Some(name) => Err(EmitError::Typify(format!("it left out {name}"))),
            None => Ok(shells),
        }
    }

    /// The struct of this name.
    pub fn structure(&self, name: &str) -> Option<&StructShell> {
        self.structs.get(name)
    }

    /// The variants of the enumeration of this name, by their values.
    pub fn strings(&self, name: &str) -> Option<&BTreeMap<String, Ident>> {
        self.strings.get(name)
    }
}

fn run_typify(settings: &TypeSpaceSettings, definitions: Map<String, Value>) -> Result<Vec<syn::Item>, EmitError> {
    let mut space = TypeSpace::new(settings);
    let root = json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": definitions});
    let refused = |error: &dyn std::fmt::Display| EmitError::Typify(error.to_string());
    let root = serde_json::from_value(root).map_err(|error| refused(&error))?;
    space.add_root_schema(root).map_err(|error| refused(&error))?;
    let file = syn::parse2::<syn::File>(space.to_stream()).map_err(|error| refused(&error))?;
    Ok(file.items)
}

fn struct_shell(mut item: syn::ItemStruct, members: &BTreeMap<String, String>, scope: &Scope) -> StructShell {
    let mut fields = BTreeMap::new();
    for field in &mut item.fields {
        if let Some(ident) = &field.ident {
            let written =
                renamed(&field.attrs).unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
            if let Some(member) = members.get(&written) {
                fields.insert(member.clone(), ident.clone());
            }
        }
        field.attrs.clear();
    }
    item.attrs.clear();
    scope.shorten(&mut item);
    StructShell { item, fields }
}

fn variants(item: &syn::ItemEnum, values: &BTreeMap<String, String>) -> BTreeMap<String, Ident> {
    item.variants
        .iter()
        .filter_map(|variant| {
            let written = renamed(&variant.attrs).unwrap_or_else(|| variant.ident.to_string());
            Some((values.get(&written)?.clone(), variant.ident.clone()))
        })
        .collect()
}

/// The name that serde would write: `#[serde(rename = "…")]`.
fn renamed(attributes: &[syn::Attribute]) -> Option<String> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // Anything else that serde is told stops the walk, and comes after the name.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<syn::LitStr>()?.value());
            }
            Ok(())
        });
    }
    name
}

/// A key for each name such that no two become one identifier; most names are their own key.
fn distinct<'n>(names: impl Iterator<Item = &'n str>, identifier: fn(&str) -> String) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    names
        .map(|name| {
            let own = identifier(name);
            let usable = own.starts_with(|c: char| c.is_ascii_alphabetic()) && !taken.contains(&own);
            let key = if usable {
                name.to_owned()
            } else {
                let spelt = crate::model::names::spelt_out(name);
                unique(&spelt, |key| taken.contains(&identifier(key)))
            };
            taken.insert(identifier(&key));
            (name.to_owned(), key)
        })
        .collect()
}

fn field_like(name: &str) -> String {
    name.to_snake_case()
}

fn variant_like(value: &str) -> String {
    value.to_upper_camel_case()
}

fn invert(keys: BTreeMap<String, String>) -> BTreeMap<String, String> {
    keys.into_iter().map(|(name, key)| (key, name)).collect()
}
