//! Arguments of tools, and JSON that may be in a file.

use mcp_adapters::mcp_wire::{Decode, RawJson, from_str};
use serde::de::IgnoredAny;

use super::server::pair;
use crate::input_file::read_text;

/// An argument of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    pub name: String,
    pub value: ArgumentValue,
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue {
    /// Text whose JSON type depends on the tool's schema.
    Typed(String),
    Json(RawJson),
}

/// Parses NAME=VALUE, or NAME:=JSON.
pub fn argument(text: &str) -> Result<Argument, String> {
    let (name, value) = pair(text)?;
    Ok(match name.strip_suffix(':') {
        Some(name) => Argument {
            name: name.to_owned(),
            value: ArgumentValue::Json(json(&value)?),
        },
        None => Argument {
            name,
            value: ArgumentValue::Typed(value),
        },
    })
}

/// Parses JSON, or the JSON in the file named after `@`.
pub fn json<T: Decode>(text: &str) -> Result<T, String> {
    let Some(file) = text.strip_prefix('@') else {
        return parsed(text);
    };
    let content = read_text(file).map_err(|error| format!("{file}: {error}"))?;
    parsed(&content).map_err(|error| format!("{file}: {error}"))
}

fn parsed<T: Decode>(text: &str) -> Result<T, String> {
    from_str(text).map_err(|error| match serde_json::from_str::<IgnoredAny>(text) {
        // This error has the line and the column.
        Err(syntax) => format!("not JSON: {syntax}"),
        Ok(_) => error.to_string(),
    })
}
