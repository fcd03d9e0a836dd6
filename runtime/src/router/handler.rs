//! A router as a handler of requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, OpenJson, UnknownMethod, error_code};

use super::Router;
use super::call::Call;
use super::completion::Completions;
use super::fallback::{Fallback, FromServerResult};
use super::filter::Listable;
use super::page::page;
use super::resource::{ResourceRoute, resource_not_found};
use super::template::TemplateRoute;
use super::uri_template::Variables;
use crate::error::invalid_params;
use crate::session::Context;
use crate::side::ServerSide;

/// A page of a list, and the cursor of the next.
type Page<T> = (Vec<T>, Option<String>);

/// What reads a resource.
enum Readable {
    Resource(Arc<ResourceRoute>),
    Template(Arc<TemplateRoute>, Variables),
}

impl Router {
    fn call(&self, context: &Context<ServerSide>) -> Call {
        Call::new(context.clone(), Arc::new(self.clone()))
    }

    /// Whether the client of a request sees a route.
    fn shows<R: Listable>(&self, route: &R, context: &Context<ServerSide>) -> bool {
        let mut filters = self.settings.filters.iter().chain(route.filters());
        filters.all(|filter| filter(&route.listed(), context))
    }

    /// What reads the resource with a URI, if the client sees one.
    fn resource(&self, uri: &str, context: &Context<ServerSide>) -> Option<Readable> {
        let resource = self.catalogue.routes.lock().resources.get(uri).cloned();
        if let Some(route) = resource.filter(|route| self.shows(&**route, context)) {
            return Some(Readable::Resource(route));
        }
        let templates = Arc::clone(&self.catalogue.routes.lock().templates);
        let mut shown = templates.values().filter(|route| self.shows(&***route, context));
        shown.find_map(|route| Some(Readable::Template(Arc::clone(route), route.variables(uri)?)))
    }

