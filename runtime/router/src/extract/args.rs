//! The arguments of a call.

use std::fmt::Display;

use mcp_runtime_core::internal::{internal_error, invalid_params};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::text::from_texts;
use super::{FromCall, Signature};
use crate::call::{Call, Input};
use crate::faults::shortened;
use crate::tool_error::ToolError;

/// The arguments of a tool or a prompt, the variables of a resource template, or the parameters of a custom method or a
/// notification. A function can take `Args` only once. A tool whose function takes none has no arguments.
///
/// - Of a tool: `T` derives the input schema, by which arguments are validated before they are decoded. Its values have
///   to be JSON objects. A member of the type `Option` is optional. Clients may also send `null` for it, but the schema
///   that they get doesn't declare that, because several clients don't support members with two types.
/// - Of a prompt: the members of `T` are its arguments, in the order of the members, unless the prompt lists arguments
///   itself. Their types are ones that can be read from text: strings, numbers, Booleans, characters, enums without
///   values, other types that serde deserializes from a string, and an `Option` or a newtype of such a type. In a
///   flattened struct and in an untagged enum, serde can only read strings.
/// - Of a resource template: the members are the variables, of the same types.
/// - Of a custom method or a notification: the members of `params`.
///
/// `T` may also be a map, such as `BTreeMap<String, String>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Args<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send + 'static> FromCall for Args<T> {
    const MAY_REQUEST_INPUT: bool = false;

    fn declare(signature: &mut Signature) {
        signature.add_args::<T>();
        signature.limit(
            "Args",
            &["tool", "prompt", "resource template", "custom method", "notification"],
        );
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        if let Some(Input::Tool(arguments)) = call.input()
            && let Ok(decoded) = serde_json::from_str(arguments.text())
        {
            return Ok(Self(decoded));
        }
        let arguments = call.arguments();
        let arguments = arguments.ok_or_else(|| ToolError::Protocol(internal_error("the request has no arguments")))?;
        let decoded = match call.input() {
            Some(Input::Prompt(_) | Input::Resource { .. }) => from_texts(arguments).map_err(|error| shortened(&error)),
            _ => decoded(arguments).map_err(|error| shortened(&error)),
        };
        decoded.map(Self).map_err(|what| match call.input() {
            Some(Input::Tool(_)) => invalid_tool_arguments(call, what),
            _ => ToolError::Protocol(invalid_params(format!("Invalid arguments: {what}"))),
        })
    }
}

/// Decodes arguments, and accepts `1.0` for an integer as JSON Schema does: many models write it, but serde accepts
/// only `1`.
fn decoded<T: DeserializeOwned>(arguments: &Value) -> serde_json::Result<T> {
    T::deserialize(arguments).or_else(|error| {
        let mut written = arguments.clone();
        write_integers(&mut written);
        T::deserialize(written).map_err(|_| error)
    })
}

/// Replaces floats without a fraction by integers, within the range in which a float is exact.
fn write_integers(value: &mut Value) {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let integer = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= EXACT);
            #[expect(clippy::cast_possible_truncation, reason = "it is an integer of 54 bits")]
            if let Some(integer) = integer.map(|it| it as i64) {
                *value = integer.into();
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(write_integers),
        Value::Object(members) => members.values_mut().for_each(write_integers),
        _ => {}
    }
}

/// The error of a tool whose arguments are invalid: a result or an error response, as the client's revision specifies.
pub(crate) fn invalid_tool_arguments(call: &Call, what: impl Display) -> ToolError {
    let what = format!("Invalid arguments: {what}");
    let revision = call.revision();
    match revision.is_some_and(|revision| revision.facts().input_errors_as_results) {
        true => ToolError::tool(what),
        false => ToolError::Protocol(invalid_params(what)),
    }
}
