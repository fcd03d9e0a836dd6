//! The codes of errors that a new schema defines, or changes.

use std::collections::BTreeMap;

use heck::ToShoutySnakeCase as _;
use mcp_json_schema::{all_definitions, walk};
use serde_json::Value;

use crate::load::{Document, is_within};
use crate::model::{JSON_RPC_CODES, ModelledRevision};
use crate::problem::{Place, Problem};

/// The end of the names of errors.
const ERROR: &str = "Error";

/// Returns the definitions of errors with one code that no entry of an overlay names, apart from those of JSON-RPC itself,
/// each with the entry that names the code.
pub(super) fn defined_errors<'s>(schema: &'s Value, overlay: &Value) -> Vec<(&'s str, String)> {
    let named = overlay["error_codes"].as_array().into_iter().flatten();
    let mut known: Vec<i64> = named.filter_map(|entry| entry["code"].as_i64()).collect();
    known.extend(JSON_RPC_CODES);
    let errors = codes(schema).into_iter().filter(|(_, code)| !known.contains(code));
    let errors = errors.filter_map(|(name, code)| {
        let stem = name.strip_suffix(ERROR)?;
        Some((name, format!("name: {}, code: {code}", stem.to_shouty_snake_case())))
    });
    errors.collect()
}

/// Changes the codes in the overlay of an earlier schema to those that the same definitions of errors have in a later one.
pub(super) fn with_codes_in([earlier, later]: [&Value; 2], (text, overlay): (&str, &Document)) -> String {
    let [earlier, later] = [codes(earlier), codes(later)];
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let entries = overlay.root()["error_codes"].as_array().into_iter().flatten();
    // The last first, because a line can have several.
    for (index, entry) in entries.enumerate().collect::<Vec<_>>().into_iter().rev() {
        let Some(code) = entry["code"]
            .as_i64()
            .filter(|code| !later.values().any(|other| other == code))
        else {
            continue;
        };
        let mut definitions = earlier.iter().filter(|(_, known)| **known == code);
        let now = definitions.find_map(|(name, _)| later.get(name));
        let Place { line, column } = overlay.place(&format!("#/error_codes/{index}/code"));
        if let (Some(now), Some(line)) = (now, lines.get_mut(line - 1)) {
            let start: String = line.chars().take(column - 1).collect();
            let rest = line[start.len()..].replacen(&code.to_string(), &now.to_string(), 1);
            *line = start + &rest;
        }
    }
    lines.join("\n") + "\n"
}

/// Returns a warning for each error that has another code in a new revision, unless a rule names the earlier one.
pub(super) fn changed_codes(before: &ModelledRevision, after: &ModelledRevision) -> Vec<Problem> {
    let file = after.documents.rules.file();
    let rules = after.documents.rules.root()["errors"].as_array();
    let is_ruled = |code: i64| rules.is_some_and(|rules| rules.iter().any(|rule| rule["up"]["from"] == code));
    let revision = &after.model.revision;
    let codes = before.model.error_codes.iter();
    let changed = codes.filter_map(|old| {
        let mut codes = after.model.error_codes.iter();
        let new = codes.find(|new| new.name == old.name && new.code != old.code && !is_ruled(old.code))?;
        let (old, new, name) = (old.code, new.code, &old.name);
        let what = format!("{revision} has {new} instead of {old} for {name}: conversions keep the code");
        let help = format!(
            "if it is the same, add this line under `errors` in the revision's adapt.yaml: \
             - {{up: {{from: {old}, to: {new}}}, down: {{from: {new}, to: {old}}}, why: \"…\", link: \"https://…\"}}"
        );
        Some(Problem::new(file, what).help(help))
    });
    changed.collect()
}

/// Returns the definitions of errors with one code.
fn codes(schema: &Value) -> BTreeMap<&str, i64> {
    let mut codes: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    walk(schema, |at, schema| {
        if let Some(code) = schema.pointer("/properties/code/const").and_then(Value::as_i64) {
            codes.entry(at.to_owned()).or_default().push(code);
        }
    });
    let definitions = all_definitions(schema).into_iter();
    let errors = definitions.filter_map(|(definition, name, _)| {
        name.strip_suffix(ERROR).filter(|stem| !stem.is_empty())?;
        let mut own = codes
            .iter()
            .filter(|(at, _)| is_within(at, &definition))
            .flat_map(|(_, codes)| codes);
        match (own.next(), own.next()) {
            (Some(code), None) => Some((name, *code)),
            _ => None,
        }
    });
    errors.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_with_one_new_code_are_found_in_any_form() {
        let with_code = |code: Value| json!({"properties": {"code": code}});
        let response = |code: i64| json!({"properties": {"error": {"allOf": [with_code(json!({"const": code}))]}}});
        let schema = json!({"$defs": {
            "RateLimitedError": response(-32050),
            "QuotaError": with_code(json!({"const": -32051})),
            "KnownError": response(-32020),
            "ParseError": with_code(json!({"const": -32700})),
            "AnyError": {"anyOf": [with_code(json!({"const": 1})), with_code(json!({"const": 2}))]},
            "Error": with_code(json!({"const": 3})),
        }});
        let overlay = json!({"error_codes": [{"name": "KNOWN", "code": -32020}]});
        let expected = [
            ("QuotaError", "name: QUOTA, code: -32051"),
            ("RateLimitedError", "name: RATE_LIMITED, code: -32050"),
        ];
        assert_eq!(
            defined_errors(&schema, &overlay),
            expected.map(|(name, entry)| (name, entry.to_owned()))
        );
    }
}
