//! Extensions: schemas in addition to the protocol's, whose types are partly those of the revision that they extend.
//!
//! A definition that the extension's schema repeats from the revision is the revision's type. Everything else goes
//! through the same stages as a revision.

mod copies;

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::{Dialect, definitions, pointer, walk};
use serde_json::{Map, Value, json};

use crate::load::{Document, Revision};
use crate::messages::message_unions;
use crate::overlay::{Overlay, ResultOf};
use crate::problem::{Problem, Problems};
pub(crate) use copies::canonical;

/// Replaces the copies of definitions of the revision's official schema in an extension's corrected one by those of the
/// revision's corrected one. Returns the pointers of these too.
///
/// # Errors
/// Definitions with the name of a different definition of the revision.
pub(crate) fn combine(
    (schema, mut combined): (&Document, Document),
    overlay: &Overlay,
    (revision, official_core, core): (&Revision, &Document, &Document),
) -> Result<(Document, BTreeSet<String>), Problems> {
    if Dialect::of(combined.root()) != Dialect::of(core.root()) {
        let what = format!("the schema of {revision} is of another dialect");
        let problem = combined.problem("#/$schema", what);
        return Err(problem
            .help("an extension is of the dialect of the revision that it extends")
            .into());
    }
    let official: BTreeMap<&str, &Value> = named(official_core.root()).collect();
    let corrected: BTreeMap<&str, &Value> = named(core.root()).collect();
    let (mut copies, mut problems) = (BTreeMap::new(), Vec::new());
    for (at, name, definition) in definitions(combined.root(), "#") {
        let (Some(official), Some(corrected)) = (official.get(name), corrected.get(name)) else {
            continue;
        };
        if canonical(definition) == canonical(official) {
            copies.insert(at, *corrected);
        } else if definition.get("x-name").is_none() && message_unions().all(|union| union != name) {
            problems.push(other_shape(schema, (revision, official_core), &at, name));
        }
    }
    Problems::check(problems)?;
    for (at, corrected) in &copies {
        combined.set(at, Some((*corrected).clone()));
    }
    let mut imported = copies.into_keys().collect();
    import_missing(&mut combined, core, overlay, &mut imported);
    Ok((refer_to_copies(combined, &imported), imported))
}

/// Returns the problem of a definition that has the name of one of the revision's, and another shape.
fn other_shape(schema: &Document, (revision, core): (&Revision, &Document), at: &str, name: &str) -> Problem {
    let place = definitions(core.root(), "#").find(|(_, other, _)| *other == name);
    let place = core.place(&place.map_or_else(|| "#".to_owned(), |(at, ..)| at));
    let what = format!(
        "`{name}` is another type in revision {revision}: {}:{place}",
        core.file()
    );
    let problem = schema.problem(at, what);
    problem.help(format!(
        "give this one another Rust name by a correction: at: \"{at}/x-name\""
    ))
}

/// Returns the definitions of a schema with their names.
fn named(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    definitions(schema, "#").map(|(_, name, schema)| (name, schema))
}

/// Adds the revision's definitions that the schema or the overlay names and the schema lacks.
fn import_missing(schema: &mut Document, core: &Document, overlay: &Overlay, imported: &mut BTreeSet<String>) {
    let core = definitions(core.root(), "#").map(|(at, name, schema)| (name, (at, schema)));
    let core: BTreeMap<&str, (String, &Value)> = core.collect();
    let mut known: BTreeSet<String> = named(schema.root()).map(|(name, _)| name.to_owned()).collect();
    let mut wanted = names_in(schema.root(), schema);
    wanted.extend(overlay.results.iter().flat_map(ResultOf::definitions).cloned());
    while let Some(name) = wanted.pop() {
        let Some((at, definition)) = core.get(name.as_str()) else {
            continue;
        };
        if !known.insert(name) {
            continue;
        }
        let around = at.rsplit_once('/').map_or("#", |(around, _)| around);
        if schema.get(around).is_none() {
            schema.set(around, Some(json!({})));
        }
        schema.set(at, Some((*definition).clone()));
        imported.insert(at.clone());
        wanted.extend(names_in(definition, schema));
    }
}

/// Returns the names of the definitions that a part of a schema refers to and the schema lacks, or that the overlay
/// names in that part.
fn names_in(part: &Value, schema: &Document) -> Vec<String> {
    let mut names = Vec::new();
    walk(part, |_, part| {
        let reference = part.get("$ref").and_then(Value::as_str).and_then(pointer::canonical);
        let target = reference.filter(|target| schema.get(target).is_none());
        names.extend(target.and_then(|target| pointer::tokens(&target)?.pop()));
        names.extend(part.get("x-type").and_then(Value::as_str).map(str::to_owned));
    });
    names
}

/// Replaces each inline schema in the extension's own definitions by a reference, if exactly one definition is
/// equivalent to it.
fn refer_to_copies(mut schema: Document, imported: &BTreeSet<String>) -> Document {
    let all: Vec<_> = definitions(schema.root(), "#").collect();
    let defined = all.iter().map(|(at, _, definition)| (at, canonical(definition)));
    let defined: Vec<(&String, Value)> = defined.filter(|(_, definition)| is_distinctive(definition)).collect();
    let own: Vec<&String> = all
        .iter()
        .map(|(at, ..)| at)
        .filter(|at| !imported.contains(*at))
        .collect();
    let mut copies = Vec::<(String, Value)>::new();
    walk(schema.root(), |at, part| {
        let is_within = |outer: &str| at.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'));
        let is_in_copy = copies.last().is_some_and(|(copy, _)| is_within(copy));
        if is_in_copy || !own.iter().any(|own| is_within(own)) || !is_distinctive(part) {
            return;
        }
        let part_canonical = canonical(part);
        let mut same = defined.iter().filter(|(_, definition)| *definition == part_canonical);
        if let (Some((target, _)), None) = (same.next(), same.next()) {
            let mut reference = annotations(part);
            reference.insert("$ref".to_owned(), json!(target));
            copies.push((at.to_owned(), Value::Object(reference)));
        }
    });
    for (at, reference) in copies {
        schema.set(&at, Some(reference));
    }
    schema
}

/// Whether schemas that are equal to this one aren't so by chance: it is an object with members, or has several values
/// or variants.
fn is_distinctive(schema: &Value) -> bool {
    let is_long = |keyword: &str| match schema.get(keyword) {
        Some(Value::Object(members)) => !members.is_empty(),
        Some(Value::Array(elements)) => elements.len() > 1,
        _ => false,
    };
    ["properties", "enum", "anyOf", "oneOf", "allOf"]
        .into_iter()
        .any(is_long)
}

/// Returns the keywords that stay next to a reference.
fn annotations(schema: &Value) -> Map<String, Value> {
    let keywords = schema.as_object().into_iter().flatten();
    let kept = keywords.filter(|(keyword, _)| *keyword == "description" || keyword.starts_with("x-"));
    kept.map(|(keyword, value)| (keyword.clone(), value.clone())).collect()
}
