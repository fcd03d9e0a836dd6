//! The schemas of tools, which are derived from types or written by hand, and the arguments that they accept.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_wire::json_schema::Problem;
use mcp_wire::{Map, RawJson, RawObject, Validator, is_valid};
use memchr::{memchr, memchr2};
use serde_json::{Value, json};

use super::call::ToolArguments;
use super::error::RouteError;
use super::faults::{faults, shortened};
use super::function::Function;
use super::schema;

pub(super) const KIND: &str = "tool";

/// The input schema of a tool without arguments.
pub(super) fn no_arguments() -> Value {
    json!({"type": "object", "properties": {}})
}

/// The name of a role, for messages, and the advice if a type doesn't fit it.
type Role = (&'static str, &'static str);

pub(super) const ARGUMENTS: Role = (
    "arguments",
    "take a struct that has a member for each argument, or no `Args` if there are none",
);
const CONTENT: Role = (
    "structured content",
    "give a struct, such as one whose only member holds the value",
);

/// The schema that a type derives, if all of its values are objects.
pub(super) fn object_root(
    tool: &str,
    (role, help): Role,
    type_name: &'static str,
    schema: Value,
) -> Result<Value, RouteError> {
    schema::object_root(schema).map_err(|schema| RouteError::NoObject {
        kind: KIND,
        key: tool.to_owned(),
        role,
        type_name,
        schema: schema.to_string(),
        help,
    })
}

/// The return type of a function.
pub(super) struct Output {
    type_name: &'static str,
    /// The schema of its structured content.
    schema: Option<Value>,
}

impl Output {
    pub(super) fn of<M, H: Function<hub::AnyCallToolResult, M>>() -> Self {
        Self {
            type_name: H::output_type(),
            schema: H::output_schema(),
        }
    }

    /// The schema, if all of its values are objects.
    pub(super) fn object_root(self, tool: &str) -> Result<Option<Value>, RouteError> {
        let Self { type_name, schema } = self;
        schema
            .map(|schema| object_root(tool, CONTENT, type_name, schema))
            .transpose()
    }
}

pub(super) fn validator(tool: &str, role: &'static str, schema: &RawObject) -> Result<Arc<Validator>, RouteError> {
    let schema = RawJson::from(schema.clone()).parse_value();
    let validator = schema
        .map_err(|error| error.to_string())
        .and_then(|schema| Validator::new(&schema).map_err(|error| listed(error.problems())));
    validator.map(Arc::new).map_err(|what| RouteError::Schema {
        tool: tool.to_owned(),
        role,
        what,
    })
}

/// Checks that a schema accepts arguments. The error describes why it doesn't.
pub(super) fn accepted(schema: &Validator, arguments: RawObject) -> Result<ToolArguments, String> {
    // Arguments that can't be parsed into a tree are invalid. That has to be found out here, before the tree is
    // requested.
    if is_valid(arguments.text(), "#", schema) && !may_be_no_tree(arguments.text()) {
        return Ok(ToolArguments::new(arguments));
    }
    let tree = parsed(&arguments).map_err(|error| shortened(&error))?;
    match faults(schema, &tree) {
        faults if faults.is_empty() => Ok(ToolArguments::parsed(arguments, tree)),
        faults => Err(faults),
    }
}

/// Parses arguments as a tree. The error names the argument.
fn parsed(arguments: &RawObject) -> Result<Value, String> {
    arguments.parse_value().map_err(|error| {
        let members = match arguments.decode_as::<Map<RawJson>>() {
            Ok(members) => members,
            Err(error) => return error.to_string(),
        };
        let mut faults = members
            .iter()
            .filter_map(|(name, value)| Some(format!("`{name}`: {}", value.parse_value().err()?)));
        faults.next().unwrap_or_else(|| error.to_string())
    })
}

/// Whether valid JSON may have a value that can't be parsed into a tree: a number beyond the range of a double, which
/// has an exponent or more digits than any double, or an escaped half of a surrogate pair.
fn may_be_no_tree(json: &str) -> bool {
    let mut rest = json.as_bytes();
    while let Some(start) = memchr(b'"', rest) {
        let (before, string) = rest.split_at(start);
        if may_have_large_number(before) {
            return true;
        }
        rest = &string[1..];
        // Long texts are most of the long arguments, and memchr searches many bytes at a time.
        while let Some(at) = memchr2(b'"', b'\\', rest) {
            let (is_end, after) = (rest[at] == b'"', &rest[at + 1..]);
            match after.split_first() {
                _ if is_end => {
                    rest = after;
                    break;
                }
                Some((escaped, after)) if *escaped != b'u' => rest = after,
                _ => return true,
            }
        }
    }
    may_have_large_number(rest)
}

/// Whether the JSON between two strings may have a number beyond the range of a double.
fn may_have_large_number(json: &[u8]) -> bool {
    const DIGITS: usize = 308;
    let has_exponent = json
        .windows(2)
        .any(|pair| pair[0].is_ascii_digit() && pair[1].eq_ignore_ascii_case(&b'e'));
    let mut numbers = json.split(|byte| !byte.is_ascii_digit());
    has_exponent || numbers.any(|digits| digits.len() > DIGITS)
}

fn listed(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_arguments_that_cannot_be_parsed_names_the_argument() {
        let schema = Validator::new(&json!({"type": "object"})).unwrap();
        for (arguments, reason) in [
            (r#"{"a":1,"b":[1e999]}"#, "`b`: number out of range"),
            (r#"{"a":"\ud800"}"#, "`a`: "),
            (r#"{"a":{"b":1,"b":2}}"#, "`a`: "),
            (r#"{"a":1,"a":2}"#, "`a`: "),
        ] {
            let arguments = mcp_wire::from_str(arguments).unwrap();
            let error = accepted(&schema, arguments).err().unwrap();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
