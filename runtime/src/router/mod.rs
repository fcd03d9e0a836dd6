//! What servers do daily: tools from typed functions, resources, prompts.

mod page;
mod tool;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, error_code};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;

use self::page::page;
use self::tool::{ToolEntry, tool_entry};
use crate::context::Context;
use crate::options::Options;
use crate::session::{ServerSession, serve};
use crate::side::ServerSide;
use crate::transport::Transport;

pub use self::tool::{IntoToolResult, Structured};

/// What a handler of the router gets and gives, on the heap.
type Function<A, T> =
    Arc<dyn Fn(A, Context<ServerSide>) -> crate::session::Boxed<'static, Result<T, ErrorObject>> + Send + Sync>;

type ReadResource = Function<String, Vec<hub::AnyResourceContents>>;
type FillPrompt = Function<BTreeMap<String, String>, hub::GetPromptResult>;

/// How many items a page of a list has.
const PAGE: usize = 100;

/// A server made of tools, resources and prompts.
///
/// ```
/// use mcp_runtime::Router;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Place {
///     /// A city, such as Bern.
///     city: String,
/// }
///
/// let router = Router::new("weather", "1.0").tool("weather", "Tells the weather", |place: Place, _| async move {
///     format!("In {}, the sun shines", place.city)
/// });
/// ```
#[derive(Clone)]
pub struct Router {
    info: hub::Implementation,
    instructions: Option<String>,
    tools: BTreeMap<String, Arc<ToolEntry>>,
    resources: BTreeMap<String, (hub::Resource, ReadResource)>,
    prompts: BTreeMap<String, (hub::Prompt, FillPrompt)>,
}

impl Router {
    /// A server that does nothing yet.
    #[must_use]
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: hub::Implementation::new(name, version),
            instructions: None,
            tools: BTreeMap::new(),
            resources: BTreeMap::new(),
            prompts: BTreeMap::new(),
        }
    }

    /// How the server wants to be used.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// A tool from a function. Its input schema is that of `A`, and arguments are checked by it before they are decoded.
    ///
    /// # Panics
    /// When the schema that `A` derives can't be judged by, which a first run shows.
    #[must_use]
    pub fn tool<A, R, F>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A, Context<ServerSide>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = R> + Send + 'static,
    {
        let name = name.into();
        let entry = tool_entry(&name, description.into(), function);
        self.tools.insert(name, Arc::new(entry));
        self
    }

    /// A resource, and what reads it.
    #[must_use]
    pub fn resource<F>(
        mut self,
        resource: hub::Resource,
        read: impl Fn(String, Context<ServerSide>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Vec<hub::AnyResourceContents>, ErrorObject>> + Send + 'static,
    {
        let read: ReadResource = Arc::new(move |uri, context| Box::pin(read(uri, context)));
        self.resources.insert(resource.uri.clone(), (resource, read));
        self
    }

    /// A prompt, and what fills it in.
    #[must_use]
    pub fn prompt<F>(
        mut self,
        prompt: hub::Prompt,
        fill: impl Fn(BTreeMap<String, String>, Context<ServerSide>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<hub::GetPromptResult, ErrorObject>> + Send + 'static,
    {
        let fill: FillPrompt = Arc::new(move |arguments, context| Box::pin(fill(arguments, context)));
        self.prompts.insert(prompt.name.clone(), (prompt, fill));
        self
    }

    /// What the server offers: what it has any of.
    #[must_use]
    pub fn capabilities(&self) -> hub::ServerCapabilities {
        let mut capabilities = hub::ServerCapabilities::default();
        if !self.tools.is_empty() {
            capabilities.tools = Some(hub::ServerCapabilitiesTools::default());
        }
        if !self.resources.is_empty() {
            capabilities.resources = Some(hub::ServerCapabilitiesResources::default());
        }
        if !self.prompts.is_empty() {
            capabilities.prompts = Some(hub::ServerCapabilitiesPrompts::default());
        }
        capabilities
    }

    /// Serves a client.
    pub fn serve(self, options: Options, transport: impl Transport) -> ServerSession {
        let capabilities = self.capabilities();
        let (info, instructions) = (self.info.clone(), self.instructions.clone());
        serve(self, info, capabilities, instructions, options, transport)
    }
}

impl ServerHandler<Context<ServerSide>> for Router {
    async fn list_tools(
        &self,
        params: Option<hub::PaginatedRequestParams>,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        let (tools, next) = page(self.tools.values().map(|entry| &entry.tool), params.as_ref(), PAGE)?;
        let mut result = hub::ListToolsResult::new(tools);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CallToolResult, ErrorObject> {
        let entry = self.tools.get(&params.name);
        let entry = entry.ok_or_else(|| invalid(format!("Unknown tool: {}", params.name)))?;
        (entry.call)(params.arguments, context.clone()).await
    }

    async fn list_resources(
        &self,
        params: Option<hub::PaginatedRequestParams>,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourcesResult, ErrorObject> {
        let resources = self.resources.values().map(|(resource, _)| resource);
        let (resources, next) = page(resources, params.as_ref(), PAGE)?;
        let mut result = hub::ListResourcesResult::new(resources);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<hub::PaginatedRequestParams>,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourceTemplatesResult, ErrorObject> {
        Ok(hub::ListResourceTemplatesResult::new(Vec::new()))
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ReadResourceResult, ErrorObject> {
        let Some((_, read)) = self.resources.get(&params.uri) else {
            let mut error = ErrorObject::new(hub::error_code::RESOURCE_NOT_FOUND, "Resource not found");
            error.data = Some(OpenJson::from(json!({"uri": params.uri})));
            return Err(error);
        };
        read(params.uri, context.clone())
            .await
            .map(hub::ReadResourceResult::new)
    }

    async fn list_prompts(
        &self,
        params: Option<hub::PaginatedRequestParams>,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListPromptsResult, ErrorObject> {
        let (prompts, next) = page(self.prompts.values().map(|(prompt, _)| prompt), params.as_ref(), PAGE)?;
        let mut result = hub::ListPromptsResult::new(prompts);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        params: hub::GetPromptRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::GetPromptResult, ErrorObject> {
        let found = self.prompts.get(&params.name);
        let (prompt, fill) = found.ok_or_else(|| invalid(format!("Unknown prompt: {}", params.name)))?;
        let arguments: BTreeMap<String, String> = params.arguments.into_iter().flatten().collect();
        let declared = prompt.arguments.iter().flatten();
        let missing = declared
            .filter(|argument| argument.required == Some(true))
            .find(|argument| !arguments.contains_key(&argument.name));
        match missing {
            Some(argument) => Err(invalid(format!("Missing argument: {}", argument.name))),
            None => fill(arguments, context.clone()).await,
        }
    }
}

impl std::fmt::Debug for Router {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Router")
            .field("tools", &self.tools.keys())
            .field("resources", &self.resources.keys())
            .field("prompts", &self.prompts.keys())
            .finish_non_exhaustive()
    }
}

fn invalid(what: String) -> ErrorObject {
    ErrorObject::new(error_code::INVALID_PARAMS, what)
}