    /// A page of the routes that the client sees. The fallback's list follows.
    fn page<R: Listable>(
        &self,
        routes: &BTreeMap<String, Arc<R>>,
        params: &hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<Page<R::Item>, ErrorObject> {
        let item = |route: &Arc<R>| self.shows(&**route, context).then(|| route.item().clone());
        let (items, next) = page(routes, params, self.settings.page_size, item)?;
        let follows = self.settings.fallback.is_some().then(Fallback::first_cursor);
        Ok((items, next.or(follows)))
    }

    /// The fallback, and the parameters with which it is asked for a page, if the cursor is one of its list.
    fn fallback_page(&self, params: &hub::PaginatedRequestParams) -> Option<(&Fallback, hub::PaginatedRequestParams)> {
        let fallback = self.settings.fallback.as_ref()?;
        Some((fallback, Fallback::page(params)?))
    }

    /// What the fallback answers to a request for what the router doesn't have; without one, an error.
    async fn fall_back<T: FromServerResult>(
        &self,
        request: impl Into<hub::ClientRequest>,
        context: &Context<ServerSide>,
        error: ErrorObject,
    ) -> Result<T, ErrorObject> {
        match &self.settings.fallback {
            Some(fallback) => fallback.handle(request, context).await,
            None => Err(error),
        }
    }

    /// The completions of a prompt or of a template.
    fn completions(
        &self,
        reference: &hub::CompletionReference,
        context: &Context<ServerSide>,
    ) -> Result<Completions, ErrorObject> {
        match reference {
            hub::CompletionReference::Prompt(prompt) => {
                let route = self.catalogue.routes.lock().prompts.get(&prompt.name).cloned();
                let route = route.filter(|route| self.shows(&**route, context));
                let route = route.ok_or_else(|| invalid_params(format!("Unknown prompt: {}", prompt.name)))?;
                Ok(route.completions.clone())
            }
            hub::CompletionReference::ResourceTemplate(template) => {
                let route = self.catalogue.routes.lock().templates.get(&template.uri).cloned();
                match route.filter(|route| self.shows(&**route, context)) {
                    Some(route) => Ok(route.completions.clone()),
                    // A resource has no variables, but clients may request completion.
                    None => match self.resource(&template.uri, context) {
                        Some(_) => Ok(Completions::default()),
                        None => Err(resource_not_found(&template.uri)),
                    },
                }
            }
            hub::CompletionReference::Unknown(_) => Err(invalid_params("Unknown kind of reference")),
        }
    }
}

/// A router serves the methods of its routes. [`Router::serve`] does more: it tells clients what changes.
impl ServerHandler<Context<ServerSide>> for Router {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        if let Some((fallback, params)) = self.fallback_page(&params) {
            let request = hub::ListToolsRequest::default().with_params(params);
            let mut result: hub::ListToolsResult = fallback.handle(request, context).await?;
            result.next_cursor = Fallback::next_cursor(result.next_cursor);
            return Ok(result);
        }
        let routes = Arc::clone(&self.catalogue.routes.lock().tools);
        let (tools, next) = self.page(&routes, &params, context)?;
        let mut result = hub::ListToolsResult::new(tools);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.settings.caching.members();
        Ok(result)
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let route = self.catalogue.routes.lock().tools.get(&params.name).cloned();
        let Some(route) = route.filter(|route| self.shows(&**route, context)) else {
            let unknown = invalid_params(format!("Unknown tool: {}", params.name));
            return self
                .fall_back(hub::CallToolRequest::new(params), context, unknown)
                .await;
        };
        #[cfg(feature = "http-server")]
        route.mirrored.check(params.arguments.as_ref(), context)?;
        route.call(params.arguments, self.call(context)).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListResourcesResult, ErrorObject> {
        if let Some((fallback, params)) = self.fallback_page(&params) {
            let request = hub::ListResourcesRequest::default().with_params(params);
            let mut result: hub::ListResourcesResult = fallback.handle(request, context).await?;
            result.next_cursor = Fallback::next_cursor(result.next_cursor);
            return Ok(result);
        }
        let routes = Arc::clone(&self.catalogue.routes.lock().resources);
        let (resources, next) = self.page(&routes, &params, context)?;
        let mut result = hub::ListResourcesResult::new(resources);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.settings.caching.members();
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListResourceTemplatesResult, ErrorObject> {
        if let Some((fallback, params)) = self.fallback_page(&params) {
            let request = hub::ListResourceTemplatesRequest::default().with_params(params);
            let mut result: hub::ListResourceTemplatesResult = fallback.handle(request, context).await?;
            result.next_cursor = Fallback::next_cursor(result.next_cursor);
            return Ok(result);
        }
        let routes = Arc::clone(&self.catalogue.routes.lock().templates);
        let (templates, next) = self.page(&routes, &params, context)?;
        let mut result = hub::ListResourceTemplatesResult::new(templates);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.settings.caching.members();
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyReadResourceResult, ErrorObject> {
        match self.resource(&params.uri, context) {
            Some(Readable::Resource(route)) => route.read(self.call(context)).await.map(Into::into),
            Some(Readable::Template(route, variables)) => {
                let read = route.read(params.uri, variables, self.call(context));
                read.await.map(Into::into)
            }
            None => {
                let unknown = resource_not_found(&params.uri);
                self.fall_back(hub::ReadResourceRequest::new(params), context, unknown)
                    .await
            }
        }
    }

    async fn list_prompts(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListPromptsResult, ErrorObject> {
        if let Some((fallback, params)) = self.fallback_page(&params) {
            let request = hub::ListPromptsRequest::default().with_params(params);
            let mut result: hub::ListPromptsResult = fallback.handle(request, context).await?;
            result.next_cursor = Fallback::next_cursor(result.next_cursor);
            return Ok(result);
        }
        let routes = Arc::clone(&self.catalogue.routes.lock().prompts);
        let (prompts, next) = self.page(&routes, &params, context)?;
        let mut result = hub::ListPromptsResult::new(prompts);
        result.next_cursor = next;
        (result.ttl_ms, result.cache_scope) = self.settings.caching.members();
        Ok(result)
    }

    async fn get_prompt(
        &self,
        params: hub::GetPromptRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyGetPromptResult, ErrorObject> {
        let route = self.catalogue.routes.lock().prompts.get(&params.name).cloned();
        let Some(route) = route.filter(|route| self.shows(&**route, context)) else {
            let unknown = invalid_params(format!("Unknown prompt: {}", params.name));
            return self
                .fall_back(hub::GetPromptRequest::new(params), context, unknown)
                .await;
        };
        route.get(params.arguments, self.call(context)).await.map(Into::into)
    }

    async fn complete(
        &self,
        params: hub::CompleteRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        match self.completions(&params.ref_, context) {
            Ok(completions) => {
                let call = self.call(context);
                completions.complete(params.argument, params.context, call).await
            }
            Err(unknown) => {
                self.fall_back(hub::CompleteRequest::new(params), context, unknown)
                    .await
            }
        }
    }

    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<OpenJson, ErrorObject> {
        let revision = context.revision();
        let route = revision.and_then(|revision| self.catalogue.routes.lock().method(&request.method, revision));
        match (route, &self.settings.fallback) {
            (Some(route), _) => (route.function)(request, self.call(context)).await,
            (None, Some(fallback)) => fallback.unknown(request, context).await,
            (None, None) => {
                let reason = format!("Unknown method: {}", request.method);
                Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, reason))
            }
        }
    }
}
