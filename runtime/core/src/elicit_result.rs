//! Results of elicitations.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson};
use serde::Serialize;

use crate::error::internal_error;

/// Returns the result of an elicitation whose form was filled in. The members of `answer` are the fields: strings,
/// numbers, Booleans or lists of strings.
///
/// ```
/// use mcp_runtime::{ClientHandler, ClientSide, Context, ErrorObject, accepted, hub};
/// use serde_json::json;
///
/// struct Client;
///
/// impl ClientHandler<Context<ClientSide>> for Client {
///     async fn elicit(
///         &self,
///         _: hub::ElicitRequestParams,
///         _: &Context<ClientSide>,
///     ) -> Result<hub::ElicitResult, ErrorObject> {
///         accepted(&json!({"name": "Ada", "nights": 2}))
///     }
/// }
/// ```
///
/// # Errors
/// When `answer` has a member of another type, or isn't an object: an internal error, which a handler can return.
pub fn accepted<T: Serialize + ?Sized>(answer: &T) -> Result<hub::ElicitResult, ErrorObject> {
    let content = RawJson::from_serialize(answer).map_err(internal_error)?;
    let mut result = hub::ElicitResult::new(hub::ElicitResultAction::Accept);
    result.content = Some(content.decode_as().map_err(internal_error)?);
    Ok(result)
}

/// Returns the result of an elicitation that the user has declined.
#[must_use]
pub fn declined() -> hub::ElicitResult {
    hub::ElicitResult::new(hub::ElicitResultAction::Decline)
}

/// Returns the result of an elicitation that the user has closed without a choice.
#[must_use]
pub fn dismissed() -> hub::ElicitResult {
    hub::ElicitResult::new(hub::ElicitResultAction::Cancel)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn filled_in_accepts_only_objects_of_simple_values() {
        let answer = json!({"name": "Ada", "nights": 2, "breakfast": true, "meals": ["lunch"]});
        let result = accepted(&answer).unwrap();
        assert_eq!(json!(result), json!({"action": "accept", "content": answer}));
        for answer in [json!({"name": {"first": "Ada"}}), json!(["Ada"]), json!({"name": null})] {
            assert!(accepted(&answer).is_err(), "{answer}");
        }
    }
}
