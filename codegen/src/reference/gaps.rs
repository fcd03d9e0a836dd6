//! The page of what the schemas don't say: every entry of the data beside them, with its source.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use crate::diff::way_to;
use crate::markdown::{cell, table};
use crate::model::ModelledRevision;

/// How many places of an entry are written out.
const PLACES: usize = 6;

const TITLE: &str = "\
# What the schemas don't say

Types, conversions and sessions are generated from the official schemas and from the entries below, which are read from `schema/`. Each has its
reason and its source. **Corrections** replace what a schema gets wrong. **Hints** are keywords for what JSON Schema has no word for, such as the
order of an enumeration. **Error codes**, **results**, **deprecations** and **facts** are in the specification's text alone. **Rules** are what two
schemas can't imply about each other: they are between a revision and the one before it.
";

pub(crate) fn gaps(revisions: &[Arc<ModelledRevision>]) -> String {
    let mut page = TITLE.to_owned();
    let sections: Vec<Vec<Section>> = revisions.iter().map(|revision| sections(revision)).collect();
    if let Some(all) = sections.first() {
        let titles: Vec<&str> = all.iter().map(|section| section.title).collect();
        let _ = writeln!(page, "\n| Revision | {} |", titles.join(" | "));
        let _ = writeln!(page, "|---|{}", "--:|".repeat(titles.len()));
    }
    for (revision, sections) in revisions.iter().zip(&sections).rev() {
        let counts: Vec<String> = sections.iter().map(|section| section.rows.len().to_string()).collect();
        let name = &revision.model.revision;
        let _ = writeln!(page, "| [{name}](#{name}) | {} |", counts.join(" | "));
    }
    for (revision, sections) in revisions.iter().zip(&sections).rev() {
        let _ = writeln!(page, "\n## {}", revision.model.revision);
        for section in sections.iter().filter(|section| !section.rows.is_empty()) {
            let _ = writeln!(page, "\n### {} of {}", section.title, revision.model.revision);
            page += &table(section.columns, section.rows.iter().cloned());
        }
    }
    page
}

/// A table of the page.
struct Section {
    title: &'static str,
    columns: [&'static str; 2],
    rows: Vec<[String; 2]>,
}

fn sections(revision: &ModelledRevision) -> Vec<Section> {
    let documents = &revision.documents;
    let (overlay, rules) = (documents.overlay.root(), documents.rules.root());
    let (hints, corrections): (Vec<&Value>, Vec<&Value>) =
        entries(overlay, "corrections").iter().partition(|it| is_hint(it));
    let section = |title, column, entries: &[&Value]| Section {
        title,
        columns: [column, "Why"],
        rows: entries.iter().map(|entry| [subject(entry), reason(entry)]).collect(),
    };
    let listed = |title, column, document, name| {
        let entries: Vec<&Value> = entries(document, name).iter().collect();
        section(title, column, &entries)
    };
    let facts = overlay.get("facts").and_then(Value::as_object).into_iter().flatten();
    let facts = facts.map(|(name, value)| [format!("`{name}`"), format!("`{}`", cell(&value.to_string()))]);
    vec![
        section("Corrections", "Where", &corrections),
        section("Hints", "Where", &hints),
        listed("Error codes", "Error", overlay, "error_codes"),
        listed("Results", "Method", overlay, "results"),
        listed("Deprecations", "Feature", overlay, "deprecated"),
        Section {
            title: "Facts",
            columns: ["Fact", "Value"],
            rows: facts.collect(),
        },
        listed("Rules", "Where", rules, "rules"),
        listed("Rules about errors", "Method", rules, "errors"),
    ]
}

fn entries<'v>(document: &'v Value, section: &str) -> &'v [Value] {
    document
        .get(section)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether a correction sets keywords for the generator alone.
fn is_hint(correction: &Value) -> bool {
    let keyword = |at: &str| at.rsplit('/').next().is_some_and(|last| last.starts_with("x-"));
    let at = texts(correction.get("at"));
    !at.is_empty() && at.iter().all(|at| keyword(at))
}

fn subject(entry: &Value) -> String {
    let named = ["feature", "name", "method", "at"]
        .iter()
        .find_map(|member| entry.get(*member));
    let texts = texts(named);
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

fn reason(entry: &Value) -> String {
    let text = |member: &str| entry.get(member).and_then(Value::as_str).unwrap_or_default();
    format!("{} [Source]({})", cell(text("why")), text("link"))
}

/// A text, or the texts of a list.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        value => value.and_then(Value::as_str).into_iter().collect(),
    }
}
