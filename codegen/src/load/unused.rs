//! Removes unused definitions that are nested in other definitions.
//!
//! Bundled schemas have them, with references that are only valid in the original schemas.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{all_definitions, pointer, walk};
use serde_json::Value;

use super::document::Document;
use super::places::is_within;

/// Removes unused nested definitions from a document. The definitions at its root always count as used.
pub(crate) fn without_unused_definitions(mut document: Document) -> Document {
    for definition in unused(&references(document.root())) {
        document.set(&definition, None);
    }
    document
}

const ROOT: &str = "#";

/// The references inside each nested definition, by its pointer, and those of the root.
type References = BTreeMap<String, BTreeSet<String>>;

fn references(document: &Value) -> References {
    let definitions = all_definitions(document).into_iter();
    let nested = definitions.filter(|(pointer, ..)| pointer.matches('/').count() > 2);
    let mut references: References = nested.map(|(pointer, ..)| (pointer, BTreeSet::new())).collect();
    references.insert(ROOT.to_owned(), BTreeSet::new());
    walk(document, |at, schema| {
        let reference = schema.get("$ref").and_then(Value::as_str);
        let Some(target) = reference.and_then(pointer::canonical) else {
            return;
        };
        let mut around = std::iter::successors(Some(at), |at| Some(at.rsplit_once('/')?.0));
        if let Some(definition) = around.find(|outer| references.contains_key(*outer)) {
            references.entry(definition.to_owned()).or_default().insert(target);
        }
    });
    references
}

fn unused(references: &References) -> BTreeSet<String> {
    let mut unused: BTreeSet<&str> = references.keys().map(String::as_str).collect();
    let mut left = vec![ROOT];
    while let Some(definition) = left.pop() {
        unused.remove(definition);
        for target in references.get(definition).into_iter().flatten() {
            left.extend(unused.iter().filter(|nested| is_within(target, nested)).copied());
        }
    }
    unused.into_iter().map(str::to_owned).collect()
}
