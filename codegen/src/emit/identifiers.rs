//! The identifiers of fields and variants, which typify chooses: it sets their case, escapes keywords, and writes signs
//! as words.
//!
//! typify gets a schema that we construct. From the revision's it would lose constants, the difference between absent
//! and null, undeclared members and names, so the types come from the model.

use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use proc_macro2::Ident;
use serde_json::{Map, Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

use crate::error::EmitError;
use crate::model::names::unique;
use crate::model::{Model, Struct, TypeKind};

/// The field for members that the schema doesn't declare.
pub(crate) const EXTRA: &str = "extra";

/// The identifiers of the fields and variants of each type, by the type's name and the name in JSON.
#[derive(Default)]
pub(crate) struct Identifiers(BTreeMap<String, BTreeMap<String, Ident>>);

impl Identifiers {
    /// Has typify name the fields of every struct of the model, and the variants of every enumeration.
    ///
    /// Types are numbered in its schema, so that no name of a type can conflict with one that it generates.
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
        let mut identifiers = Self::default();
        for item in run_typify(definitions)? {
            let (number, parts): (_, Vec<_>) = match item {
                syn::Item::Struct(item) => {
                    let fields = item.fields.into_iter();
                    let fields = fields.filter_map(|field| Some((field.ident?, field.attrs)));
                    (item.ident, fields.collect())
                }
                syn::Item::Enum(item) => {
                    let variants = item.variants.into_iter();
                    let variants = variants.map(|variant| (variant.ident, variant.attrs));
                    (item.ident, variants.collect())
                }
                _ => continue,
            };
            if let Some((name, names)) = given.remove(&number.to_string()) {
                let named = parts.into_iter().filter_map(|(ident, attributes)| {
                    let own = || ident.to_string().trim_start_matches("r#").to_owned();
                    let key = renamed(&attributes).unwrap_or_else(own);
                    Some((names.get(&key)?.clone(), ident))
                });
                identifiers.0.insert(name.clone(), named.collect());
            }
        }
        match given.into_values().next() {
            Some((name, _)) => Err(EmitError::Typify(format!("it left out {name}"))),
            None => Ok(identifiers),
        }
    }

    /// The identifiers in a type, by the names in JSON.
    pub(crate) fn of(&self, ty: &str) -> Option<&BTreeMap<String, Ident>> {
        self.0.get(ty)
    }
}

/// Returns the schema of a struct for typify, and the key of each member in it. All members are strings, since typify
/// only names them.
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

/// Returns the name that serde would write: `#[serde(rename = "…")]`.
fn renamed(attributes: &[syn::Attribute]) -> Option<String> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // Any other argument of the attribute stops the walk, and comes after the name.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<syn::LitStr>()?.value());
            }
            Ok(())
        });
    }
    name
}

/// Returns a key for each name, such that no two become the same identifier, nor one that is reserved. Most names are
/// their own key; of several that become the same identifier, the one that is spelt like it is. For a name with a
/// prefix, such as `example.org/size`, the key is the part after the prefix, if no other name ends with the same part.
fn distinct<'n>(
    names: impl Iterator<Item = &'n str>,
    reserved: &[&str],
    identifier: fn(&str) -> String,
) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = reserved.iter().map(|name| (*name).to_owned()).collect();
    let mut names: Vec<&str> = names.collect();
    let is_identifier = |name: &str| name.is_ascii() && name.starts_with(|c: char| c.is_ascii_alphabetic());
    names.sort_by_key(|name| {
        let own = identifier(unprefixed(name));
        (own != *name, !is_identifier(&own))
    });
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
            let usable = is_identifier(&own) && !taken.contains(&own);
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
