//! A router as a handler of requests.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, UnknownMethod, error_code};

use super::call::Call;
use super::catalogue::{RouteMap, Routes};
use super::fallback::Fallback;
use super::handled::{FromHandled, Handled};
use super::list::List;
use super::page::page;
use super::resource::resource_not_found;
use super::scope::{Listable, Listed, Scope};
use super::target::Target;
use super::uri_template::Variables;
use super::{Inner, Router};
use crate::error::{internal_error, invalid_params};
use crate::future::BoxFuture;
use crate::session::{Context, Handler, Next};
use crate::side::ServerSide;

impl Router {
    fn call(&self, context: &Context<ServerSide>) -> Call {
        Call::new(context.clone(), Arc::clone(&self.inner) as _)
    }

    /// Whether the client of a request sees a route.
    fn shows<R: Listable>(&self, route: &R, context: &Context<ServerSide>) -> bool {
        self.allows(&route.listed(), route.scope(), context)
    }

    /// Whether the filters of this router, and those of a route, let the client of a request see something.
    fn allows(&self, listed: &Listed<'_>, scope: &Scope, context: &Context<ServerSide>) -> bool {
        let mut filters = self.inner.scope.filters.iter().chain(&scope.filters);
        filters.all(|filter| filter(listed, context))
    }

    /// A route, if the client sees it.
    fn shown<R: Listable>(
        &self,
        routes: impl Fn(&Routes) -> &RouteMap<R>,
        key: &str,
        context: &Context<ServerSide>,
    ) -> Option<Arc<R>> {
        let route = routes(&self.inner.catalogue.routes.lock()).get(key).cloned();
        route.filter(|route| self.shows(&**route, context))
    }

