//! Requests for input from the client: elicitation, sampling and roots.

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
    /// Members are strings, numbers, Booleans, enums of strings (the user chooses one value, and sees the titles or
    /// descriptions of the variants), lists of such enums (the user chooses several values), and `Option`s of these.
    /// Titles, descriptions, defaults, formats and bounds are shown as far as the client's revision supports them:
    /// early revisions show no defaults, for example. The answer is also validated by keywords that no form can show,
    /// such as a pattern. Fields are in the order of the members, or in alphabetical order if `T` flattens another
    /// type.
    ///
    /// The answer reaches the function as for all methods of [`CallClient`]: as the response to a request to the
    /// client, or, for a stateless client, with the client's repeated request, for which the function runs again.
    /// [`Form`] is an extractor that checks `T` at registration. [`Peer::elicit`](CallClient::elicit) takes a form made
    /// by hand.
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
    /// [`CallError::InvalidParams`] when no form can show `T`, [`CallError::Unrepresentable`] when none of the client's
    /// revision can; [`CallError::InvalidResult`] when the answer isn't a `T`; and those of other calls.
    pub async fn elicit<T: DeserializeOwned + JsonSchema>(
        &self,
        message: impl Into<String>,
    ) -> Result<Answer<T>, CallError> {
        let form = form_schema::<T>().map_err(CallError::InvalidParams)?;
        let params = hub::ElicitRequestFormParams::new(message, form);
        Answer::of(self.peer().elicit(params.into()).await?)
    }

    /// Asks the user to open a web page, such as one for a payment, and returns whether the user agrees. The page
    /// itself has to report to the server what the user does there.
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

    /// Sends a prompt to the client's model (sampling), and returns the answer, which has to be text.
    /// [`Peer::create_message`](CallClient::create_message) takes several messages, and returns answers of any kind.
    ///
    /// # Errors
    /// [`CallError::InvalidResult`] when the answer isn't a text, and those of other calls.
    pub async fn sample(&self, prompt: impl Into<String>, max_tokens: i64) -> Result<String, CallError> {
        let message = hub::SamplingMessage::new(hub::Role::User, hub::TextContent::new(prompt));
        let params = hub::CreateMessageRequestParams::new(max_tokens, vec![message]);
        let answer = match self.peer().create_message(params).await?.content {
            hub::SamplingContent::Text(answer) => Some(answer.text),
            // Clients may send a single block as an array.
            hub::SamplingContent::List(blocks) => match <[_; 1]>::try_from(blocks) {
                Ok([hub::SamplingMessageContentBlock::Text(answer)]) => Some(answer.text),
                _ => None,
            },
            _ => None,
        };
        answer.ok_or_else(|| CallError::InvalidResult("the model's answer isn't a text".to_owned()))
    }

    /// The same call, whose next requests for input have this name. When the function runs again, it finds the answers
    /// by this name; see [`Peer::named`](mcp_runtime_core::Peer::named).
    #[must_use]
    pub fn named(&self, name: impl Into<String>) -> Self {
        self.with_context(self.context().named(name))
    }
}
