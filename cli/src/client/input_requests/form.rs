//! Forms that the user fills in line by line, with types from the schema of the server.

use std::io::{self, BufRead, Write};

use mcp_adapters::mcp_wire::Validator;
use mcp_adapters::mcp_wire::json_schema::ViolationKind;
use mcp_runtime::hub::RequestedSchema;
use serde_json::{Map, Value};

use crate::plain::plain;
use crate::text::one_line;

/// The user's decision about a form.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Accept(Option<Map<String, Value>>),
    Decline,
    Cancel,
}

/// The result of parsing a line for a field.
enum Typed {
    Value(Value),
    /// The field is left out.
    Nothing,
    Wrong(String),
}

/// Asks for the value of each property of a schema.
pub fn fill_in(schema: &RequestedSchema, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Answer> {
    writeln!(
        output,
        "Enter takes the default or leaves a field out. !decline declines, and !cancel or the end of input cancels."
    )?;
    let mut content = Map::new();
    for (name, field) in schema.properties.iter() {
        let field = serde_json::to_value(field)?;
        let is_required = schema.required.iter().flatten().any(|required| required == name);
        describe(name, &field, is_required, output)?;
        loop {
            let line = match read_line("  > ", input, output)?.as_deref() {
                None | Some("!cancel") => return Ok(Answer::Cancel),
                Some("!decline") => return Ok(Answer::Decline),
                Some(line) => line.to_owned(),
            };
            match typed(&field, line.trim(), is_required) {
                Typed::Value(value) => {
                    content.insert(name.to_owned(), value);
                    break;
                }
                Typed::Nothing => break,
                Typed::Wrong(reason) => writeln!(output, "  {reason}")?,
            }
        }
    }
    if content.is_empty() {
        // Nothing was typed that could count as consent.
        return Ok(match read_line("Send it? [y/n] ", input, output)?.as_deref() {
            Some("y" | "yes") => Answer::Accept(Some(content)),
            Some(_) => Answer::Decline,
            None => Answer::Cancel,
        });
    }
    Ok(Answer::Accept(Some(content)))
}

/// Reads a line without its end; `None` at the end of the input.
pub fn read_line(prompt: &str, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<Option<String>> {
    write!(output, "{prompt}")?;
    output.flush()?;
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim_end_matches(['\n', '\r']).to_owned()))
}

fn describe(name: &str, field: &Value, is_required: bool, output: &mut impl Write) -> io::Result<()> {
    let text = |member: &str| field[member].as_str().map(one_line);
    let title = text("title").unwrap_or_else(|| one_line(name));
    let kind = match field["type"].as_str() {
        Some("array") => "any of these, separated by commas",
        _ if !choices(field).is_empty() => "one of these",
        Some("boolean") => "yes or no",
        Some("integer") => "a whole number",
        Some("number") => "a number",
        _ => "text",
    };
    let required = if is_required { ", required" } else { "" };
    let default = field.get("default").map_or_else(String::new, |default| {
        format!(", default {}", plain(&default.to_string()))
    });
    let about = text("description").map_or_else(String::new, |about| format!(": {about}"));
    writeln!(output, "{title} ({kind}{required}{default}){about}")?;
    for (number, (value, title)) in choices(field).iter().enumerate() {
        let title = title
            .as_deref()
            .map_or_else(String::new, |title| format!(": {}", one_line(title)));
        writeln!(output, "  {}. {}{title}", number + 1, one_line(value))?;
    }
    Ok(())
}