    /// A page of the routes that the client sees.
    async fn list<R: Listable>(
        &self,
        routes: impl Fn(&Routes) -> &RouteMap<R> + Send,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<R::List, ErrorObject> {
        let routes = Arc::clone(routes(&self.inner.catalogue.routes.lock()));
        let item = |route: &Arc<R>| self.shows(&**route, context).then(|| route.item().clone());
        self.list_items(&routes, item, params, context).await
    }

    /// A page of what is made of routes. The fallback's list follows, if it has one of this kind.
    async fn list_items<L: List, R>(
        &self,
        routes: &BTreeMap<String, R>,
        item: impl Fn(&R) -> Option<L::Item>,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<L, ErrorObject> {
        let Inner { page_size, caching, .. } = &*self.inner;
        let fallback = self.fallback_for(L::METHOD);
        if let Some((fallback, params)) = fallback.zip(Fallback::page(&params)) {
            let page = fallback.list(params, context).await?;
            return Ok(page.unwrap_or_else(|| L::page(Vec::new(), None, caching)));
        }
        let (items, next) = page(routes, &params, *page_size, item)?;
        let Some(fallback) = fallback.filter(|_| next.is_none()) else {
            return Ok(L::page(items, next, caching));
        };
        let end = Some(Fallback::first_cursor());
        if items.len() >= *page_size {
            return Ok(L::page(items, end, caching));
        }
        let first = hub::PaginatedRequestParams { cursor: None, ..params };
        match fallback.list::<L>(first, context).await {
            Ok(Some(mut rest)) => {
                rest.prepend(items, caching);
                Ok(rest)
            }
            Ok(None) => Ok(L::page(items, None, caching)),
            Err(error) if items.is_empty() => Err(error),
            // The error comes with the next page, so that the client gets the router's own items.
            Err(_) => Ok(L::page(items, end, caching)),
        }
    }

    /// The resources that the client sees, by URI, if templates list some.
    async fn listed_resources(
        &self,
        context: &Context<ServerSide>,
    ) -> Result<Option<BTreeMap<String, hub::Resource>>, ErrorObject> {
        let (own, templates) = {
            let routes = self.inner.catalogue.routes.lock();
            (Arc::clone(&routes.resources), Arc::clone(&routes.templates))
        };
        let lists = templates.values().filter(|route| route.has_list());
        let lists: Vec<_> = lists.filter(|route| self.shows(&***route, context)).collect();
        if lists.is_empty() {
            return Ok(None);
        }
        let mut resources = BTreeMap::new();
        for route in lists {
            let listed = route.resources(self.call(context)).await?.into_iter();
            let shown = listed.filter(|resource| self.allows(&Listed::Resource(resource), route.scope(), context));
            resources.extend(shown.map(|resource| (resource.uri.clone(), resource)));
        }
        // Of two with one URI, the route is the one that is read.
        for (uri, route) in &*own {
            resources.remove(uri);
            if self.shows(&**route, context) {
                resources.insert(uri.clone(), route.item().clone());
            }
        }
        Ok(Some(resources))
    }

    /// The fallback, if it is asked for a method.
    fn fallback_for(&self, method: &str) -> Option<&Fallback> {
        self.inner.fallback.as_ref().filter(|fallback| fallback.has(method))
    }

    /// What reads the resource with a URI.
    fn resource(&self, uri: &str, context: &Context<ServerSide>) -> Result<Target, ErrorObject> {
        if let Some(route) = self.shown(|routes| &routes.resources, uri, context) {
            return Ok(Target::Resource(route));
        }
        let templates = Arc::clone(&self.inner.catalogue.routes.lock().templates);
        let mut shown = templates.values().filter(|route| self.shows(&***route, context));
        let read = shown.find_map(|route| Some(Target::Template(Arc::clone(route), route.variables(uri)?)));
        read.ok_or_else(|| resource_not_found(uri))
    }

    fn prompt(&self, name: &str, context: &Context<ServerSide>) -> Result<Target, ErrorObject> {
        let route = self.shown(|routes| &routes.prompts, name, context);
        let route = route.ok_or_else(|| invalid_params(format!("Unknown prompt: {name}")))?;
        Ok(Target::Prompt(route))
    }

    /// What a request is for.
    ///
    /// # Errors
    /// When the router doesn't have it, or doesn't show it to the client.
    fn target(&self, request: &hub::ClientRequest, context: &Context<ServerSide>) -> Result<Target, ErrorObject> {
        match request {
            hub::ClientRequest::CallTool(request) => {
                let name = &request.params.name;
                let route = self.shown(|routes| &routes.tools, name, context);
                let route = route.ok_or_else(|| invalid_params(format!("Unknown tool: {name}")))?;
                Ok(Target::Tool(route))
            }
            hub::ClientRequest::GetPrompt(request) => self.prompt(&request.params.name, context),
            hub::ClientRequest::ReadResource(request) => self.resource(&request.params.uri, context),
            hub::ClientRequest::Complete(request) => match &request.params.ref_ {
                hub::CompletionReference::Prompt(prompt) => self.prompt(&prompt.name, context),
                hub::CompletionReference::ResourceTemplate(template) => {
                    match self.shown(|routes| &routes.templates, &template.uri, context) {
                        Some(route) => Ok(Target::Template(route, Variables::new())),
                        None => self.resource(&template.uri, context),
                    }
                }
                hub::CompletionReference::Unknown(_) => Err(invalid_params("Unknown kind of reference")),
            },
            request => {
                let (method, revision) = (request.method(), context.revision());
                let routes = self.inner.catalogue.routes.lock();
                let target = revision.and_then(|revision| {
                    let of_revision = routes.method(method, revision).map(Target::Method);
                    of_revision.or_else(|| routes.custom(method, revision).map(Target::Custom))
                });
                let unknown = || ErrorObject::new(error_code::METHOD_NOT_FOUND, format!("Unknown method: {method}"));
                target.ok_or_else(unknown)
            }
        }
    }

    /// Handles a request by the route that it is for, or by the fallback.
    async fn route<T: FromHandled>(
        &self,
        request: hub::ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<T, ErrorObject> {
        let target = match (self.target(&request, context), self.fallback_for(request.method())) {
            (Ok(target), _) => target,
            (Err(_), Some(fallback)) => return fallback.handle(request, context).await,
            (Err(unknown), None) => return Err(unknown),
        };
        let result = match target.layers().is_empty() {
            true => target.call(request, self.call(context)).await?,
            false => {
                let layers = Arc::clone(target.layers());
                let router = self.clone();
                let next = Next::new(Arc::new(Routed { target, router }), layers);
                next.request(request, context.clone()).await?
            }
        };
        T::from_handled(result).ok_or_else(|| internal_error("middleware gives the result of another method"))
    }
}

/// Calls a route within the middleware of the routers that it came from.
struct Routed {
    target: Target,
    router: Router,
}

impl Handler<ServerSide> for Routed {
    fn handle_request<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, Result<Handled, ErrorObject>> {
        Box::pin(self.target.clone().call(request, self.router.call(context)))
    }

    fn handle_notification<'a>(&'a self, _: hub::ClientNotification, _: &'a Context<ServerSide>) -> BoxFuture<'a, ()> {
        Box::pin(ready(()))
    }
}

/// A router serves the methods of its routes. [`Router::serve`] does more: it notifies clients of changes.
impl ServerHandler<Context<ServerSide>> for Router {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        self.list(|routes| &routes.tools, params, context).await
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        self.route(hub::CallToolRequest::new(params).into(), context).await
    }

    async fn list_resources(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListResourcesResult, ErrorObject> {
        match self.listed_resources(context).await? {
            Some(resources) => {
                let item = |resource: &hub::Resource| Some(resource.clone());
                self.list_items(&resources, item, params, context).await
            }
            None => self.list(|routes| &routes.resources, params, context).await,
        }
    }

    async fn list_resource_templates(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListResourceTemplatesResult, ErrorObject> {
        self.list(|routes| &routes.templates, params, context).await
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyReadResourceResult, ErrorObject> {
        self.route(hub::ReadResourceRequest::new(params).into(), context).await
    }

    async fn list_prompts(
        &self,
        params: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListPromptsResult, ErrorObject> {
        self.list(|routes| &routes.prompts, params, context).await
    }

    async fn get_prompt(
        &self,
        params: hub::GetPromptRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyGetPromptResult, ErrorObject> {
        self.route(hub::GetPromptRequest::new(params).into(), context).await
    }

    async fn complete(
        &self,
        params: hub::CompleteRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        self.route(hub::CompleteRequest::new(params).into(), context).await
    }

    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<RawJson, ErrorObject> {
        self.route(hub::ClientRequest::Unknown(request), context).await
    }
}
