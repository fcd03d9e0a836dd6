//! The identifiers of fields and variants, which typify chooses: it sets their case, escapes keywords, and writes signs
//! as words.
//!
//! typify gets a schema that we construct. From the revision's it would lose constants, the difference between absent
//! and null, undeclared members and names, so the types come from the model.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use serde_json::{Map, Value, json};
use typify::{TypeSpace, TypeSpaceSettings};

use crate::error::EmitError;
use crate::model::names::{spelt_out, unique};
use crate::model::{Model, TypeKind};

/// The field for members that the schema doesn't declare.
pub(crate) const EXTRA: &str = "extra";

/// The maximum number of schemas whose identifiers are kept for the next crate; the official revisions and extensions
/// have fewer than 1,000 types.
const MAX_CHOSEN: usize = 4096;

/// The name of the type that typify gets.
const NAME: &str = "Type";

/// The identifiers of the fields and variants of each type, by the type's name and the name in JSON.
#[derive(Default)]
pub(crate) struct Identifiers(BTreeMap<String, BTreeMap<String, String>>);

/// A cache of the identifiers that typify chose, by the schema that it got and the key in it. Most types of a revision
/// have the same keys in others.
#[derive(Debug, Default)]
pub(crate) struct ChosenIdentifiers(RefCell<BTreeMap<String, BTreeMap<String, String>>>);

impl ChosenIdentifiers {
    /// Returns the identifier that typify chooses for each key of a schema.
    fn of(&self, schema: &Value) -> Result<BTreeMap<String, String>, EmitError> {
        let mut chosen = self.0.borrow_mut();
        if chosen.len() > MAX_CHOSEN {
            chosen.clear();
        }
        Ok(match chosen.entry(schema.to_string()) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => new.insert(choose(schema)?).clone(),
        })
    }
}

/// Has typify choose the identifiers for the keys of a schema.
fn choose(schema: &Value) -> Result<BTreeMap<String, String>, EmitError> {
    let parts = run_typify(schema)?.into_iter().find_map(|item| match item {
        syn::Item::Struct(item) if item.ident == NAME => {
            let fields = item.fields.into_iter();
            Some(Vec::from_iter(
                fields.filter_map(|field| Some((field.ident?, field.attrs))),
            ))
        }
        syn::Item::Enum(item) if item.ident == NAME => {
            let variants = item.variants.into_iter();
            Some(variants.map(|variant| (variant.ident, variant.attrs)).collect())
        }
        _ => None,
    });
    let parts = parts.ok_or_else(|| EmitError::Typify(format!("it left out {schema}")))?;
    let keyed = parts.into_iter().map(|(ident, attributes)| {
        let ident = ident.to_string();
        let own = || ident.trim_start_matches("r#").to_owned();
        (renamed(&attributes).unwrap_or_else(own), ident)
    });
    Ok(keyed.collect())
}

impl Identifiers {
    /// Has typify name the fields of every struct of the model, and the variants of every enumeration.
    pub(crate) fn new(model: &Model, chosen: &ChosenIdentifiers) -> Result<Self, EmitError> {
        let mut identifiers = BTreeMap::new();
        for (name, ty) in model.own_types() {
            let (keys, schema) = match &ty.kind {
                TypeKind::Struct(object) => {
                    let wanted = object.members.iter();
                    let wanted = wanted.map(|member| (&member.name, member.field.as_ref().unwrap_or(&member.name)));
                    let keys = distinct(wanted.collect(), &[EXTRA], |name| name.to_snake_case());
                    let schema = struct_schema(keys.values());
                    (keys, schema)
                }
                TypeKind::Strings { values, .. } => {
                    let values = values.iter().map(|value| (value, value));
                    let keys = distinct(values.collect(), &[], |name| name.to_upper_camel_case());
                    let schema = strings_schema(keys.values());
                    (keys, schema)
                }
                _ => continue,
            };
            let chosen = chosen.of(&schema)?;
            let named = keys.into_iter();
            let named = named.filter_map(|(name, key)| Some((name.clone(), chosen.get(&key)?.clone())));
            identifiers.insert(name.clone(), named.collect());
        }
        Ok(Self(identifiers))
    }

    /// The identifiers in a type, by the names in JSON.
    pub(crate) fn of(&self, ty: &str) -> Option<&BTreeMap<String, String>> {
        self.0.get(ty)
    }
}

/// Returns the schema of a struct. All members are strings, since typify only names them.
fn struct_schema<'k>(keys: impl Iterator<Item = &'k String>) -> Value {
    let members: Map<String, Value> = keys.map(|key| (key.clone(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": members, "required": Vec::from_iter(members.keys())})
}

/// Returns the schema of an enumeration.
fn strings_schema<'k>(keys: impl Iterator<Item = &'k String>) -> Value {
    json!({"type": "string", "enum": Vec::from_iter(keys)})
}

fn run_typify(schema: &Value) -> Result<Vec<syn::Item>, EmitError> {
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    let root = json!({"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {NAME: schema}});
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

/// Returns a key for each name, such that no two become the same identifier, nor one that is reserved. Most keys are
/// the name that is wanted in Rust; of several that become the same identifier, the one that is spelt like it is. For a
/// name with a prefix, such as `example.org/size`, the key is the part after the prefix, if no other name ends with the
/// same part.
fn distinct<'n>(
    names: Vec<(&'n String, &String)>,
    reserved: &[&str],
    identifier: fn(&str) -> String,
) -> BTreeMap<&'n String, String> {
    let mut taken: BTreeSet<String> = reserved.iter().map(|name| (*name).to_owned()).collect();
    let is_identifier = |name: &str| name.is_ascii() && name.starts_with(|c: char| c.is_ascii_alphabetic());
    let names = names.into_iter();
    let names = names.map(|(name, wanted)| (name, wanted, identifier(unprefixed(wanted))));
    let mut names = Vec::from_iter(names);
    names.sort_by_key(|(_, wanted, own)| (*own != **wanted, !is_identifier(own)));
    let mut alike: BTreeMap<&str, usize> = BTreeMap::new();
    for (.., own) in &names {
        *alike.entry(own).or_default() += 1;
    }
    let keys = names.iter().map(|(name, wanted, own)| {
        let (shortest, own) = match alike[own.as_str()] {
            1 => (unprefixed(wanted), own.clone()),
            _ => (wanted.as_str(), identifier(wanted)),
        };
        let (key, own) = match is_identifier(&own) && !taken.contains(&own) {
            true => (shortest.to_owned(), own),
            false => {
                let key = unique(&spelt_out(wanted), |key| taken.contains(&identifier(key)));
                let own = identifier(&key);
                (key, own)
            }
        };
        taken.insert(own);
        (*name, key)
    });
    keys.collect()
}

/// A name without its prefix.
fn unprefixed(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_identifiers_is_bounded() {
        let chosen = ChosenIdentifiers::default();
        let known = (0..=MAX_CHOSEN).map(|number| (number.to_string(), BTreeMap::new()));
        chosen.0.borrow_mut().extend(known);
        let schema = strings_schema(["a".to_owned()].iter());
        chosen.of(&schema).expect("typify names it");
        assert_eq!(chosen.0.borrow().len(), 1);
    }
}
