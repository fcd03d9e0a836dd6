//! The codes of errors that a new schema defines.

use std::collections::BTreeMap;

use heck::ToShoutySnakeCase as _;
use mcp_wire::json_schema::{all_definitions, walk};
use serde_json::Value;

use crate::load::is_within;
use crate::model::JSON_RPC_CODES;

/// The end of the names of errors.
const ERROR: &str = "Error";

/// An error that a schema defines.
pub(super) struct DefinedError {
    /// The name of its definition.
    pub(super) definition: String,
    pub(super) code: i64,
}

impl DefinedError {
    /// Returns the entry of the overlay that names the code.
    pub(super) fn entry(&self) -> String {
        let name = self.definition.strip_suffix(ERROR).unwrap_or(&self.definition);
        format!("name: {}, code: {}", name.to_shouty_snake_case(), self.code)
    }
}

/// Returns the errors with one code that no entry of an overlay names, apart from those of JSON-RPC itself.
pub(super) fn defined_errors(schema: &Value, overlay: &Value) -> Vec<DefinedError> {
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
    let errors = definitions.filter(|(_, name, _)| name.len() > ERROR.len() && name.ends_with(ERROR));
    let errors = errors.filter_map(|(definition, name, _)| {
        let mut own = codes
            .iter()
            .filter(|(at, _)| is_within(at, &definition))
            .flat_map(|(_, codes)| codes);
        let (code, None) = (*own.next()?, own.next()) else {
            return None;
        };
        (!known.contains(&code)).then(|| DefinedError {
            definition: name.to_owned(),
            code,
        })
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
        let entries: Vec<String> = defined_errors(&schema, &overlay)
            .iter()
            .map(DefinedError::entry)
            .collect();
        assert_eq!(
            entries,
            ["name: QUOTA, code: -32051", "name: RATE_LIMITED, code: -32050"]
        );
    }
}
