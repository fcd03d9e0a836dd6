//! The codes of errors that a new schema defines.

use std::collections::BTreeMap;

use heck::ToShoutySnakeCase as _;
use mcp_wire::json_schema::{all_definitions, walk};
use serde_json::Value;

use crate::load::is_within;
use crate::model::JSON_RPC_CODES;

/// The end of the names of errors.
const ERROR: &str = "Error";

/// Returns the definitions of errors with one code that no entry of an overlay names, apart from those of JSON-RPC itself,
/// each with the entry that names the code.
pub(super) fn defined_errors<'s>(schema: &'s Value, overlay: &Value) -> Vec<(&'s str, String)> {
    let named = overlay["error_codes"].as_array().into_iter().flatten();
    let mut known: Vec<i64> = named.filter_map(|entry| entry["code"].as_i64()).collect();
    known.extend(JSON_RPC_CODES);
    let mut codes: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    walk(schema, |at, schema| {
        if let Some(code) = schema.pointer("/properties/code/const").and_then(Value::as_i64) {
            codes.entry(at.to_owned()).or_default().push(code);
        }
    });
    let definitions = all_definitions(schema).into_iter();
    let errors = definitions.filter_map(|(definition, name, _)| {
        let stem = name.strip_suffix(ERROR).filter(|stem| !stem.is_empty())?;
        let mut own = codes
            .iter()
            .filter(|(at, _)| is_within(at, &definition))
            .flat_map(|(_, codes)| codes);
        let (code, None) = (*own.next()?, own.next()) else {
            return None;
        };
        let entry = || format!("name: {}, code: {code}", stem.to_shouty_snake_case());
        (!known.contains(&code)).then(|| (name, entry()))
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
