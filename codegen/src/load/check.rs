//! Finds everything in a schema that the generator doesn't support, before any stage uses it.
//!
//! The validator reports errors in JSON Schema. This module adds the keywords that the validator supports and the
//! generator doesn't, and the remedies.

use mcp_json_schema::{DEFINITIONS, Dialect, ProblemKind, Validator, definitions, pointer, schema_at, walk};
use serde_json::Value;

use super::document::Document;
use crate::problem::{Problem, Problems, correction};

/// The keywords of prose, which doesn't affect validation and isn't ours to publish.
pub(crate) const PROSE: [&str; 5] = ["$comment", "description", "example", "examples", "title"];

/// The keywords that the generator supports, besides `x-…`.
#[rustfmt::skip]
const KEYWORDS: [&str; 56] = [
    "$comment", "$defs", "$id", "$ref", "$schema", "additionalItems", "additionalProperties", "allOf", "anyOf",
    "const", "contains", "contentEncoding", "contentMediaType", "contentSchema", "default", "definitions", "dependencies",
    "dependentRequired", "dependentSchemas", "deprecated", "description", "else", "enum", "examples",
    "exclusiveMaximum", "exclusiveMinimum", "format", "if", "items", "maxContains", "maxItems", "maxLength",
    "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
    "not", "oneOf", "pattern", "patternProperties", "prefixItems", "properties", "propertyNames", "readOnly",
    "required", "then", "title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly",
];

const CORRECT: &str = "if the official schema has this mistake, correct it in the revision's overlay.yaml";
const PATTERN: &str =
    "correct it in the revision's overlay.yaml: write a pattern that accepts the same texts, or remove it";

/// Whether a keyword belongs to JSON Schema, which no annotation of another vocabulary does.
pub(super) fn is_keyword(name: &str) -> bool {
    name.starts_with('$') || KEYWORDS.contains(&name)
}

/// Checks a schema document as a whole.
///
/// # Errors
///
/// Every unknown dialect, missing definition, malformed or unknown keyword, and reference without a target or in a
/// cycle.
pub fn check_document(document: &Document) -> Result<(), Problems> {
    let root = document.root();
    if !root.is_object() {
        let problem = document.problem("#", "a schema document is an object");
        return Err(problem
            .help("give the whole official schema.json, not a part of it")
            .into());
    }
    if let Some(problem) = only_problem(document) {
        return Err(problem.into());
    }
    let mut problems = Vec::new();
    if definitions(root, "#").next().is_none() {
        let [first, second] = DEFINITIONS;
        let help = format!("types are made from the members of `{first}` or `{second}` at its root");
        let problem = document.problem("#", "this document has no definitions").help(help);
        if DEFINITIONS.iter().all(|keyword| root.get(keyword).is_none()) {
            // It isn't a schema, so that all other problems are consequences.
            return Err(problem.into());
        }
        problems.push(problem);
    }
    walk(root, |at, schema| {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            let wrong = wrong_keyword(root, at, keyword, value);
            problems.extend(wrong.map(|(what, help)| document.problem(&pointer::child(at, keyword), what).help(help)));
        }
    });
    if let Err(error) = Validator::new(root) {
        for found in error.problems() {
            if problems.iter().all(|problem| problem.pointer != found.pointer) {
                let help = match found.kind {
                    ProblemKind::UnsupportedPattern => PATTERN,
                    _ => CORRECT,
                };
                problems.push(document.problem(&found.pointer, &found.message).help(help));
            }
        }
    }
    Problems::check(problems)
}

