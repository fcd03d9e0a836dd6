//! The implementation of `Handler` for a router.

use std::collections::HashSet;
use std::future::ready;
use std::ops::Bound;
use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, Extra, error_code};
use mcp_adapters::{Policy, Revision, hub, if_hub_has, peers};
use mcp_runtime_core::internal::{
    Extending, Handling, first_page, internal_error, invalid_params, page_range, params_of,
};
use mcp_runtime_core::{Context, Handler, Next, ServerSide, Side};
use mcp_runtime_util::{BoxFuture, NameMap};

use super::call::Call;
use super::catalogue::{AnyRoutes, RouteMap, Routes};
use super::entry::ListEntry;
use super::extension::ExtensionRoute;
use super::fallback::Fallback;
use super::list::{List, next_cursor, prepend};
use super::prompt::PromptRoute;
use super::scope::{Listable, Scope};
use super::target::{Answer, Reader, Target, Undeclared};
use super::tool::ToolRoute;
use super::tool_error::resource_not_found;
use crate::Router;

impl Router {
    pub(super) fn call(&self, context: &Context<ServerSide>) -> Call {
        Call::new(context.clone(), Arc::clone(&self.inner) as _)
    }

    /// Whether the filters show a route to the client of a request.
    fn shows(&self, route: &dyn Listable, context: &Context<ServerSide>) -> bool {
        self.allows(&route.listed(), route.scope(), context)
    }

    /// Whether the filters of this router and those of a route show an entry to the client of a request.
    pub(super) fn allows(&self, listed: &ListEntry<'_>, scope: &Scope, context: &Context<ServerSide>) -> bool {
        let mut filters = self.inner.scope.filters.iter().chain(&scope.filters);
        filters.all(|filter| filter(listed, context))
    }

    /// Finds a route, if the client sees it.
    pub(super) fn shown<R: Listable>(
        &self,
        routes: impl Fn(&Routes) -> &RouteMap<R>,
        key: &str,
        context: &Context<ServerSide>,
    ) -> Option<Arc<R>> {
        let route = routes(&self.inner.catalogue.routes()).get(key).cloned();
        route.filter(|route| self.shows(&**route, context))
    }

    /// Makes a page of the routes that the client sees and of the entries that functions list. The fallback's list of
    /// this kind, if it has one, is appended.
    fn list<'a>(
        &'a self,
        list: List,
        routes: &dyn AnyRoutes,
        listed: &[ListEntry<'_>],
        params: hub::PaginatedRequestParams,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        let caching = &self.inner.caching;
        let fallback = self.fallback_for(list.method());
        let keys = || self.keys(routes, listed, context);
        if let Some((fallback, params)) = fallback.zip(Fallback::page(&params)) {
            let keys = keys();
            return Box::pin(async move {
                let none = list.page(&[], None, caching);
                let page = fallback.list(list.request(params), (&none, &keys), context).await?;
                Ok(Answer::Declared(page.unwrap_or(none)))
            });
        }
        let mut size = self.inner.page_size;
        // A client that can't request the next page gets the whole list.
        let mut paged = self.page(routes, listed, &params, size, context);
        if matches!(&paged, Ok((_, Some(_)))) && !self.can_continue(list, context) {
            size = usize::MAX;
            paged = self.page(routes, listed, &params, size, context);
        }
        let (items, next) = match paged {
            Ok(page) => page,
            Err(error) => return refused(error),
        };
        let (length, is_last) = (items.len(), next.is_none());
        let page = list.page(&items, next, caching);
        let Some(fallback) = fallback.filter(|_| is_last) else {
            return Box::pin(async move { Ok(Answer::Declared(page)) });
        };
        let first = hub::PaginatedRequestParams { cursor: None, ..params };
        self.continued((page, length, size), keys(), (fallback, list.request(first)), context)
    }

    /// Whether a page of a list can have a cursor in the client's revision.
    fn can_continue(&self, list: List, context: &Context<ServerSide>) -> bool {
        let Some(revision) = context.revision().filter(|revision| *revision != Revision::HUB) else {
            return true;
        };
        let losses = |next: Option<String>| {
            let page = list.page(&[], next, &self.inner.caching);
            let sent = peers::server_result_for(revision, &page, Policy::Conform.into());
            sent.map_or(0, |(_, losses)| losses.len())
        };
        losses(Some(String::new())) == losses(None)
    }

