//! Questions of functions to the client.

mod form;
mod form_schema;

use mcp_adapters::handlers::CallClient;
use mcp_adapters::hub;
use mcp_runtime_core::CallError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::call::Call;

pub use self::form::{Answer, Form};
pub(super) use self::form_schema::form_schema;

impl Call {
    /// Asks the user to fill in a form, whose fields are the members of `T`.
    ///
    /// Members are strings, numbers and Booleans, enums of strings to choose one of (titles and descriptions of variants are what the
    /// user sees), lists of such enums to choose several of, and `Option`s of these. Titles, descriptions, defaults, formats and
    /// bounds are shown as the client's revision can: an earlier one shows no default, for example. What no form can show, such
    /// as a pattern, the answer is validated by all the same. Fields are in the order of the members, or
    /// of their names if `T` flattens another type.
    ///
    /// This asks as [`CallClient`] does: the answer comes by a request to the client, or with the repeated request of the client, for
    /// which the function runs again. [`Form`] is an extractor that checks `T` at registration.
    /// [`Peer::elicit`](CallClient::elicit) takes a form made by hand.
    ///
    /// ```
    /// use mcp_runtime::router::{Answer, Call};
    /// use mcp_runtime::{Args, CallError, Router};
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct File {
    ///     path: String,
    /// }
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Deletion {
    ///     /// Whether a copy is kept.
    ///     #[serde(default)]
    ///     keeps_copy: bool,
    /// }
    ///
    /// async fn delete(Args(file): Args<File>, call: Call) -> Result<String, CallError> {
    ///     match call.elicit(format!("Delete {}?", file.path)).await? {
    ///         Answer::Accepted(Deletion { keeps_copy: true }) => Ok("a copy is kept".to_owned()),
    ///         Answer::Accepted(_) => Ok("it is deleted".to_owned()),
    ///         Answer::Declined | Answer::Cancelled => Ok("nothing is deleted".to_owned()),
    ///     }
    /// }
    ///
    /// let router = Router::new("files", "1.0").tool("delete", "Deletes a file", delete);
    /// ```
    ///
    /// # Errors
    /// [`CallError::Unrepresentable`] when no form can show `T`, or none of the client's revision; [`CallError::InvalidResult`] when
    /// the answer isn't a `T`; and those of other calls.
    pub async fn elicit<T: DeserializeOwned + JsonSchema>(
        &self,
        message: impl Into<String>,
    ) -> Result<Answer<T>, CallError> {
        let form = form_schema::<T>().map_err(CallError::Unrepresentable)?;
        let params = hub::ElicitRequestFormParams::new(message, form);
        Answer::of(self.peer().elicit(params.into()).await?)
    }

    /// Asks the user to open a web page, such as one for a payment: whether the user agrees. What is done there, the page says to the
    /// server.
    ///
    /// ```
    /// use mcp_runtime::router::Call;
    /// use mcp_runtime::{CallError, Router};
    ///
    /// async fn pay(call: Call) -> Result<&'static str, CallError> {
    ///     match call.elicit_url("Pay for the ticket", "https://example.org/pay/1").await? {
    ///         true => Ok("the page is open"),
    ///         false => Ok("nothing is paid"),
    ///     }
    /// }
    ///
    /// let router = Router::new("tickets", "1.0").tool("pay", "Pays for a ticket", pay);
    /// ```
    ///
    /// # Errors
    /// Those of other calls, such as when the client can't open pages.
    pub async fn elicit_url(&self, message: impl Into<String>, url: impl Into<String>) -> Result<bool, CallError> {
        let params = hub::ElicitRequestUrlParams::new(message, url);
        let result = self.peer().elicit(params.into()).await?;
        Ok(result.action == hub::ElicitResultAction::Accept)
    }

    /// The directories and files that the client lets the server work in.
    ///
    /// # Errors
    /// Those of other calls, such as when the client has no roots.
    pub async fn roots(&self) -> Result<Vec<hub::Root>, CallError> {
        Ok(self.peer().list_roots(None).await?.roots)
    }

    /// Asks the client's model, and gives its answer if that is a text.
    /// [`Peer::create_message`](CallClient::create_message) takes more than one text, and gives whatever the model answers.
    ///
    /// # Errors
    /// [`CallError::InvalidResult`] when the answer isn't a text, and those of other calls.
    pub async fn sample(&self, prompt: impl Into<String>, max_tokens: i64) -> Result<String, CallError> {
        let message = hub::SamplingMessage::new(hub::Role::User, hub::TextContent::new(prompt));
        let params = hub::CreateMessageRequestParams::new(max_tokens, vec![message]);
        match self.peer().create_message(params).await?.content {
            hub::SamplingContent::Text(answer) => Ok(answer.text),
            _ => Err(CallError::InvalidResult("the model's answer isn't a text".to_owned())),
        }
    }

    /// The same call, whose next questions have this name, by which their answers are found when the function runs again; see
    /// [`Peer::named`](mcp_runtime_core::Peer::named).
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        self.with_context(self.context().named(name))
    }
}
