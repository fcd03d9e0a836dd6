//! The placeholders in the replacements of rules.

use mcp_wire::OpenJson;
use mcp_wire::serde::de::Error as _;
use mcp_wire::serde_json::{self, Value};

/// Fills the placeholders of a rule's JSON with members of a value.
///
/// A text that is only a placeholder becomes the member's value, or is left out if there is none. Placeholders within a text
/// become text, and a line whose placeholder has no value is left out. `{}` is the whole value as JSON text, and
/// `{list[].name}` a member of each element.
pub(crate) fn fill_template(template: &str, value: &str) -> Result<Value, serde_json::Error> {
    let template: Value = serde_json::from_str(template)?;
    let value = mcp_wire::from_str::<OpenJson>(value)
        .map_err(serde_json::Error::custom)?
        .parse()?;
    Ok(fill(&template, &value).unwrap_or(Value::Null))
}

fn fill(template: &Value, value: &Value) -> Option<Value> {
    Some(match template {
        Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some("") => Value::String(value.to_string()),
            Some(path) if !path.contains(['{', '}']) => select(value, path)?,
            _ => Value::String(
                text.lines()
                    .filter_map(|line| fill_line(line, value))
                    .collect::<Vec<_>>()
                    .join("\n"),
            ),
        },
        Value::Array(elements) => elements.iter().filter_map(|element| fill(element, value)).collect(),
        Value::Object(members) => {
            let filled = members
                .iter()
                .filter_map(|(member, inner)| Some((member.clone(), fill(inner, value)?)));
            Value::Object(filled.collect())
        }
        other => other.clone(),
    })
}

fn fill_line(line: &str, value: &Value) -> Option<String> {
    let mut filled = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let (path, after) = after.split_once('}')?;
        filled.push_str(before);
        match select(value, path)? {
            Value::String(text) => filled.push_str(&text),
            other => filled.push_str(&other.to_string()),
        }
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn select(value: &Value, path: &str) -> Option<Value> {
    if path.is_empty() {
        return Some(value.clone());
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match first.strip_suffix("[]") {
        Some(list) => {
            let elements = value.get(list)?.as_array()?.iter();
            Some(elements.filter_map(|element| select(element, rest)).collect())
        }
        None => select(value.get(first)?, rest),
    }
}
