//! The page about gaps in the schemas: every entry of the overlays and rules, with its source.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::diff::way_to;
use crate::error::EmitError;
use crate::markdown::cell;
use crate::model::ModelledRevision;
use crate::templates::render;

/// Maximum number of places that are listed for an entry.
const PLACES: usize = 6;

pub(crate) fn gaps(revisions: &[Arc<ModelledRevision>]) -> Result<String, EmitError> {
    let pages: Vec<Value> = revisions.iter().rev().map(|revision| page(revision)).collect();
    render("documents/schema-gaps.md", json!({"revisions": pages}))
}

/// Returns the template's values for a revision.
fn page(revision: &ModelledRevision) -> Value {
    let documents = &revision.documents;
    let (overlay, rules) = (documents.overlay.root(), documents.rules.root());
    let (hints, corrections): (Vec<&Value>, Vec<&Value>) =
        entries(overlay, "corrections").iter().partition(|it| is_hint(it));
    let section = |title: &str, what: &str, entries: &[&Value]| {
        let rows = entries.iter();
        let rows = rows.map(|entry| json!({"what": subject(entry), "why": entry["why"], "link": entry["link"]}));
        json!({"title": title, "what": what, "says": "Why", "rows": Vec::from_iter(rows)})
    };
    let listed = |title, what, document, name| section(title, what, &Vec::from_iter(entries(document, name)));
    let facts = overlay.get("facts").and_then(Value::as_object).into_iter().flatten();
    let facts = facts.map(|(name, value)| json!({"what": format!("`{name}`"), "value": value.to_string()}));
    let sections = [
        section("Corrections", "Where", &corrections),
        section("Hints", "Where", &hints),
        listed("Error codes", "Error", overlay, "error_codes"),
        listed("Results", "Method", overlay, "results"),
        listed("Deprecations", "Feature", overlay, "deprecated"),
        json!({"title": "Facts", "what": "Fact", "says": "Value", "rows": Vec::from_iter(facts)}),
        listed("Rules", "Where", rules, "rules"),
        listed("Rules about errors", "Method", rules, "errors"),
    ];
    json!({"name": revision.model.revision, "sections": sections})
}

fn entries<'v>(document: &'v Value, section: &str) -> &'v [Value] {
    let entries = document.get(section).and_then(Value::as_array);
    entries.map_or(&[], Vec::as_slice)
}

/// Whether a correction only sets keywords for the generator.
fn is_hint(correction: &Value) -> bool {
    let keyword = |at: &str| at.rsplit('/').next().is_some_and(|last| last.starts_with("x-"));
    let at = texts(correction.get("at"));
    !at.is_empty() && at.iter().all(|at| keyword(at))
}

fn subject(entry: &Value) -> String {
    let mut members = ["feature", "name", "method", "at"].iter();
    let texts = texts(members.find_map(|member| entry.get(*member)));
    if texts.is_empty() {
        return "all".to_owned();
    }
    let places = texts.iter().take(PLACES).map(|text| match text.starts_with('#') {
        true => format!("`{}`", cell(&way_to(text))),
        false => format!("`{}`", cell(text)),
    });
    let places: Vec<String> = places.collect();
    match texts.len().saturating_sub(PLACES) {
        0 => places.join(", "),
        more => format!("{} and {more} more", places.join(", ")),
    }
}

/// Returns a string, or the strings of a list.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        value => value.and_then(Value::as_str).into_iter().collect(),
    }
}
