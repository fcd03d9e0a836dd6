//! Structs and enumerations by typify: fields, names, keyword escapes.
//!
//! typify sees a schema of our own making, in which each member refers to a Rust type that is settled already. That is
//! what it does well; what it would lose (constants, absence, undeclared members, names) never reaches it.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
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

/// A struct's fields.
pub struct StructShell {
    /// The field of each member and its type, by the member's name on the wire.
    pub fields: BTreeMap<String, (Ident, TokenStream)>,
}

impl Shells {
    /// Has typify lay out every struct and enumeration of the model.
    ///
    /// It knows types by number: spelling names is not its business, and no name can be at odds with one that it makes.
    pub fn new(model: &Model, scope: &Scope) -> Result<Self, EmitError> {
        let mut settings = TypeSpaceSettings::default();
        let mut held: BTreeMap<String, TokenStream> = BTreeMap::new();
        let mut numbers: BTreeMap<String, String> = BTreeMap::new();
        let mut definitions = Map::new();
        let mut laid_out: BTreeMap<String, Laid<'_>> = BTreeMap::new();
        for (number, (name, ty)) in model.types.iter().enumerate() {
            let (schema, keys) = match &ty.kind {
                TypeKind::Struct(object) => {
                    let mut properties = Map::new();
                    let keys = distinct(object.members.iter().map(|member| member.name.as_str()), field_like);
                    for member in &object.members {
                        let rust = scope.held(&member.ty, member.boxed);
                        // An absent member and a null one are two things, and typify makes them one.
                        let rust = if member.required { rust } else { scope.optional(&rust) };
                        let number = format!("Held{}", numbers.len());
                        let number = numbers.entry(rust.to_string()).or_insert(number);
                        held.entry(number.clone()).or_insert(rust);
                        let reference = json!({"$ref": format!("#/definitions/{number}")});
                        properties.insert(keys[&member.name].clone(), reference);
                    }
                    let required: Vec<&String> = keys.values().collect();
                    let schema = json!({"type": "object", "properties": properties, "required": required});
                    (schema, keys)
                }
                TypeKind::Strings { values, .. } => {
                    let keys = distinct(values.iter().map(String::as_str), variant_like);
                    let values: Vec<&String> = values.iter().map(|value| &keys[value]).collect();
                    (json!({"type": "string", "enum": values}), keys)
                }
                _ => continue,
            };
            let number = format!("Type{number}");
            definitions.insert(number.clone(), schema);
            let names = invert(keys);
            laid_out.insert(number, Laid { name, names });
        }
        for number in held.keys() {
            settings.with_replacement(number, number, std::iter::empty());
            definitions.insert(number.clone(), json!({"type": "string"}));
        }
        let mut shells = Self::default();
        for item in run_typify(&settings, definitions)? {
            match item {
                syn::Item::Struct(item) => {
                    if let Some(laid) = laid_out.remove(&item.ident.to_string()) {
                        let shell = struct_shell(&item, &laid.names, &held);
                        shells.structs.insert(laid.name.to_owned(), shell);
                    }
                }
                syn::Item::Enum(item) => {
                    if let Some(laid) = laid_out.remove(&item.ident.to_string()) {
                        shells
                            .strings
                            .insert(laid.name.to_owned(), variants(&item, &laid.names));
                    }
                }
                _ => {}
            }
        }
        match laid_out.into_values().next() {
            Some(laid) => Err(EmitError::Typify(format!("it left out {}", laid.name))),
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

/// A type as typify knows it.
struct Laid<'m> {
    /// Its Rust name.
    name: &'m str,
    /// Its members' or values' names on the wire, by the keys that typify was given.
    names: BTreeMap<String, String>,
}

fn struct_shell(
    item: &syn::ItemStruct,
    members: &BTreeMap<String, String>,
    held: &BTreeMap<String, TokenStream>,
) -> StructShell {
    let field = |field: &syn::Field| {
        let ident = field.ident.clone()?;
        let written = renamed(&field.attrs).unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
        let ty = &field.ty;
        let ty = held.get(&quote!(#ty).to_string())?;
        Some((members.get(&written)?.clone(), (ident, ty.clone())))
    };
    StructShell {
        fields: item.fields.iter().filter_map(field).collect(),
    }
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
            let usable = own.is_ascii() && own.starts_with(|c: char| c.is_ascii_alphabetic()) && !taken.contains(&own);
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
