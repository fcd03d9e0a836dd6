//! Results that official schemas define within the responses to requests.

use mcp_json_schema::{DEFINITIONS, pointer};
use serde_json::{Value, json};

use crate::load::is_within;
use crate::messages::RESPONSES;
use crate::normalise::targets;

/// Turns the result within the response to `XRequest` into the definition `XResult`, unless there is one.
pub(super) fn define_results(root: &mut Value) {
    for keyword in DEFINITIONS {
        let names: Vec<String> = root[keyword]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name.clone())
            .collect();
        let is_defined = |stem: &str, end: &str| names.contains(&format!("{stem}{end}"));
        for name in &names {
            let stem = RESPONSES
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .unwrap_or_default();
            if !is_defined(stem, "Request") || is_defined(stem, "Result") {
                continue;
            }
            let result = pointer::child(&format!("#/{keyword}"), &format!("{stem}Result"));
            let place = result_in(root, &pointer::child(&format!("#/{keyword}"), name));
            if let Some(schema) = place.and_then(|place| root.pointer_mut(&place[1..])) {
                let reference = json!({ "$ref": pointer::reference(&result) });
                let schema = std::mem::replace(schema, reference);
                root[keyword][format!("{stem}Result")] = schema;
            }
        }
    }
}

/// Returns the pointer of the only schema in a response that defines a result.
fn result_in(root: &Value, response: &str) -> Option<String> {
    let inner = |at: &str, keyword: &str| {
        let list = pointer::resolve(root, &format!("{at}/{keyword}")).and_then(Value::as_array);
        let count = list.map_or(0, Vec::len);
        let inner: Vec<String> = (0..count).map(|index| format!("{at}/{keyword}/{index}")).collect();
        inner
    };
    let parts = [response.to_owned()].into_iter().chain(inner(response, "allOf"));
    let mut results = parts.map(|part| format!("{part}/properties/result"));
    let result = results.find(|at| pointer::resolve(root, at).is_some())?;
    let variants: Vec<String> = ["anyOf", "oneOf"]
        .iter()
        .flat_map(|keyword| inner(&result, keyword))
        .collect();
    let defines = |at: &String| {
        let schema = pointer::resolve(root, at).unwrap_or(&Value::Null);
        schema.get("$ref").is_none()
            && ["allOf", "properties"]
                .iter()
                .any(|keyword| schema.get(keyword).is_some())
    };
    let mut found = if variants.is_empty() { vec![result] } else { variants };
    found.retain(defines);
    let only = found.pop().filter(|_| found.is_empty())?;
    let is_referenced = targets(root).iter().any(|target| is_within(target, &only));
    (!is_referenced).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(result: &Value) -> Value {
        json!({"type": "object", "properties": {"id": {}, "result": result}, "required": ["id", "result"]})
    }

    /// Returns the response of a request, and its result.
    fn defined(response: &Value) -> [Value; 2] {
        let mut schema =
            json!({"$defs": {"CallRequest": {}, "CallResultResponse": response, "Envelope": {}, "Other": {}}});
        define_results(&mut schema);
        ["CallResultResponse", "CallResult"].map(|name| schema["$defs"][name].clone())
    }

    #[test]
    fn a_result_within_a_response_becomes_a_definition() {
        let result = json!({"type": "object", "properties": {"a": {}}});
        let (to_result, other) = (json!({"$ref": "#/$defs/CallResult"}), json!({"$ref": "#/$defs/Other"}));
        let extended = json!({"allOf": [other, result]});
        let wrapped =
            |result: &Value| json!({"allOf": [{"$ref": "#/$defs/Envelope"}, {"properties": {"result": result}}]});
        for (before, after, expected) in [
            (response(&result), response(&to_result), &result),
            (response(&extended), response(&to_result), &extended),
            (
                response(&json!({"anyOf": [other, result]})),
                response(&json!({"anyOf": [other, to_result]})),
                &result,
            ),
            (wrapped(&result), wrapped(&to_result), &result),
        ] {
            assert_eq!(defined(&before), [after, expected.clone()]);
        }
    }

    #[test]
    fn other_responses_stay() {
        let (first, second) = (json!({"properties": {"a": {}}}), json!({"properties": {"b": {}}}));
        for result in [
            json!({}),
            json!({"$ref": "#/$defs/Other"}),
            json!({"oneOf": [first, second]}),
        ] {
            let response = response(&result);
            assert_eq!(defined(&response), [response, Value::Null]);
        }
        // A reference leads to the result.
        let mut schema = json!({"$defs": {
            "CallRequest": {},
            "CallResultResponse": response(&first),
            "Other": {"$ref": "#/$defs/CallResultResponse/properties/result"},
        }});
        let before = schema.clone();
        define_results(&mut schema);
        assert_eq!(schema, before);
    }
}
