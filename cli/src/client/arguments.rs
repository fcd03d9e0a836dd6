//! Arguments of a tool, with types from the tool's schema.

use std::collections::HashSet;

use mcp_adapters::mcp_wire::{self, RawJson, RawObject, from_str};
use mcp_runtime::hub::Tool;
use serde_json::{Map, Value};

use crate::args::{Argument, ArgumentValue};
use crate::error::CommandError;
use crate::suggest::tip;

/// Merges the arguments of the command line: one JSON object, and named arguments.
pub fn arguments(tool: &Tool, json: Option<&RawObject>, named: &[Argument]) -> Result<RawObject, CommandError> {
    let wrong = |error: mcp_wire::DecodeError| CommandError::Argument(error.to_string());
    // Numbers keep their spelling.
    let mut arguments: mcp_wire::Map<RawJson> = match json {
        Some(json) => json.decode_as().map_err(wrong)?,
        None => mcp_wire::Map::new(),
    };
    let schema: Value = tool.input_schema.parse().unwrap_or_default();
    check_distinct(named.iter().map(|argument| &argument.name))?;
    for Argument { name, value } in named {
        let property = property(&schema, name).map_err(CommandError::Argument)?;
        let value = match value {
            ArgumentValue::Json(json) => json.clone(),
            ArgumentValue::Typed(text) => {
                let kinds = kinds(&schema, property);
                typed(kinds.as_deref(), text).ok_or_else(|| {
                    let kinds = kinds.unwrap_or_default().join(" or ");
                    CommandError::Argument(format!("--arg {name} must be JSON of type {kinds}, not {text:?}"))
                })?
            }
        };
        arguments.insert(name.clone(), value);
    }
    let arguments = RawJson::from_encode(&arguments).map_err(|error| CommandError::Argument(error.to_string()))?;
    Ok(arguments.into())
}

/// Collects the arguments of a prompt or template by their names.
pub fn texts(pairs: &[(String, String)]) -> Result<mcp_wire::Map<String>, CommandError> {
    check_distinct(pairs.iter().map(|(name, _)| name))?;
    Ok(pairs.iter().cloned().collect())
}

fn check_distinct<'n>(names: impl Iterator<Item = &'n String>) -> Result<(), CommandError> {
    let mut known = HashSet::new();
    match names.into_iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(CommandError::Argument(format!("the argument {name:?} is given twice"))),
        None => Ok(()),
    }
}

/// The schema of an argument; an error if the tool's schema doesn't allow an argument of this name.
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

/// The types that a schema in a document allows, as far as they can be derived; `None` for any.
pub(super) fn kinds<'s>(root: &'s Value, schema: &'s Value) -> Option<Vec<&'s str>> {
    let (mut kinds, mut known, mut seen) = (Vec::new(), HashSet::new(), HashSet::new());
    let mut left = vec![schema];
    while let Some(schema) = left.pop() {
        // References can lead to a schema many times, also from within it.
        if !seen.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        if let Some(reference) = schema["$ref"].as_str() {
            left.push(root.pointer(reference.strip_prefix('#')?)?);
            continue;
        }
        let found = match (&schema["type"], &schema["enum"]) {
            (Value::String(only), _) => vec![only.as_str()],
            (Value::Array(names), _) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
            (_, Value::Array(values)) => values.iter().map(kind_of).collect(),
            _ => {
                let of = |keyword: &str| schema[keyword].as_array();
                left.extend(of("anyOf").or_else(|| of("oneOf"))?.iter().rev());
                continue;
            }
        };
        kinds.extend(found.into_iter().filter(|kind| known.insert(*kind)));
    }
    (!kinds.is_empty()).then_some(kinds)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Parses a value of one of these types. It is a string if no other type is allowed or fits the text.
fn typed(kinds: Option<&[&str]>, text: &str) -> Option<RawJson> {
    let allows = |kind: &str| kinds.is_none_or(|kinds| kinds.contains(&kind));
    let parsed = serde_json::from_str(text).ok().filter(|value| match value {
        Value::Number(number) => {
            allows("number") || (number.as_f64().is_some_and(|it| it.fract() == 0.0) && allows("integer"))
        }
        // Quotes are part of a text, unless any JSON is allowed.
        Value::String(_) => kinds.is_none(),
        value => allows(kind_of(value)),
    });
    let typed = parsed.and_then(|_| from_str(text.trim()).ok());
    typed.or_else(|| allows("string").then(|| Value::from(text).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::argument;
    use serde_json::json;

    #[test]
    fn each_of_many_alternatives_is_searched_for_types_once() {
        let alternatives = |next: usize| json!({"anyOf": vec![json!({"$ref": format!("#/$defs/{next}")}); 2_000]});
        let last = json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/0"}, {"enum": [1, "x"]}]});
        let root = json!({"$defs": {"0": alternatives(1), "1": alternatives(2), "2": alternatives(3), "3": last}});
        let found = kinds(&root, &root["$defs"]["0"]).unwrap();
        assert_eq!(found, ["string", "number"]);
        let cycle = json!({"$ref": "#"});
        assert_eq!(kinds(&cycle, &cycle), None);
    }

    #[test]
    fn values_get_a_type_that_the_schema_allows() {
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
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                "5",
                Some(json!("5")),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                "null",
                Some(Value::Null),
            ),
            (json!({"anyOf": [{"type": "string"}, {}]}), "5", Some(json!(5))),
            (
                json!({"oneOf": [{"$ref": "#/$defs/tags"}, {"type": "null"}]}),
                "[1]",
                Some(json!([1])),
            ),
            (json!({"$ref": "#/$defs/tags"}), "new", None),
            (json!({"$ref": "#/$defs/circle"}), "5", Some(json!(5))),
            (json!({"enum": ["1", "2"]}), "1", Some(json!("1"))),
            (json!({"enum": [1, "2"]}), "1", Some(json!(1))),
        ] {
            let root = json!({"$defs": {"tags": {"type": "array"}, "circle": {"$ref": "#/$defs/circle"}}});
            let value = typed(kinds(&root, &schema).as_deref(), text);
            assert_eq!(value, expected.map(RawJson::from), "{schema} {text}");
        }
    }

    #[test]
    fn numbers_are_sent_exactly_as_typed() {
        let large = "12345678901234567890123";
        let tool = Tool::new("add", from_str::<RawObject>("{}").unwrap());
        let object = from_str(&format!("{{\"a\":{large}}}")).unwrap();
        let named = ["b=1.50", "c:=[1.50]"].map(|text| argument(text).unwrap());
        let sent = arguments(&tool, Some(&object), &named).unwrap();
        assert_eq!(sent.text(), format!("{{\"a\":{large},\"b\":1.50,\"c\":[1.50]}}"));
    }

    #[test]
    fn an_argument_given_twice_is_refused() {
        let tool = Tool::new("add", from_str::<RawObject>("{}").unwrap());
        let named = ["b=1", "a=2", "b:=3"].map(|text| argument(text).unwrap());
        let refused = arguments(&tool, None, &named).unwrap_err().to_string();
        assert_eq!(refused, "the argument \"b\" is given twice");
        let pairs = ["a", "a"].map(|name| (name.to_owned(), String::new()));
        assert_eq!(
            texts(&pairs).unwrap_err().to_string(),
            "the argument \"a\" is given twice"
        );
        assert_eq!(texts(&pairs[1..]).unwrap().len(), 1);
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
