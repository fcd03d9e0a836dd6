//! The identifiers of fields and variants, which typify chooses: it sets their case, escapes keywords, and writes signs
//! as words.
//!
//! typify gets a schema that we construct. From the revision's it would lose constants, the difference between absent
//! and null, undeclared members and names, so the types come from the model.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use heck::{ToSnakeCase, ToUpperCamelCase};
use serde_json::{Value, json};
use typify::{TypeDetails, TypeSpace, TypeSpaceSettings};

use crate::error::EmitError;
use crate::model::names::{spelt_out, unique};
use crate::model::{Model, TypeKind};

/// The field for members that the schema doesn't declare.
pub(crate) const EXTRA: &str = "extra";

/// The maximum number of identifiers that are kept for the next crate.
const MAX_CHOSEN: usize = 4096;

/// The name of the type that typify gets.
const NAME: &str = "Type";

/// The identifiers of the fields and variants of each type, by the type's name and the name in JSON.
#[derive(Default)]
pub(crate) struct Identifiers(BTreeMap<String, BTreeMap<String, String>>);

/// A cache of the identifiers that typify chose, by the schema that it got. Most names occur in several types.
#[derive(Debug, Default)]
pub(crate) struct ChosenIdentifiers(RefCell<BTreeMap<String, String>>);

impl ChosenIdentifiers {
    /// Returns the identifier that typify chooses for the only member or value of a schema.
    fn of(&self, schema: &Value) -> Result<String, EmitError> {
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

fn choose(schema: &Value) -> Result<String, EmitError> {
    let refused = |error: &dyn std::fmt::Display| EmitError::Typify(error.to_string());
    let mut space = TypeSpace::new(&TypeSpaceSettings::default());
    let of_typify = serde_json::from_value(schema.clone()).map_err(|error| refused(&error))?;
    let id = space.add_type_with_name(&of_typify, Some(NAME.to_owned()));
    let ty = id.and_then(|id| space.get_type(&id)).map_err(|error| refused(&error))?;
    let name = match ty.details() {
        TypeDetails::Struct(object) => object.properties().next().map(|(name, _)| name.to_owned()),
        TypeDetails::Enum(strings) => strings.variants().next().map(|(name, _)| name.to_owned()),
        _ => None,
    };
    name.ok_or_else(|| EmitError::Typify(format!("it left out {schema}")))
}

impl Identifiers {
    /// Has typify name the fields of every struct of the model, and the variants of every enumeration.
    pub(crate) fn new(model: &Model, chosen: &ChosenIdentifiers) -> Result<Self, EmitError> {
        let mut identifiers = BTreeMap::new();
        for (name, ty) in model.own_types() {
            let (keys, schema): (_, fn(&str) -> Value) = match &ty.kind {
                TypeKind::Struct(object) => {
                    let wanted = object.members.iter();
                    let wanted = wanted.map(|member| (&member.name, member.field.as_ref().unwrap_or(&member.name)));
                    let keys = distinct(wanted.collect(), &[EXTRA], |name| name.to_snake_case());
                    (keys, of_member)
                }
                TypeKind::Strings(strings) => {
                    let values = strings.values.iter().map(|value| (value, value));
                    (
                        distinct(values.collect(), &[], |name| name.to_upper_camel_case()),
                        of_string,
                    )
                }
                _ => continue,
            };
            let named = keys.into_iter();
            let named = named.map(|(name, key)| Ok((name.clone(), chosen.of(&schema(&key))?)));
            identifiers.insert(name.clone(), named.collect::<Result<_, EmitError>>()?);
        }
        Ok(Self(identifiers))
    }

    /// The identifiers in a type, by the names in JSON.
    pub(crate) fn of(&self, ty: &str) -> Option<&BTreeMap<String, String>> {
        self.0.get(ty)
    }
}

/// Returns the schema of a struct with one member. It is a string, since typify only names it.
fn of_member(key: &str) -> Value {
    json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key]})
}

/// Returns the schema of an enumeration of one value.
fn of_string(key: &str) -> Value {
    json!({"type": "string", "enum": [key]})
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
        let known = (0..=MAX_CHOSEN).map(|number| (number.to_string(), String::new()));
        chosen.0.borrow_mut().extend(known);
        chosen.of(&of_string("a")).expect("typify names it");
        assert_eq!(chosen.0.borrow().len(), 1);
    }
}
