//! The arguments of a tool, typed by the tool's schema.

use mcp_adapters::mcp_wire::RawObject;
use mcp_runtime::hub::Tool;
use serde_json::{Map, Value};

use crate::error::CommandError;
use crate::suggest::tip;

/// The arguments that the command line gives: one object, and pairs of a name and a value.
pub fn arguments(tool: &Tool, json: Option<&str>, pairs: &[(String, String)]) -> Result<RawObject, CommandError> {
    let mut arguments: Map<String, Value> = match json {
        Some(json) => serde_json::from_str(json)
            .map_err(|error| CommandError::Argument(format!("--args is no JSON object: {error}")))?,
        None => Map::new(),
    };
    let schema: Value = tool.input_schema.parse().unwrap_or_default();
    for (name, text) in pairs {
        let property = property(&schema, name).map_err(CommandError::Argument)?;
        let value = value(property, text).ok_or_else(|| {
            CommandError::Argument(format!("--arg {name} wants JSON of {}, not {text:?}", kind(property)))
        })?;
        arguments.insert(name.clone(), value);
    }
    Ok(arguments.into())
}

/// The schema of an argument; an error if the tool's schema doesn't allow one of this name.
fn property<'s>(schema: &'s Value, name: &str) -> Result<&'s Value, String> {
    let properties = schema["properties"].as_object();
    match properties.and_then(|properties| properties.get(name)) {
        Some(property) => Ok(property),
        None if schema["additionalProperties"] == false => {
            let known: Vec<&str> = properties.into_iter().flat_map(Map::keys).map(String::as_str).collect();
            Err(format!("the tool has no argument {name:?}; {}", tip(name, &known)))
        }
        None => Ok(&Value::Null),
    }
}

/// A value of one of the types that a schema allows. Text is text where the schema allows no other type, or where it is no JSON of
/// another one.
fn value(schema: &Value, text: &str) -> Option<Value> {
    let allows = |kind: &str| match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => true,
    };
    let parsed = serde_json::from_str(text).ok().filter(|value| match value {
        Value::Null => allows("null"),
        Value::Bool(_) => allows("boolean"),
        Value::Number(number) => {
            allows("number") || (number.as_f64().is_some_and(|it| it.fract() == 0.0) && allows("integer"))
        }
        // Quotes belong to a text, unless any JSON is allowed.
        Value::String(_) => schema["type"].is_null() && schema["enum"].is_null(),
        Value::Array(_) => allows("array"),
        Value::Object(_) => allows("object"),
    });
    parsed.or_else(|| allows("string").then(|| Value::from(text)))
}

fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::String(kind) => format!("the type {kind}"),
        kinds => format!("the types {kinds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_has_the_type_that_the_schema_wants() {
        for (schema, text, expected) in [
            (json!({"type": "string"}), "5", Some(json!("5"))),
            (json!({"type": "string"}), "\"a\"", Some(json!("\"a\""))),
            (json!({"type": "integer"}), "5", Some(json!(5))),
            (json!({"type": "integer"}), "5.5", None),
            (json!({"type": "number"}), "5.5", Some(json!(5.5))),
            (json!({"type": "number"}), "five", None),
            (json!({"type": "boolean"}), "true", Some(json!(true))),
            (json!({"type": ["number", "string"]}), "5", Some(json!(5))),
            (json!({"type": ["number", "string"]}), "five", Some(json!("five"))),
            (json!({"type": "array"}), "[1]", Some(json!([1]))),
            (json!({}), "{\"a\":1}", Some(json!({"a": 1}))),
            (json!({}), "text", Some(json!("text"))),
            (Value::Null, "null", Some(Value::Null)),
        ] {
            assert_eq!(value(&schema, text), expected, "{schema} {text}");
        }
    }

    #[test]
    fn an_argument_that_the_schema_forbids_is_refused_with_a_suggestion() {
        let schema = json!({"properties": {"city": {}}, "additionalProperties": false});
        assert!(property(&schema, "city").is_ok());
        let refused = property(&schema, "ctiy").unwrap_err();
        assert!(refused.contains("did you mean \"city\"?"), "{refused}");
        assert!(property(&json!({"properties": {}}), "any").is_ok());
    }
}
