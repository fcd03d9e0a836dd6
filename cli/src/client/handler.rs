//! The client's responses to requests and notifications of a server.

use mcp_adapters::mcp_wire::{ErrorObject, from_str};
use mcp_runtime::hub::{
    self, ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    LoggingMessageNotificationParams,
};
use mcp_runtime::{Capable, ClientHandler, ClientSide, Context};

use super::input_requests::Respondent;
use crate::args::ClientArgs;
use crate::error::CommandError;
use crate::plain::plain;
use crate::text::{one_line, say};

/// A client that responds as the arguments specify, or asks the user on the terminal.
pub struct Client {
    respondent: Respondent,
    roots: Vec<hub::Root>,
}

impl Client {
    pub fn new(args: &ClientArgs) -> Result<Self, CommandError> {
        let respondent = match &args.answers {
            Some(file) => Respondent::from_file(file)?,
            None => Respondent::terminal(),
        };
        let roots = args.roots.iter().map(hub::Root::new).collect();
        Ok(Self { respondent, roots })
    }

    /// A client with the capabilities of all others that declines every request.
    pub fn declining() -> Self {
        Self {
            respondent: Respondent::Nobody,
            roots: Vec::new(),
        }
    }
}

impl Capable for Client {
    fn capabilities(&self) -> ClientCapabilities {
        let declared = |json: &str| from_str(json).unwrap_or_default();
        match self.roots.is_empty() {
            true => declared(r#"{"elicitation":{"form":{},"url":{}},"sampling":{}}"#),
            false => declared(r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#),
        }
    }
}

impl ClientHandler<Context<ClientSide>> for Client {
    async fn elicit(&self, params: ElicitRequestParams, _: &Context<ClientSide>) -> Result<ElicitResult, ErrorObject> {
        self.respondent.elicit(params).await
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<CreateMessageResult, ErrorObject> {
        self.respondent.create_message(params).await
    }

    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        Ok(hub::ListRootsResult::new(self.roots.clone()))
    }

    async fn on_logging_message(&self, params: LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        let logger = params
            .logger
            .map_or_else(String::new, |logger| format!(" {}", one_line(&logger)));
        let data = params.data.parse::<String>();
        let data = data.unwrap_or_else(|_| params.data.text().to_owned());
        say(&format!("[{}{logger}] {}", params.level, plain(&data)));
    }
}
