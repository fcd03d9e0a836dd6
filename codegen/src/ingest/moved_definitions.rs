//! Definitions that a new schema has at another place, or by another name.

use std::collections::BTreeSet;

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
/// from a namespace, or else those of which there is one new one with the same schema.
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
    let pairs = gone.iter().zip(&schemas_before).filter_map(|((at, name, _), schema)| {
        let is_same = |other: &str| other.strip_prefix(namespaces[1]) == Some(short(name));
        let mut same_name = added.iter().filter(|(_, other, _)| is_same(other));
        let mut same_schema = added.iter().zip(&schemas_after).filter(|(_, other)| *other == schema);
        let is_only = schemas_before.iter().filter(|other| *other == schema).count() == 1;
        let (after, other, _) = match (same_name.next(), same_name.next()) {
            (Some(only), None) => only,
            _ => {
                same_schema
                    .next()
                    .filter(|_| is_only && same_schema.next().is_none())?
                    .0
            }
        };
        Some(Moved {
            before: at.clone(),
            after: after.clone(),
            name: (other != name && (is_same(other) || SESSION_TYPES.contains(name))).then_some(*name),
        })
    });
    pairs.collect()
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