    /// Appends the first page of the fallback's list to the router's last page.
    fn continued<'a>(
        &'a self,
        (mut page, length, size): (hub::ServerResult, usize, usize),
        keys: HashSet<String>,
        (fallback, first): (&'a Fallback, hub::ClientRequest),
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        let caching = &self.inner.caching;
        Box::pin(async move {
            if length < size {
                match fallback.list(first, (&page, &keys), context).await {
                    Ok(Some(mut rest)) => {
                        prepend(&mut rest, &mut page, caching);
                        return Ok(Answer::Declared(rest));
                    }
                    Ok(None) => return Ok(Answer::Declared(page)),
                    Err(error) if length == 0 => return Err(error),
                    // The error is reported for the next page, so that the client still gets the router's own items.
                    Err(_) => {}
                }
            }
            if let Some(next) = next_cursor(&mut page) {
                *next = Some(Fallback::first_cursor());
            }
            Ok(Answer::Declared(page))
        })
    }

    /// The names or URIs of the routes that the client sees, and of the entries that functions list.
    fn keys(&self, routes: &dyn AnyRoutes, listed: &[ListEntry<'_>], context: &Context<ServerSide>) -> HashSet<String> {
        let routes = routes.range((Bound::Unbounded, Bound::Unbounded));
        let shown = routes.filter(|(_, route)| self.shows(*route, context));
        let listed = listed.iter().map(|entry| entry.key());
        shown.map(|(key, _)| key).chain(listed).map(str::to_owned).collect()
    }

    /// Returns a page of routes and of entries that functions list, of at most `size` items, and the cursor of the next
    /// page. If several have the same key, the page has the one that would be called: the route, or else the entry that
    /// was listed first.
    fn page<'r>(
        &self,
        routes: &'r dyn AnyRoutes,
        listed: &[ListEntry<'r>],
        params: &hub::PaginatedRequestParams,
        size: usize,
        context: &Context<ServerSide>,
    ) -> Result<(Vec<ListEntry<'r>>, Option<String>), ErrorObject> {
        let range = page_range(params)?;
        let mut keys = NameMap::default();
        for item in listed {
            keys.add(item.key(), *item);
        }
        let mut keys = keys.range(range).peekable();
        let shown = routes.range(range);
        let shown = shown.filter(|(_, route)| self.shows(*route, context));
        let mut shown = shown.map(|(key, route)| (key, route.listed())).peekable();
        let mut all = std::iter::from_fn(|| {
            let next = keys.peek().map(|(key, _)| *key);
            let own = shown.peek().map(|(key, _)| *key);
            if next.is_some() && (own.is_none() || next < own) {
                return keys.next().map(|(key, item)| (key, *item));
            }
            keys.next_if(|(key, _)| Some(*key) == own);
            shown.next()
        });
        Ok(first_page(&mut all, size))
    }

    /// The resources that functions list and the client sees: those of templates, of which the last one with a URI
    /// takes precedence, and then those of the router's functions.
    async fn listed_resources(&self, context: &Context<ServerSide>) -> Result<Vec<hub::Resource>, ErrorObject> {
        let mut listed = self.listed(|sources| &sources.resources, context).await?;
        let templates = Arc::clone(&self.inner.catalogue.routes().templates);
        let lists = templates.values().filter(|route| route.has_list());
        let mut resources = Vec::new();
        for route in lists.filter(|route| self.shows(&***route, context)) {
            let mut of_template = route.resources(self.call(context)).await?;
            of_template.retain(|resource| self.allows(&ListEntry::Resource(resource), route.scope(), context));
            resources.append(&mut of_template);
        }
        resources.reverse();
        resources.append(&mut listed);
        Ok(resources)
    }

    /// The fallback, if it handles a method.
    fn fallback_for(&self, method: &str) -> Option<&Fallback> {
        self.inner.fallback.as_ref().filter(|fallback| fallback.has(method))
    }

    /// Finds a tool that functions list.
    async fn find_listed_tool(&self, name: &str, context: &Context<ServerSide>) -> Result<Arc<ToolRoute>, ErrorObject> {
        match Box::pin(self.find_listed(|sources| &sources.tools, name, context)).await? {
            Some((source, tool)) => source.route(tool).map(Arc::new),
            None => Err(invalid_params(format!("Unknown tool: {name}"))),
        }
    }

    pub(super) async fn find_prompt(
        &self,
        name: &str,
        context: &Context<ServerSide>,
    ) -> Result<Arc<PromptRoute>, ErrorObject> {
        if let Some(route) = self.shown(|routes| &routes.prompts, name, context) {
            return Ok(route);
        }
        match Box::pin(self.find_listed(|sources| &sources.prompts, name, context)).await? {
            Some((source, prompt)) => Ok(Arc::new(source.route(prompt))),
            None => Err(invalid_params(format!("Unknown prompt: {name}"))),
        }
    }

    /// Whether a request may do something, which is known for tools that each client sees.
    fn may(&self, request: &hub::ClientRequest, tool_may: fn(&ToolRoute) -> bool) -> bool {
        let hub::ClientRequest::CallTool(request) = request else {
            return true;
        };
        let routes = self.inner.catalogue.routes();
        let tool = routes.tools.get(&request.params.name);
        // If the client doesn't see this tool, another one with the same name may be called.
        let is_seen = |tool: &ToolRoute| self.inner.scope.filters.is_empty() && tool.scope().filters.is_empty();
        tool.is_none_or(|tool| tool_may(tool) || !is_seen(tool))
    }

    /// Finds the resource or template that reads a URI.
    pub(super) fn find_reader(&self, uri: &str, context: &Context<ServerSide>) -> Result<Reader, ErrorObject> {
        if let Some(route) = self.shown(|routes| &routes.resources, uri, context) {
            return Ok(Reader::Resource(route));
        }
        let templates = Arc::clone(&self.inner.catalogue.routes().templates);
        let mut shown = templates.values().filter(|route| self.shows(&***route, context));
        let reader = shown.find_map(|route| Some(Reader::Template(Arc::clone(route), route.variables(uri)?)));
        reader.ok_or_else(|| resource_not_found(uri))
    }

    /// Finds the route of a method that the hub doesn't declare.
    fn find_undeclared(&self, method: &str, context: &Context<ServerSide>) -> Result<Undeclared, ErrorObject> {
        let routes = self.inner.catalogue.routes();
        let found = context.revision().and_then(|revision| {
            let of_revision = routes.method(method, revision).map(Undeclared::Method);
            of_revision.or_else(|| routes.custom(method, revision).map(Undeclared::Custom))
        });
        found.ok_or_else(|| unknown_method(method))
    }

    /// Answers a call of a tool, unless an extension refuses it.
    fn answer_tool<'a>(
        &'a self,
        tool: Result<Arc<ToolRoute>, ErrorObject>,
        extensions: &NameMap<ExtensionRoute>,
        request: hub::CallToolRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        let mut extensions = extensions.values();
        let check = |tool: &Arc<ToolRoute>| {
            extensions.try_for_each(|extension| (extension.check_tool_call)(&tool.tool, context))
        };
        match tool.as_ref().map(check) {
            Ok(Err(error)) => refused(error),
            _ => self.answer(tool, request, hub::ClientRequest::CallTool, context),
        }
    }

