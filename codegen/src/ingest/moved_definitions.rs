//! Definitions that a new schema has at another place, or by another name.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{all_definitions, change_schemas, pointer};
use serde_json::{Value, json};

use super::inferred::Entry;
use super::namespaces::namespace;
use crate::messages::message_unions;
use crate::model::SESSION_TYPES;

/// A definition that a later schema has at another place.
pub(super) struct Moved<'s> {
    pub(super) before: String,
    pub(super) after: String,
    /// The earlier name, if the definition keeps it in Rust.
    name: Option<&'s str>,
}

impl Moved<'_> {
    /// Returns the entry of an overlay that keeps the Rust name of a definition in another namespace, or of one whose name
    /// sessions know.
    pub(super) fn keep_name(&self) -> Option<Entry> {
        let name = self.name.filter(|name| message_unions().all(|union| union != *name))?;
        let at = pointer::child(&self.after, "x-name");
        Some(("corrections", format!("at: {}, to: {}", json!(at), json!(name))))
    }
}

/// Returns the definitions that a later schema has at another place: those of which there is one with the same name, apart
/// from a namespace, or else those of which there is one new one with the same schema, or else with the end of its name
/// changed as in the names of several of these.
pub(super) fn moved_definitions<'s>([before, after]: [&'s Value; 2]) -> Vec<Moved<'s>> {
    let [earlier, later] = [before, after].map(all_definitions);
    let places = |definitions: &[(String, &str, &Value)]| -> BTreeSet<String> {
        definitions.iter().map(|(at, ..)| at.clone()).collect()
    };
    let [old, new] = [places(&earlier), places(&later)];
    let gone: Vec<_> = earlier.iter().filter(|(at, ..)| !new.contains(at)).collect();
    let added: Vec<_> = later.iter().filter(|(at, ..)| !old.contains(at)).collect();
    let schemas = |definitions: &[&(String, &str, &Value)]| -> Vec<Value> {
        let definitions = definitions.iter();
        definitions
            .map(|(.., schema)| without_names(schema, [&old, &new]))
            .collect()
    };
    let (schemas_before, schemas_after) = (schemas(&gone), schemas(&added));
    let namespaces = [before, after].map(namespace);
    let short = |name: &'s str| name.strip_prefix(namespaces[0]).unwrap_or(name);
    let is_same = |name: &'s str, other: &str| other.strip_prefix(namespaces[1]) == Some(short(name));
    let mut pairs: Vec<_> = gone
        .iter()
        .zip(&schemas_before)
        .filter_map(|(&definition, schema)| {
            let same_name = added.iter().filter(|(_, other, _)| is_same(definition.1, other));
            let same_schema = added.iter().zip(&schemas_after).filter(|(_, other)| *other == schema);
            let is_only = schemas_before.iter().filter(|other| *other == schema).count() == 1;
            let same_schema = same_schema.filter(|_| is_only).map(|(other, _)| other);
            Some((definition, *only(same_name).or_else(|| only(same_schema))?))
        })
        .collect();
    let mut ends = BTreeMap::<_, usize>::new();
    for end in pairs
        .iter()
        .filter_map(|((_, name, _), (_, other, _))| changed_end(name, other))
    {
        *ends.entry(end).or_default() += 1;
    }
    let is_left = |definition: &&&(String, &str, &Value)| {
        pairs
            .iter()
            .all(|(known, other)| known != *definition && other != *definition)
    };
    let same_end = gone.iter().filter(is_left).filter_map(|&definition| {
        let is_usual = |other: &&&(String, &str, &Value)| {
            changed_end(definition.1, other.1).and_then(|end| ends.get(&end)) > Some(&1)
        };
        Some((definition, *only(added.iter().filter(is_left).filter(is_usual))?))
    });
    let same_end: Vec<_> = same_end.collect();
    pairs.extend(same_end);
    let moved = pairs.into_iter().map(|((before, name, _), (after, other, _))| Moved {
        before: before.clone(),
        after: after.clone(),
        name: (other != name && (is_same(name, other) || SESSION_TYPES.contains(name))).then_some(*name),
    });
    moved.collect()
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    found.next().filter(|_| found.next().is_none())
}

/// Returns the ends of two names that begin with the same words, such as `Result` and `Response`.
fn changed_end<'s>(name: &'s str, other: &'s str) -> Option<(&'s str, &'s str)> {
    let is_word = |end: &str| end.is_empty() || end.starts_with(char::is_uppercase);
    let mut starts = name.char_indices().rev().map(|(at, _)| at).filter(|at| *at > 0);
    starts.find_map(|at| {
        Some((&name[at..], other.strip_prefix(&name[..at])?)).filter(|(end, other)| is_word(end) && is_word(other))
    })
}

/// Returns a schema in which references to definitions that only one of the documents has are equal.
fn without_names(schema: &Value, [old, new]: [&BTreeSet<String>; 2]) -> Value {
    let mut schema = schema.clone();
    change_schemas(&mut schema, &mut |schema| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref") {
            let target = pointer::canonical(reference).unwrap_or_default();
            if old.contains(&target) != new.contains(&target) {
                reference.clear();
            }
        }
    });
    schema
}
