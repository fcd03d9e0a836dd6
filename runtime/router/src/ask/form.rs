//! Forms for the user to fill in.

use std::marker::PhantomData;

use mcp_adapters::hub;
use mcp_runtime_core::CallError;
use mcp_wire::{Map, Validator};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::extract::{FromCall, Signature};
use crate::faults::faults;
use crate::schema;
use crate::tool_error::ToolError;

/// The user's response to a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user has filled in the form.
    Accepted(T),
    /// The user has declined.
    Declined,
    /// The user has dismissed the form without a decision.
    Cancelled,
}

impl<T> Answer<T> {
    /// The value that the user has filled in, if the user has.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(value) => Some(value),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

impl<T: DeserializeOwned + JsonSchema> Answer<T> {
    pub(super) fn of(result: hub::ElicitResult) -> Result<Self, CallError> {
        match result.action {
            hub::ElicitResultAction::Accept => {
                let parsed = parse_form(result.content.unwrap_or_default());
                parsed.map(Self::Accepted).map_err(CallError::InvalidResult)
            }
            hub::ElicitResultAction::Decline => Ok(Self::Declined),
            hub::ElicitResultAction::Cancel => Ok(Self::Cancelled),
            other => {
                let what = format!("`{}` isn't a known action of an elicitation result", other.as_str());
                Err(CallError::InvalidResult(what))
            }
        }
    }
}

/// Decodes and validates the content of a form.
fn parse_form<T: DeserializeOwned + JsonSchema>(content: Map<hub::ElicitResultContentValue>) -> Result<T, String> {
    let value = serde_json::to_value(content).map_err(|error| error.to_string())?;
    let accepted = schema::input::<T>().accepted;
    let validator = Validator::new(&accepted).map_err(|error| error.to_string())?;
    match faults(&validator, &value) {
        faults if faults.is_empty() => T::deserialize(value).map_err(|error| error.to_string()),
        faults => Err(faults),
    }
}

/// An extractor for functions that ask the user to fill in a form, whose fields are the members of `T`, as
/// [`Call::elicit`] does. A `T` that no form can show is an error at registration.
///
/// ```
/// use mcp_runtime::router::{Form, RouteError};
/// use mcp_runtime::{CallError, Router};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Contact {
///     #[schemars(email)]
///     address: String,
/// }
///
/// async fn register(form: Form<Contact>) -> Result<String, CallError> {
///     let contact = form.ask("Where can we write to you?").await?.accepted();
///     Ok(contact.map_or_else(|| "not registered".to_owned(), |contact| contact.address))
/// }
///
/// let router = Router::new("contacts", "1.0").tool("register", "Registers the user", register);
/// ```
#[derive(Debug)]
pub struct Form<T> {
    call: Call,
    fields: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + JsonSchema> Form<T> {
    /// Asks the user; see [`Call::elicit`].
    ///
    /// # Errors
    /// Those of [`Call::elicit`].
    pub async fn ask(&self, message: impl Into<String>) -> Result<Answer<T>, CallError> {
        self.call.elicit(message).await
    }
}

impl<T: DeserializeOwned + JsonSchema + 'static> FromCall for Form<T> {
    fn declare(signature: &mut Signature) {
        signature.add_form::<T>();
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        let (call, fields) = (call.clone(), PhantomData);
        Ok(Self { call, fields })
    }
}
