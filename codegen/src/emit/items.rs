//! Structs and enumerations as typify lays them out: items, fields, variants, keyword escapes.
//!
//! typify gets a schema of our own making, in which each member refers to a Rust type that is settled already: it would
//! lose constants, the difference between absent and null, undeclared members and names. The items that it makes are what
//! is emitted, with our documentation and derives in the place of its own.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::Ident;
use serde_json::{Map, Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

use super::error::EmitError;
use super::tokens::Scope;
use crate::model::names::unique;
use crate::model::{Member, Model, TypeKind};

/// The field for members that the schema doesn't declare.
pub const EXTRA: &str = "extra";

/// The items that typify makes of a model's structs and enumerations.
#[derive(Default)]
pub struct Items {
    structs: BTreeMap<String, StructItem>,
    enums: BTreeMap<String, EnumItem>,
}

/// A struct.
pub struct StructItem {
    /// The struct, without attributes.
    pub item: syn::ItemStruct,
    /// The field of each member, by the member's name in JSON.
    pub fields: BTreeMap<String, Ident>,
}

/// An enumeration.
pub struct EnumItem {
    /// The enum, without attributes.
    pub item: syn::ItemEnum,
    /// The variant of each value.
    pub variants: BTreeMap<String, Ident>,
}

impl Items {
    /// Has typify lay out every struct and enumeration of the model.
    ///
    /// It knows types by number, so that no name can be at odds with one that it makes.
    pub fn new(model: &Model, scope: &Scope) -> Result<Self, EmitError> {
        let mut settings = TypeSpaceSettings::default();
        let mut definitions = Map::new();
        let mut types: BTreeMap<String, String> = BTreeMap::new();
        let mut given: BTreeMap<String, TypifyInput<'_>> = BTreeMap::new();
        for (number, (name, ty)) in model.own_types().enumerate() {
            let (schema, keys) = match &ty.kind {
                TypeKind::Struct(object) => {
                    let wanted = |member: &Member| member.field.clone().unwrap_or_else(|| member.name.clone());
                    let names: Vec<String> = object.members.iter().map(wanted).collect();
                    let keys = distinct(names.iter().map(String::as_str), &[EXTRA], |name| name.to_snake_case());
                    let members = object.members.iter().zip(&names);
                    let keys: BTreeMap<String, String> = members
                        .map(|(member, wanted)| (member.name.clone(), keys[wanted].clone()))
                        .collect();
                    let mut properties = Map::new();
                    for member in &object.members {
                        let rust = scope.field(member).to_string();
                        let number = format!("Field{}", types.len());
                        let number = types.entry(rust).or_insert(number);
                        let reference = json!({"$ref": format!("#/definitions/{number}")});
                        properties.insert(keys[&member.name].clone(), reference);
                    }
                    let required: Vec<&String> = keys.values().collect();
                    let schema = json!({"type": "object", "properties": properties, "required": required});
                    (schema, keys)
                }
                TypeKind::Strings { values, .. } => {
                    let keys = distinct(values.iter().map(String::as_str), &[], |name| {
                        name.to_upper_camel_case()
                    });
                    let values: Vec<&String> = values.iter().map(|value| &keys[value]).collect();
                    (json!({"type": "string", "enum": values}), keys)
                }
                _ => continue,
            };
            let number = format!("Type{number}");
            definitions.insert(number.clone(), schema);
            let names = keys.into_iter().map(|(name, key)| (key, name)).collect();
            given.insert(number, TypifyInput { name, names });
        }
        for (rust, number) in &types {
            settings.with_replacement(number, rust, std::iter::empty());
            definitions.insert(number.clone(), json!({"type": "string"}));
        }
        let mut items = Self::default();
        for item in run_typify(&settings, definitions)? {
            match item {
                syn::Item::Struct(item) => {
                    if let Some(given) = given.remove(&item.ident.to_string()) {
                        items.structs.insert(given.name.to_owned(), given.structure(item));
                    }
                }
                syn::Item::Enum(item) => {
                    if let Some(given) = given.remove(&item.ident.to_string()) {
                        items.enums.insert(given.name.to_owned(), given.enumeration(item));
                    }
                }
                _ => {}
            }
        }
        match given.into_values().next() {
            Some(given) => Err(EmitError::Typify(format!("it left out {}", given.name))),
            None => Ok(items),
        }
    }

    /// The struct of this name.
    pub fn structure(&self, name: &str) -> Option<&StructItem> {
        self.structs.get(name)
    }

    /// The enumeration of this name.
    pub fn enumeration(&self, name: &str) -> Option<&EnumItem> {
        self.enums.get(name)
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

/// A type as typify was given it.
struct TypifyInput<'m> {
    /// Its Rust name.
    name: &'m str,
    /// Its members' or values' names in JSON, by the keys that typify was given.
    names: BTreeMap<String, String>,
}

impl TypifyInput<'_> {
    fn structure(&self, mut item: syn::ItemStruct) -> StructItem {
        let mut fields = BTreeMap::new();
        for field in &mut item.fields {
            let Some(ident) = field.ident.clone() else { continue };
            let key = renamed(&field.attrs).unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
            fields.extend(self.names.get(&key).map(|name| (name.clone(), ident)));
            field.attrs.clear();
        }
        item.attrs.clear();
        item.ident = super::tokens::ident(self.name);
        StructItem { item, fields }
    }

    fn enumeration(&self, mut item: syn::ItemEnum) -> EnumItem {
        let mut variants = BTreeMap::new();
        for variant in &mut item.variants {
            let key = renamed(&variant.attrs).unwrap_or_else(|| variant.ident.to_string());
            variants.extend(self.names.get(&key).map(|name| (name.clone(), variant.ident.clone())));
            variant.attrs.clear();
        }
        item.attrs.clear();
        item.ident = super::tokens::ident(self.name);
        EnumItem { item, variants }
    }
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

/// A key for each name such that no two become one identifier, nor one that is reserved. Most names are their own key; of one
/// with a prefix, such as `example.org/size`, the key is what follows it, if no other name ends alike.
fn distinct<'n>(
    names: impl Iterator<Item = &'n str>,
    reserved: &[&str],
    identifier: fn(&str) -> String,
) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = reserved.iter().map(|name| (*name).to_owned()).collect();
    let names: Vec<&str> = names.collect();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for name in &names {
        *alike.entry(identifier(unprefixed(name))).or_default() += 1;
    }
    names
        .iter()
        .map(|name| {
            let last = unprefixed(name);
            let wanted = if alike[&identifier(last)] == 1 { last } else { name };
            let own = identifier(wanted);
            let usable = own.is_ascii() && own.starts_with(|c: char| c.is_ascii_alphabetic()) && !taken.contains(&own);
            let key = if usable {
                wanted.to_owned()
            } else {
                let spelt = crate::model::names::spelt_out(name);
                unique(&spelt, |key| taken.contains(&identifier(key)))
            };
            taken.insert(identifier(&key));
            ((*name).to_owned(), key)
        })
        .collect()
}

/// A name without its prefix.
fn unprefixed(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}