/// Returns a problem of the whole document of which all others would be consequences.
fn only_problem(document: &Document) -> Option<Problem> {
    let root = document.root();
    if Dialect::of(root).is_err() {
        let problem = document.problem("#/$schema", "the generator does not read this dialect");
        let latest = Dialect::Draft202012.uri();
        return Some(problem.help(format!(
            "draft-07 and 2020-12 are read: http://json-schema.org/draft-07/schema# and {latest}; if the schema means the \
             same in 2020-12, correct it by {}",
            correction("#/$schema", Some(&root["$schema"]), Value::from(latest))
        )));
    }
    let all: Vec<(String, &str, &Value)> = definitions(root, "#").collect();
    let is_schema = |schema: &Value| schema.is_object() || schema.is_boolean();
    if let [(at, ..), _, ..] = all.as_slice()
        && all.iter().all(|(.., schema)| !is_schema(schema))
    {
        let what = format!(
            "none of the {} definitions is a schema (an object or a boolean)",
            all.len()
        );
        return Some(
            document
                .problem(at, what)
                .help("give the official schema.json, not its sources"),
        );
    }
    all_dangle(document)
}

/// Returns the problem of a document whose references all lead into the same object, which doesn't exist.
fn all_dangle(document: &Document) -> Option<Problem> {
    let root = document.root();
    let mut references: Vec<(String, String)> = Vec::new();
    walk(root, |at, schema| {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            references.push((pointer::child(at, "$ref"), reference.clone()));
        }
    });
    let (at, first) = references.first().filter(|_| references.len() > 1)?;
    let (place, _) = first.rsplit_once('/')?;
    let is_there =
        |reference: &str| pointer::canonical(reference).is_some_and(|target| schema_at(root, &target).is_some());
    let dangles =
        |reference: &str| reference.rsplit_once('/').is_some_and(|(other, _)| other == place) && !is_there(reference);
    references.iter().all(|(_, reference)| dangles(reference)).then(|| {
        let what = format!(
            "all {} references lead into {place}, where nothing is",
            references.len()
        );
        document
            .problem(at, what)
            .help("give the whole official schema, with its definitions where its references lead")
    })
}

/// Returns the problem of a keyword that the generator doesn't support, and the remedy.
fn wrong_keyword(root: &Value, at: &str, keyword: &str, value: &Value) -> Option<(String, String)> {
    if !KEYWORDS.contains(&keyword) && !keyword.starts_with("x-") {
        let express = "express the same with other keywords by a correction in the revision's overlay.yaml";
        let help = match is_keyword(keyword) {
            true => format!("{express}, or remove it there if it refuses no instance"),
            false => format!(
                "{express}; if it refuses no instance, put `{keyword}` under `annotations` in revisions.yaml instead"
            ),
        };
        return Some((format!("the generator can't honour the keyword `{keyword}`"), help));
    }
    match keyword {
        "$id" | "$schema" if at != "#" => Some((
            format!("`{keyword}` may be at the root only"),
            "the generator reads each document as one whole in one dialect: remove it through the revision's overlay.yaml".into(),
        )),
        "$ref" => wrong_reference(root, value.as_str()?),
        "enum" if value.as_array()?.is_empty() => Some((
            "no type is generated for an enumeration without values".into(),
            CORRECT.into(),
        )),
        _ => None,
    }
}

fn wrong_reference(root: &Value, reference: &str) -> Option<(String, String)> {
    let (what, help) = match pointer::canonical(reference) {
        None if reference.starts_with('#') => (
            format!("{reference} is an anchor, which the generator can't honour"),
            "refer to the definition by its place, as in #/$defs/Name".into(),
        ),
        None => {
            let mut help = format!(
                "nothing is fetched for a reference: put `\"{reference}\": {{a schema}}` under `aliases` in revisions.yaml"
            );
            if let Some(at) = reference.find("#/") {
                help += "; in an extension, ";
                help += &reference[at..];
                help += " is the definition of the revision, if the extension has none of this name";
            }
            (format!("{reference} leads out of this document, and has no alias"), help)
        }
        Some(target) if target == "#" => (
            "a reference to the whole document names no type".into(),
            "refer to a definition, as in #/$defs/Name".into(),
        ),
        Some(target) if schema_at(root, &target).is_none() => (
            format!("{reference} leads to nothing: there is no schema"),
            "add the definition or correct the name, in the revision's overlay.yaml if the official schema has this mistake".into(),
        ),
        Some(_) => return None,
    };
    Some((what, help))
}