    /// Answers a request by its target, or by the fallback if the router has no target that the client sees.
    pub(super) fn answer<'a, T: Target>(
        &'a self,
        target: Result<T, ErrorObject>,
        request: T::Request,
        variant: fn(T::Request) -> hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        let target = match target {
            Ok(target) if target.layers().is_empty() => return target.boxed_answer(request, self.call(context)),
            Ok(target) => {
                let (layers, router) = (Arc::clone(target.layers()), self.clone());
                Ok(Next::new(Arc::new(Routed { target, router }), layers))
            }
            Err(unknown) => Err(unknown),
        };
        self.answer_around(target, variant(request), T::has_result, context)
    }

    /// Answers a request by the middleware around its target, or by the fallback. Not generic, so that it is compiled
    /// once.
    fn answer_around<'a>(
        &'a self,
        target: Result<Next<ServerSide>, ErrorObject>,
        request: hub::ClientRequest,
        has_result: fn(&Answer) -> bool,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        Box::pin(async move {
            let (result, source) = match target {
                Ok(next) => (next.request(request, context.clone()).await?, "middleware"),
                Err(unknown) => {
                    let Some(fallback) = self.fallback_for(request.method()) else {
                        return Err(unknown);
                    };
                    (fallback.handle(request, context).await?, "the fallback")
                }
            };
            match has_result(&result) {
                true => Ok(result),
                false => Err(internal_error(format!("{source} gave the result of another method"))),
            }
        })
    }
}

/// The future of an error. The future of `ready` would be larger, because it can also hold a result, and has code that
/// drops one.
fn refused<'a>(error: ErrorObject) -> Handling<'a, ServerSide> {
    Box::pin(async move { Err(error) })
}

fn unknown_method(method: &str) -> ErrorObject {
    ErrorObject::new(error_code::METHOD_NOT_FOUND, format!("Unknown method: {method}"))
}

