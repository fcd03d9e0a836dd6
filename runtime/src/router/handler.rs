//! The handler by which a router serves a client.

use std::any::Any;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, UnknownMethod, error_code};

use super::caching::Caching;
use super::call::Call;
use super::catalogue::Catalogue;
use super::completion::Completions;
use super::page::page;
use super::resource::resource_not_found;
use crate::error::invalid_params;
use crate::session::Context;
use crate::side::ServerSide;

/// The handler of one client.
pub(super) struct RouterHandler {
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) page_size: usize,
    /// That of lists.
    pub(super) caching: Caching,
    /// The router for [`Call`]s.
    pub(super) router: Arc<dyn Any + Send + Sync>,
}

impl RouterHandler {
    fn call(&self, context: &Context<ServerSide>) -> Call {
        Call::new(context.clone(), Arc::clone(&self.router))
    }

    /// The completions of a prompt or of a template.
    fn completions(&self, reference: &hub::CompletionReference) -> Result<Completions, ErrorObject> {
        let routes = self.catalogue.routes.lock();
        match reference {
            hub::CompletionReference::Prompt(prompt) => {
                let route = routes.prompts.get(&prompt.name);
                let route = route.ok_or_else(|| invalid_params(format!("Unknown prompt: {}", prompt.name)))?;
                Ok(route.completions.clone())
            }
            hub::CompletionReference::ResourceTemplate(template) => match routes.templates.get(&template.uri) {
                Some(route) => Ok(route.completions.clone()),
                // A resource has no variables, but clients may request completion.
                None if routes.has_resource(&template.uri) => Ok(Completions::default()),
                None => Err(resource_not_found(&template.uri)),
            },
            hub::CompletionReference::Unknown(_) => Err(invalid_params("Unknown kind of reference")),
        }
    }
}

impl ServerHandler<Context<ServerSide>> for RouterHandler {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        let routes = self.catalogue.routes.lock();
        let (tools, next) = page(&routes.tools, &params, self.page_size, |route| route.tool.clone())?;
        let mut result = hub::ListToolsResult::new(tools);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let route = self.catalogue.routes.lock().tools.get(&params.name).cloned();
        let route = route.ok_or_else(|| invalid_params(format!("Unknown tool: {}", params.name)))?;
        #[cfg(feature = "http-server")]
        route.mirrored.check(params.arguments.as_ref(), context)?;
        route.call(params.arguments, self.call(context)).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourcesResult, ErrorObject> {
        let routes = self.catalogue.routes.lock();
        let (resources, next) = page(&routes.resources, &params, self.page_size, |route| {
            route.resource.clone()
        })?;
        let mut result = hub::ListResourcesResult::new(resources);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourceTemplatesResult, ErrorObject> {
        let routes = self.catalogue.routes.lock();
        let (templates, next) = page(&routes.templates, &params, self.page_size, |route| {
            route.template.clone()
        })?;
        let mut result = hub::ListResourceTemplatesResult::new(templates);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyReadResourceResult, ErrorObject> {
        let uri = params.uri;
        let resource = self.catalogue.routes.lock().resources.get(&uri).cloned();
        if let Some(route) = resource {
            return route.read(self.call(context)).await.map(Into::into);
        }
        let matching = {
            let routes = self.catalogue.routes.lock();
            let mut templates = routes.templates.values();
            templates.find_map(|route| Some((Arc::clone(route), route.variables(&uri)?)))
        };
        match matching {
            Some((route, variables)) => {
                let read = route.read(uri, variables, self.call(context));
                read.await.map(Into::into)
            }
            None => Err(resource_not_found(&uri)),
        }
    }

    async fn list_prompts(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListPromptsResult, ErrorObject> {
        let routes = self.catalogue.routes.lock();
        let (prompts, next) = page(&routes.prompts, &params, self.page_size, |route| route.prompt.clone())?;
        let mut result = hub::ListPromptsResult::new(prompts);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.caching.members();
        Ok(result)
    }

    async fn get_prompt(
        &self,
        params: hub::GetPromptRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyGetPromptResult, ErrorObject> {
        let route = self.catalogue.routes.lock().prompts.get(&params.name).cloned();
        let route = route.ok_or_else(|| invalid_params(format!("Unknown prompt: {}", params.name)))?;
        route.get(params.arguments, self.call(context)).await.map(Into::into)
    }

    async fn complete(
        &self,
        params: hub::CompleteRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        let completions = self.completions(&params.ref_)?;
        completions
            .complete(params.argument, params.context, self.call(context))
            .await
    }

    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<OpenJson, ErrorObject> {
        let revision = context.revision();
        let route = revision.and_then(|revision| self.catalogue.routes.lock().method(&request.method, revision));
        let Some(route) = route else {
            let reason = format!("Unknown method: {}", request.method);
            return Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, reason));
        };
        (route.function)(request, self.call(context)).await
    }
}
