//! Definitions that a new schema has at another place, or by another name.

use std::collections::{BTreeMap, BTreeSet};

use mcp_wire::json_schema::{all_definitions, change_schemas, pointer};
use serde_json::Value;

/// Returns the new pointers of definitions that a later schema has at another place, by the old ones: those of the only
/// definitions with the same name, or else those of the only new ones with the same schema.
pub(super) fn moved_definitions([before, after]: [&Value; 2]) -> BTreeMap<String, String> {
    let [earlier, later] = [before, after].map(all_definitions);
    let places = |definitions: &[(String, &str, &Value)]| -> BTreeSet<String> {
        definitions.iter().map(|(at, ..)| at.clone()).collect()
    };
    let [old, new] = [places(&earlier), places(&later)];
    let gone: Vec<_> = earlier.iter().filter(|(at, ..)| !new.contains(at)).collect();
    let added: Vec<_> = later.iter().filter(|(at, ..)| !old.contains(at)).collect();
    let schemas = |definitions: &[&(String, &str, &Value)]| -> Vec<Value> {
        definitions
            .iter()
            .map(|(.., schema)| without_names(schema, [&old, &new]))
            .collect()
    };
    let (schemas_before, schemas_after) = (schemas(&gone), schemas(&added));
    let pairs = gone.iter().zip(&schemas_before).filter_map(|((at, name, _), schema)| {
        let mut same_name = added.iter().filter(|(_, other, _)| other == name);
        let mut same_schema = added.iter().zip(&schemas_after).filter(|(_, other)| *other == schema);
        let is_only = schemas_before.iter().filter(|other| *other == schema).count() == 1;
        let target = match (same_name.next(), same_name.next()) {
            (Some(only), None) => only,
            _ => {
                same_schema
                    .next()
                    .filter(|_| is_only && same_schema.next().is_none())?
                    .0
            }
        };
        Some((at.clone(), target.0.clone()))
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