/// As a handler, a router answers requests for its routes. [`Router::serve`] also notifies clients of changes.
impl Handler<ServerSide> for Router {
    fn handle_request<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> Handling<'a, ServerSide> {
        // Each method has its own boxed future: a common one would always be as large as the largest of them.
        use hub::ClientRequest as Request;
        if_hub_has! { CompleteRequest {
            if let Request::Complete(request) = request {
                return Box::pin(self.complete(request, context));
            }
        } }
        match request {
            Request::CallTool(request) => {
                let (tool, extensions) = {
                    let routes = self.inner.catalogue.routes();
                    let tool = routes.tools.get(&request.params.name).cloned();
                    (tool, Arc::clone(&routes.extensions))
                };
                if let Some(tool) = tool.filter(|tool| self.shows(&**tool, context)) {
                    return self.answer_tool(Ok(tool), &extensions, request, context);
                }
                Box::pin(async move {
                    let tool = self.find_listed_tool(&request.params.name, context).await;
                    self.answer_tool(tool, &extensions, request, context).await
                })
            }
            Request::GetPrompt(request) => Box::pin(async move {
                let prompt = self.find_prompt(&request.params.name, context).await;
                self.answer(prompt, request, Request::GetPrompt, context).await
            }),
            Request::ReadResource(request) => {
                let reader = self.find_reader(&request.params.uri, context);
                self.answer(reader, request, Request::ReadResource, context)
            }
            Request::Unknown(request) => {
                let undeclared = self.find_undeclared(&request.method, context);
                self.answer(undeclared, request, Request::Unknown, context)
            }
            Request::ListTools(request) => Box::pin(async move {
                let listed = self.listed(|sources| &sources.tools, context).await?;
                let listed: Vec<_> = listed.iter().map(ListEntry::Tool).collect();
                let routes = Arc::clone(&self.inner.catalogue.routes().tools);
                self.list(List::Tool, &*routes, &listed, request.params, context).await
            }),
            Request::ListPrompts(request) => Box::pin(async move {
                let listed = self.listed(|sources| &sources.prompts, context).await?;
                let listed: Vec<_> = listed.iter().map(ListEntry::Prompt).collect();
                let routes = Arc::clone(&self.inner.catalogue.routes().prompts);
                self.list(List::Prompt, &*routes, &listed, request.params, context)
                    .await
            }),
            Request::ListResources(request) => Box::pin(async move {
                let listed = self.listed_resources(context).await?;
                let listed: Vec<_> = listed.iter().map(ListEntry::Resource).collect();
                let routes = Arc::clone(&self.inner.catalogue.routes().resources);
                self.list(List::Resource, &*routes, &listed, request.params, context)
                    .await
            }),
            Request::ListResourceTemplates(request) => {
                let routes = Arc::clone(&self.inner.catalogue.routes().templates);
                self.list(List::ResourceTemplate, &*routes, &[], request.params, context)
            }
            request => refused(unknown_method(request.method())),
        }
    }

    fn needs_round(&self, request: &hub::ClientRequest) -> bool {
        self.may(request, ToolRoute::needs_round)
    }

    fn may_request_input(&self, request: &hub::ClientRequest) -> bool {
        self.may(request, ToolRoute::may_request_input)
    }

    fn extend<'a>(&'a self, filter: Extra, context: &'a Context<ServerSide>) -> Extending<'a> {
        Box::pin(self.extend_subscription(filter, self.call(context)))
    }

    fn handle_notification<'a>(
        &'a self,
        notification: hub::ClientNotification,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, ()> {
        let method = ServerSide::notification_method(&notification);
        let listeners = self.inner.catalogue.routes().listeners_of(method);
        if listeners.is_empty() {
            return Box::pin(ready(()));
        }
        let params = params_of(&notification);
        Box::pin(async move {
            for listener in listeners {
                listener.handle(&params, self.call(context)).await;
            }
        })
    }
}

/// The handler within the middleware of a route: calls the route itself.
struct Routed<T> {
    target: T,
    router: Router,
}

impl<T: Target> Handler<ServerSide> for Routed<T> {
    fn handle_request<'a>(
        &'a self,
        request: hub::ClientRequest,
        context: &'a Context<ServerSide>,
    ) -> BoxFuture<'a, Result<Answer, ErrorObject>> {
        match T::request(request) {
            Some(request) => self.target.clone().boxed_answer(request, self.router.call(context)),
            None => {
                let reason = "middleware has replaced the request by one of another method";
                refused(internal_error(reason))
            }
        }
    }
}
