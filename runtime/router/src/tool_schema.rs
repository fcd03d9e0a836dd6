//! The schemas of tools, which types derive or people write, and the arguments that they accept.

use std::sync::Arc;

use mcp_adapters::hub;
use mcp_wire::validator::Problem;
use mcp_wire::{RawJson, RawObject, Validator};
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

/// What arguments and structured content are called, and what to do when a type is not fit for them.
type Role = (&'static str, &'static str);

pub(super) const ARGUMENTS: Role = (
    "arguments",
    "take a struct that has a member for each argument, or no `Args` if there are none",
);
const CONTENT: Role = (
    "structured content",
    "give a struct, such as one whose only member holds the value",
);

/// The schema that a type derives, if it is one of objects.
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

/// What a function gives.
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

    /// The schema, if it is one of objects.
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

/// Arguments that a schema accepts, or why it doesn't.
pub(super) fn accepted(schema: &Validator, arguments: RawObject) -> Result<ToolArguments, String> {
    // Arguments that are no tree are invalid, which has to be known before somebody asks for it.
    if schema.accepts("#", arguments.text()) && !may_be_no_tree(arguments.text()) {
        return Ok(ToolArguments::new(arguments));
    }
    let tree = arguments.parse_value().map_err(|error| shortened(&error))?;
    match faults(schema, &tree) {
        faults if faults.is_empty() => Ok(ToolArguments::parsed(arguments, tree)),
        faults => Err(faults),
    }
}

/// Whether JSON may have what no tree holds: a number beyond a double, which has an exponent or more digits than any double, or half of a
/// surrogate pair, which is escaped.
fn may_be_no_tree(json: &str) -> bool {
    const DIGITS: usize = 308;
    let bytes = json.as_bytes();
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    // Without a branch, the compiler looks at many bytes with one instruction.
    let has_pair = pairs.fold(false, |any, (first, second)| {
        let is_exponent = first.is_ascii_digit() & second.eq_ignore_ascii_case(&b'e');
        any | is_exponent | ((*first == b'\\') & (*second == b'u'))
    });
    // So many digits fill one of these parts, wherever they begin.
    let mut parts = bytes.chunks_exact(DIGITS / 2);
    has_pair || parts.any(|part| part.iter().all(u8::is_ascii_digit))
}

fn listed(problems: &[Problem]) -> String {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    problems.join("; ")
}
