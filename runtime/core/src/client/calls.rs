//! The calls that most clients make, by the names of tools, prompts and resources.

use mcp_adapters::handlers::CallServer as _;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::DecodeError;
use serde::Serialize;

use crate::error::CallError;
use crate::session::{ClientSession, object};

/// [`Session::peer`](crate::Session::peer) has what is missing here: calls with all their parameters, progress, and other methods.
impl ClientSession {
    /// All tools of the server, whose pages are read one after the other.
    ///
    /// # Errors
    /// When there is no result, or the pages don't end.
    pub async fn list_tools(&self) -> Result<Vec<hub::Tool>, CallError> {
        self.peer().list_all().await
    }

    /// All prompts of the server.
    ///
    /// # Errors
    /// As of [`Self::list_tools`].
    pub async fn list_prompts(&self) -> Result<Vec<hub::Prompt>, CallError> {
        self.peer().list_all().await
    }

    /// All resources of the server.
    ///
    /// # Errors
    /// As of [`Self::list_tools`].
    pub async fn list_resources(&self) -> Result<Vec<hub::Resource>, CallError> {
        self.peer().list_all().await
    }

    /// All templates of the server's resources.
    ///
    /// # Errors
    /// As of [`Self::list_tools`].
    pub async fn list_resource_templates(&self) -> Result<Vec<hub::ResourceTemplate>, CallError> {
        self.peer().list_all().await
    }

    /// Calls a tool with arguments that serialize to an object: `json!({…})`, or a type of yours; `()` is none.
    ///
    /// A tool that fails gives a result too: its `is_error` is true.
    ///
    /// # Errors
    /// When the arguments aren't an object ([`CallError::Unrepresentable`]), or there is no result.
    pub async fn call_tool(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> Result<hub::CallToolResult, CallError> {
        let mut params = hub::CallToolRequestParams::new(name);
        params.arguments = object(&arguments)?;
        self.peer().call_tool(params).await
    }

    /// Gets a prompt with arguments that serialize to an object of texts; `()` is none.
    ///
    /// # Errors
    /// When the arguments aren't such an object ([`CallError::Unrepresentable`]), or there is no result.
    pub async fn get_prompt(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> Result<hub::GetPromptResult, CallError> {
        let mut params = hub::GetPromptRequestParams::new(name);
        let arguments = object(&arguments)?.map(|arguments| arguments.decode_as());
        let unrepresentable = |error: DecodeError| CallError::Unrepresentable(error.to_string());
        params.arguments = arguments.transpose().map_err(unrepresentable)?;
        self.peer().get_prompt(params).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// When there is no result.
    pub async fn read_resource(&self, uri: impl Into<String>) -> Result<hub::ReadResourceResult, CallError> {
        self.peer()
            .read_resource(hub::ReadResourceRequestParams::new(uri))
            .await
    }
}
