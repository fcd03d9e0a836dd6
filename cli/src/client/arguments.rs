//! The arguments of a tool, typed by the tool's schema.

use mcp_adapters::mcp_wire::{self, RawJson, RawObject, from_str};
use mcp_runtime::hub::Tool;
use serde_json::{Map, Value};

use crate::error::CommandError;
use crate::suggest::tip;

/// The arguments that the command line gives: one object, and pairs of a name and a value.
pub fn arguments(tool: &Tool, json: Option<&str>, pairs: &[(String, String)]) -> Result<RawObject, CommandError> {
    // Numbers stay as they were typed.
    let mut arguments: mcp_wire::Map<RawJson> = match json {
        Some(json) => from_str(json)
            .map_err(|error| CommandError::Argument(format!("the arguments aren't a JSON object: {error}")))?,
        None => mcp_wire::Map::new(),
    };
    let schema: Value = tool.input_schema.parse().unwrap_or_default();
    for (name, text) in pairs {
        let property = property(&schema, name).map_err(CommandError::Argument)?;
        let value = value(property, text).ok_or_else(|| {
            CommandError::Argument(format!("--arg {name} wants JSON of {}, not {text:?}", kind(property)))
        })?;
        arguments.insert(name.clone(), value);
    }
    let arguments = RawJson::from_encode(&arguments).map_err(|error| CommandError::Argument(error.to_string()))?;
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
fn value(schema: &Value, text: &str) -> Option<RawJson> {
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
    let typed = parsed.and_then(|_| from_str(text.trim()).ok());
    typed.or_else(|| allows("string").then(|| Value::from(text).into()))
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
            assert_eq!(value(&schema, text), expected.map(RawJson::from), "{schema} {text}");
        }
    }

    #[test]
    fn numbers_are_sent_as_they_are_typed() {
        let large = "12345678901234567890123";
        let tool = Tool::new("add", from_str::<RawObject>("{}").unwrap());
        let pairs = [("b".to_owned(), "1.50".to_owned())];
        let sent = arguments(&tool, Some(&format!("{{\"a\":{large}}}")), &pairs).unwrap();
        assert_eq!(sent.text(), format!("{{\"a\":{large},\"b\":1.50}}"));
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
