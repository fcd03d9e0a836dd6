//! Shortcuts for the most common calls, by the names of tools and prompts and the URIs of resources.

use mcp_adapters::handlers::CallServer as _;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::DecodeError;
use serde::Serialize;

use crate::error::CallError;
use crate::session::{ClientSession, object};

/// Shortcuts for the most common calls. [`Session::peer`](crate::Session::peer) has the rest: calls with all their
/// parameters, progress, and other methods.
impl ClientSession {
    /// Returns all tools of the server, reading page after page.
    ///
    /// # Errors
    /// When a call fails, or the pages don't end.
    pub async fn list_tools(&self) -> Result<Vec<hub::Tool>, CallError> {
        self.peer().list_all().await
    }

    /// Returns all prompts of the server.
    ///
    /// # Errors
    /// Those of [`Self::list_tools`].
    pub async fn list_prompts(&self) -> Result<Vec<hub::Prompt>, CallError> {
        self.peer().list_all().await
    }

    /// Returns all resources of the server.
    ///
    /// # Errors
    /// Those of [`Self::list_tools`].
    pub async fn list_resources(&self) -> Result<Vec<hub::Resource>, CallError> {
        self.peer().list_all().await
    }

    /// Returns all resource templates of the server.
    ///
    /// # Errors
    /// Those of [`Self::list_tools`].
    pub async fn list_resource_templates(&self) -> Result<Vec<hub::ResourceTemplate>, CallError> {
        self.peer().list_all().await
    }

    /// Calls a tool with arguments that serialize to an object, such as `json!({…})` or a type of your own; `()` means
    /// none.
    ///
    /// A tool that fails still returns a result, whose `is_error` is true.
    ///
    /// # Errors
    /// When the arguments aren't an object ([`CallError::InvalidParams`]), or the call fails.
    pub async fn call_tool(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> Result<hub::CallToolResult, CallError> {
        let mut params = hub::CallToolRequestParams::new(name);
        params.arguments = object(&arguments)?;
        self.peer().call_tool(params).await
    }

    /// Gets a prompt with arguments that serialize to an object of strings; `()` means none.
    ///
    /// # Errors
    /// When the arguments aren't such an object ([`CallError::InvalidParams`]), or the call fails.
    pub async fn get_prompt(
        &self,
        name: impl Into<String>,
        arguments: impl Serialize,
    ) -> Result<hub::GetPromptResult, CallError> {
        let mut params = hub::GetPromptRequestParams::new(name);
        let arguments = object(&arguments)?.map(|arguments| arguments.decode_as());
        let invalid = |error: DecodeError| CallError::InvalidParams(error.to_string());
        params.arguments = arguments.transpose().map_err(invalid)?;
        self.peer().get_prompt(params).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// When the call fails.
    pub async fn read_resource(&self, uri: impl Into<String>) -> Result<hub::ReadResourceResult, CallError> {
        self.peer()
            .read_resource(hub::ReadResourceRequestParams::new(uri))
            .await
    }
}
