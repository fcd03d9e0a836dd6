//! Structs and enumerations as typify lays them out: items, fields, variants, keyword escapes.
//!
//! typify gets a schema of our own making, since from the revision's it would lose constants, the difference between absent and null,
//! undeclared members and names. The items that it makes are what is emitted, with the types that the model has settled, and with our
//! documentation and derives in the place of its own.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::Ident;
use serde_json::{Map, Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

use super::tokens::ident;
use crate::error::EmitError;
use crate::model::names::unique;
use crate::model::{Model, Struct, TypeKind};

/// The field for members that the schema doesn't declare.
pub(crate) const EXTRA: &str = "extra";

/// The items that typify makes of a model's structs and enumerations.
#[derive(Default)]
pub(crate) struct Items {
    structs: BTreeMap<String, Laid<syn::ItemStruct>>,
    enums: BTreeMap<String, Laid<syn::ItemEnum>>,
}

/// An item without attributes.
pub(crate) struct Laid<I> {
    pub(crate) item: I,
    /// The field of each member, or the variant of each value, by the name in JSON.
    pub(crate) names: BTreeMap<String, Ident>,
}

impl Items {
    /// Has typify lay out every struct and enumeration of the model.
    ///
    /// It knows types by number, so that no name can be at odds with one that it makes.
    pub(crate) fn new(model: &Model) -> Result<Self, EmitError> {
        let (mut definitions, mut given) = (Map::new(), BTreeMap::new());
        for (number, (name, ty)) in model.own_types().enumerate() {
            let (schema, keys) = match &ty.kind {
                TypeKind::Struct(object) => struct_schema(object),
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
            let names: BTreeMap<String, String> = keys.into_iter().map(|(name, key)| (key, name)).collect();
            given.insert(number, (name, names));
        }
        let mut items = Self::default();
        for item in run_typify(definitions)? {
            let number = match &item {
                syn::Item::Struct(item) => item.ident.to_string(),
                syn::Item::Enum(item) => item.ident.to_string(),
                _ => continue,
            };
            let Some((name, names)) = given.remove(&number) else {
                continue;
            };
            match item {
                syn::Item::Struct(mut item) => {
                    let fields = item.fields.iter_mut();
                    let fields = fields.filter_map(|field| Some((field.ident.clone()?, &mut field.attrs)));
                    let names = bare(fields, &names);
                    (item.ident, item.attrs) = (ident(name), Vec::new());
                    items.structs.insert(name.clone(), Laid { item, names });
                }
                syn::Item::Enum(mut item) => {
                    let variants = item.variants.iter_mut();
                    let variants = variants.map(|variant| (variant.ident.clone(), &mut variant.attrs));
                    let names = bare(variants, &names);
                    (item.ident, item.attrs) = (ident(name), Vec::new());
                    items.enums.insert(name.clone(), Laid { item, names });
                }
                _ => {}
            }
        }
        match given.into_values().next() {
            Some((name, _)) => Err(EmitError::Typify(format!("it left out {name}"))),
            None => Ok(items),
        }
    }

    pub(crate) fn structure(&self, name: &str) -> Option<&Laid<syn::ItemStruct>> {
        self.structs.get(name)
    }

    pub(crate) fn enumeration(&self, name: &str) -> Option<&Laid<syn::ItemEnum>> {
        self.enums.get(name)
    }
}

/// The schema of a struct, and the key of each member in it. What the members are isn't for typify to say.
fn struct_schema(object: &Struct) -> (Value, BTreeMap<String, String>) {
    let wanted = object
        .members
        .iter()
        .map(|member| member.field.as_ref().unwrap_or(&member.name));
    let distinct = distinct(wanted.map(String::as_str), &[EXTRA], |name| name.to_snake_case());
    let keys = object.members.iter().map(|member| {
        let wanted = member.field.as_ref().unwrap_or(&member.name);
        (member.name.clone(), distinct[wanted].clone())
    });
    let keys: BTreeMap<String, String> = keys.collect();
    let properties: Map<String, Value> = keys
        .values()
        .map(|key| (key.clone(), json!({"type": "string"})))
        .collect();
    let required: Vec<&String> = keys.values().collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    (schema, keys)
}

fn run_typify(definitions: Map<String, Value>) -> Result<Vec<syn::Item>, EmitError> {
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    let root = json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": definitions});
    let refused = |error: &dyn std::fmt::Display| EmitError::Typify(error.to_string());
    let root = serde_json::from_value(root).map_err(|error| refused(&error))?;
    space.add_root_schema(root).map_err(|error| refused(&error))?;
    let file = syn::parse2::<syn::File>(space.to_stream()).map_err(|error| refused(&error))?;
    Ok(file.items)
}

/// Removes the attributes of fields or variants, and returns their identifiers by the names in JSON of the keys that typify was given.
fn bare<'a>(
    parts: impl Iterator<Item = (Ident, &'a mut Vec<syn::Attribute>)>,
    names: &BTreeMap<String, String>,
) -> BTreeMap<String, Ident> {
    let named = parts.filter_map(|(ident, attributes)| {
        let attributes = std::mem::take(attributes);
        let key = renamed(&attributes).unwrap_or_else(|| ident.to_string().trim_start_matches("r#").to_owned());
        Some((names.get(&key)?.clone(), ident))
    });
    named.collect()
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