/// The values to choose from, with their titles.
fn choices(field: &Value) -> Vec<(String, Option<String>)> {
    let field = if field["type"] == "array" {
        &field["items"]
    } else {
        field
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(options) = field["oneOf"].as_array().or_else(|| field["anyOf"].as_array()) {
        let options = options.iter();
        return options
            .filter_map(|it| Some((text(&it["const"])?, text(&it["title"]))))
            .collect();
    }
    let values = field["enum"].as_array().into_iter().flatten().filter_map(text);
    values
        .enumerate()
        .map(|(index, value)| (value, text(&field["enumNames"][index])))
        .collect()
}

/// Parses what the user has typed for a field.
fn typed(field: &Value, line: &str, is_required: bool) -> Typed {
    let value = match (line, field.get("default")) {
        ("", Some(default)) => default.clone(),
        ("", None) if is_required => return Typed::Wrong("it is required".to_owned()),
        ("", None) => return Typed::Nothing,
        (line, _) => match field["type"].as_str() {
            Some("array") => line.split(',').map(|one| chosen(field, one.trim())).collect(),
            Some("boolean") => match line {
                "y" | "yes" | "true" => Value::Bool(true),
                "n" | "no" | "false" => Value::Bool(false),
                _ => return Typed::Wrong("yes or no, please".to_owned()),
            },
            Some("integer" | "number") => match serde_json::from_str::<serde_json::Number>(line) {
                Ok(number) => Value::Number(number),
                Err(_) => return Typed::Wrong("a number, please".to_owned()),
            },
            _ => chosen(field, line),
        },
    };
    // The server validates the value too, and may be able to check more than this program.
    let violations = Validator::new(field).map(|validator| validator.validate("#", &value));
    let mut violations = violations.into_iter().flatten();
    match violations.find(|it| it.kind == ViolationKind::Refused) {
        Some(_) if !choices(field).is_empty() => Typed::Wrong("choose among the values above, please".to_owned()),
        Some(violation) => Typed::Wrong(format!("expected {}", violation.expected)),
        None => Typed::Value(value),
    }
}

/// Resolves a choice that was typed by its number or as its value.
fn chosen(field: &Value, typed: &str) -> Value {
    let choices = choices(field);
    if choices.iter().any(|(value, _)| value == typed) {
        return Value::from(typed);
    }
    let numbered = typed
        .parse::<usize>()
        .ok()
        .and_then(|number| choices.get(number.checked_sub(1)?));
    Value::from(numbered.map_or(typed, |(value, _)| value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fill(schema: &str, lines: &str) -> (Answer, String) {
        let mut output = Vec::new();
        let schema = mcp_adapters::mcp_wire::from_str(schema).expect("it is a form");
        let answer = fill_in(&schema, &mut lines.as_bytes(), &mut output).expect("memory can be read and written");
        (answer, String::from_utf8(output).expect("text"))
    }

    fn accepted(content: Value) -> Answer {
        Answer::Accept(content.as_object().cloned())
    }

    #[test]
    fn each_field_is_parsed_as_its_type() {
        let schema = r#"{
            "type": "object",
            "properties": {
                "weight": {"type": "number"},
                "age": {"type": "integer", "minimum": 18},
                "color": {"type": "string", "enum": ["red", "blue"], "enumNames": ["Red", "Blue"]},
                "name": {"type": "string", "title": "Your name", "default": "Ann"},
                "on": {"type": "boolean"},
                "sizes": {"type": "array", "items": {"anyOf": [
                    {"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}
                ]}}
            },
            "required": ["age", "color"]
        }"#;
        let (answer, shown) = fill(schema, "\n\nold\n1.5\n17\n18\n2\n\nyes\ns, 2\n");
        let content = json!({"age": 18, "color": "blue", "name": "Ann", "on": true, "sizes": ["s", "l"]});
        assert_eq!(answer, accepted(content));
        for line in [
            "it is required",
            "a number, please",
            "1. red: Red",
            "Your name (text, default \"Ann\")",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
    }

    #[test]
    fn the_user_can_decline_and_cancel() {
        let schema = r#"{"type": "object", "properties": {"name": {"type": "string"}}}"#;
        assert_eq!(fill(schema, "!decline\n").0, Answer::Decline);
        assert_eq!(fill(schema, "!cancel\n").0, Answer::Cancel);
        assert_eq!(fill(schema, "").0, Answer::Cancel);
    }

    #[test]
    fn an_empty_form_is_sent_only_after_confirmation() {
        let schema = r#"{"type": "object", "properties": {}}"#;
        assert_eq!(fill(schema, "y\n").0, accepted(json!({})));
        assert_eq!(fill(schema, "n\n").0, Answer::Decline);
        assert_eq!(fill(schema, "").0, Answer::Cancel);
    }

    #[test]
    fn a_value_out_of_bounds_is_asked_for_again() {
        let schema = r#"{"type": "object", "properties": {"code": {"type": "string", "maxLength": 2}}}"#;
        let (answer, shown) = fill(schema, "abc\nab\n");
        assert_eq!(answer, accepted(json!({"code": "ab"})));
        assert!(shown.contains("expected"), "{shown}");
    }
}
