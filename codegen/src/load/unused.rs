//! Leaves out definitions that stand inside of others and that nothing refers to.
//!
//! Schemas that were put together from whole schemas have them, with references that only made sense in the whole.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::dialect::CONTAINERS;
use super::document::Document;
use super::keyword::subschemas;
use super::pointer;

/// The document without nested definitions that nothing in use refers to. Those at its root are in use.
#[must_use]
pub fn without_unused_definitions(mut document: Document) -> Document {
    let mut references = References::new();
    collect(document.root(), &mut String::from(ROOT), ROOT, &mut references);
    let unused = unused(&references);
    for definition in &unused {
        document.set(definition, None);
    }
    document
}

const ROOT: &str = "#";

/// What each nested definition refers to, by its pointer; what stands in none is the root's.
type References = BTreeMap<String, BTreeSet<String>>;

fn collect(schema: &Value, here: &mut String, definition: &str, references: &mut References) {
    let own = references.entry(definition.to_owned()).or_default();
    let reference = schema.get("$ref").and_then(Value::as_str);
    own.extend(reference.and_then(pointer::of_reference));
    let above = here.len();
    for (steps, inner) in subschemas(schema) {
        let is_nested = here != ROOT && CONTAINERS.contains(&steps[0].as_str());
        steps.iter().for_each(|step| pointer::push(here, step));
        let nested = is_nested.then(|| here.clone());
        collect(inner, here, nested.as_deref().unwrap_or(definition), references);
        here.truncate(above);
    }
}

fn unused(references: &References) -> BTreeSet<&str> {
    let mut unused: BTreeSet<&str> = references.keys().map(String::as_str).collect();
    let mut waiting = vec![ROOT];
    while let Some(definition) = waiting.pop() {
        unused.remove(definition);
        for target in references.get(definition).into_iter().flatten() {
            let is_used = |nested: &&&str| {
                target
                    .strip_prefix(**nested)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            waiting.extend(unused.iter().filter(is_used).copied());
        }
    }
    unused
}
