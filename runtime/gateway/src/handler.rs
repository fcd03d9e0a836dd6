//! The request handling of a gateway.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use mcp_adapters::handlers::ServerHandler;
use mcp_adapters::hub::{self, ClientRequest, ServerResult};
use mcp_adapters::if_hub_has;
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, UnknownMethod, error_code};
use mcp_runtime_clients::Merged;
use mcp_runtime_core::internal::{internal_error, invalid_params, page};
use mcp_runtime_core::{CallError, ClientSide, Context, Peer, ServerSide};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::declared::{declared_request, declared_result};
use super::inner::Inner;
use super::policy::Routed;
use super::report::{Outcome, Reporting};
use super::session::{GatewaySession, Servers};

/// The handler of a client's session.
pub struct GatewayHandler(pub Arc<GatewaySession>);

impl ServerHandler<Context<ServerSide>> for GatewayHandler {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<ServerResult, ErrorObject> {
        let servers = self.0.servers(context);
        let clients = &servers.clients;
        if_hub_has! { CompleteRequest {
            if let ClientRequest::Complete(request) = request {
                return self.complete(servers, request, context).await;
            }
        } }
        match request {
            ClientRequest::ListTools(request) => {
                let (tools, next) = self.page(clients.list_tools().await, &request.params, |tool| &tool.name)?;
                let mut list = hub::ListToolsResult::new(tools);
                list.next_cursor = next;
                Ok(ServerResult::ListTools(list))
            }
            ClientRequest::ListPrompts(request) => {
                let (prompts, next) =
                    self.page(clients.list_prompts().await, &request.params, |prompt| &prompt.name)?;
                let mut list = hub::ListPromptsResult::new(prompts);
                list.next_cursor = next;
                Ok(ServerResult::ListPrompts(list))
            }
            ClientRequest::ListResources(request) => {
                let (resources, next) = self.page(clients.list_resources().await, &request.params, |resource| {
                    &resource.uri
                })?;
                let mut list = hub::ListResourcesResult::new(resources);
                list.next_cursor = next;
                Ok(ServerResult::ListResources(list))
            }
            ClientRequest::ListResourceTemplates(request) => {
                let list = clients.list_resource_templates().await;
                let (templates, next) = self.page(list, &request.params, |template| &template.uri_template)?;
                let mut list = hub::ListResourceTemplatesResult::new(templates);
                list.next_cursor = next;
                Ok(ServerResult::ListResourceTemplates(list))
            }
            ClientRequest::CallTool(mut request) => {
                let found = clients.tool_server(&request.params.name).await;
                let (server, name) = found.ok_or_else(|| unknown("tool", &request.params.name))?;
                request.params.name = name;
                self.forward(servers, server, request.into(), context).await
            }
            ClientRequest::GetPrompt(mut request) => {
                let found = clients.prompt_server(&request.params.name).await;
                let (server, name) = found.ok_or_else(|| unknown("prompt", &request.params.name))?;
                request.params.name = name;
                self.forward(servers, server, request.into(), context).await
            }
            ClientRequest::ReadResource(mut request) => match clients.resource_server(&request.params.uri).await {
                Some((server, uri)) => {
                    request.params.uri = uri;
                    self.forward(servers, server, request.into(), context).await
                }
                None => self.read_of_any(servers, request, context).await,
            },
            request => {
                let reason = format!("the gateway has no method {}", request.method());
                Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, reason))
            }
        }
    }

    async fn unknown_request(
        &self,
        request: UnknownMethod,
        context: &Context<ServerSide>,
    ) -> Result<RawJson, ErrorObject> {
        let servers = self.0.servers(context);
        let mut refusal = ErrorObject::new(error_code::METHOD_NOT_FOUND, "no server has this method");
        let mut candidates = Vec::from_iter(0..servers.clients.count());
        candidates.sort_by_key(|server| servers.responsiveness(*server, |kind| &kind.custom).is_exceeded());
        for server in candidates {
            let Ok(peer) = self.reach_in_time(servers, server, context).await else {
                continue;
            };
            let caller = servers.callers.get(server).map(|callers| callers.add(context));
            let request = request.clone();
            let calling = async move {
                let _caller = caller;
                Ok(peer.call_unknown(request).await.map_err(ErrorObject::from))
            };
            let limit = self.0.gateway.time_limit;
            match servers.in_time(server, |kind| &kind.custom, limit, calling).await {
                Ok(Err(error)) if error.code == error_code::METHOD_NOT_FOUND => refusal = error,
                Ok(called) => return called,
                Err(error) => refusal = internal_error(error),
            }
        }
        Err(refusal)
    }

    async fn on_unknown(&self, notification: UnknownMethod, context: &Context<ServerSide>) {
        let servers = self.0.servers(context);
        for server in 0..servers.clients.count() {
            let Ok(peer) = self.reach_in_time(servers, server, context).await else {
                continue;
            };
            if let Err(error) = peer.notify_unknown(notification.clone()).await {
                tracing::debug!(%error, "a notification wasn't passed on");
            }
        }
    }
}

/// Connects to a server in the time limit, on behalf of a request.
async fn reach(
    servers: &Servers,
    server: usize,
    context: &Context<ServerSide>,
) -> Result<Peer<ClientSide>, ErrorObject> {
    let peer = connect(servers, server).await?;
    Ok(servers.on_behalf(server, peer, context).await?)
}

async fn connect(servers: &Servers, server: usize) -> Result<Peer<ClientSide>, ErrorObject> {
    let name = servers.clients.at(server).map_or("", |(name, _)| name);
    let connected = servers.clients.connect_in_time(server).await;
    connected.map_err(|error| internal_error(format!("the server {name:?} can't be reached: {error}")))
}

impl GatewayHandler {
    /// Like [`reach`], with a time limit for the messages to the server too, for a request that any server may answer: a
    /// server that hangs must not keep the request from the others.
    async fn reach_in_time(
        &self,
        servers: &Servers,
        server: usize,
        context: &Context<ServerSide>,
    ) -> Result<Peer<ClientSide>, ErrorObject> {
        let peer = connect(servers, server).await?;
        let limit = self.0.gateway.time_limit;
        let reached = timeout(limit, servers.on_behalf(server, peer, context)).await;
        Ok(reached.unwrap_or(Err(CallError::TimedOut(limit)))?)
    }

    /// Passes a request on to its server, if the policy allows it.
    pub async fn forward(
        &self,
        servers: &Servers,
        server: usize,
        request: ClientRequest,
        context: &Context<ServerSide>,
    ) -> Result<ServerResult, ErrorObject> {
        let gateway = &self.0.gateway;
        let name = servers.clients.at(server).map_or("", |(name, _)| name);
        let mut reporting = Reporting {
            observer: gateway.observer.as_ref(),
            server: name,
            method: request.method().to_owned(),
            target: target(&request).map(str::to_owned),
            begun: Instant::now(),
            outcome: Outcome::Cancelled,
        };
        let routed = Routed { server: name, context };
        let mut result = self.decide(servers, server, (&reporting.method, request), routed).await;
        reporting.outcome = Outcome::of(&result);
        if let Ok(result) = &mut result {
            servers.clients.rename_links(server, result).await;
        }
        result
    }

    async fn decide(
        &self,
        servers: &Servers,
        server: usize,
        (method, mut request): (&str, ClientRequest),
        routed: Routed<'_>,
    ) -> Result<ServerResult, ErrorObject> {
        let Inner {
            policy,
            drops_undeclared,
            ..
        } = &*self.0.gateway;
        if *drops_undeclared {
            request = declared_request(&request)?;
        }
        if let Some(policy) = policy {
            policy.request(routed, &mut request).await?;
        }
        let peer = reach(servers, server, routed.context).await?;
        if let Some(server) = self.0.gateway.servers.get(server) {
            server.works();
        }
        let _caller = servers.callers.get(server).map(|callers| callers.add(routed.context));
        let mut result = call(peer, request, routed.context).await?;
        if *drops_undeclared {
            result = declared_result(method, result)?;
        }
        if let Some(policy) = policy {
            policy.result(routed, &mut result).await?;
        }
        Ok(result)
    }

    /// Reads a resource that no server lists: from the server that its URI names, or the first that has it. Each server
    /// has the time limit; those that exceeded it with an earlier read are last.
    async fn read_of_any(
        &self,
        servers: &Arc<Servers>,
        request: hub::ReadResourceRequest,
        context: &Context<ServerSide>,
    ) -> Result<ServerResult, ErrorObject> {
        let uri = &request.params.uri;
        let mut refusal = ErrorObject::new(hub::error_code::RESOURCE_NOT_FOUND, format!("no server has {uri}"));
        let mut candidates = servers.clients.resource_candidates(uri);
        candidates.sort_by_key(|(server, _)| servers.responsiveness(*server, |kind| &kind.reads).is_exceeded());
        for (server, own) in candidates {
            let mut read = request.clone();
            read.params.uri.clone_from(&own);
            let (handler, of, context) = (Self(Arc::clone(&self.0)), Arc::clone(servers), context.clone());
            let reading = async move { Ok(handler.forward(&of, server, read.into(), &context).await) };
            let limit = self.0.gateway.time_limit;
            match servers.in_time(server, |kind| &kind.reads, limit, reading).await {
                Ok(Ok(result)) => {
                    servers.clients.found_resource(uri, server, own);
                    return Ok(result);
                }
                Ok(Err(error)) => refusal = error,
                Err(error) => refusal = internal_error(error),
            }
        }
        Err(refusal)
    }

    /// Returns the items of a page, and the cursor of the next page. A list with several pages is sorted by name, so
    /// that no item is skipped or repeated when the list changes between two pages.
    fn page<T: Clone>(
        &self,
        list: Merged<T>,
        params: &hub::PaginatedRequestParams,
        name: impl Fn(&T) -> &String,
    ) -> Result<(Vec<T>, Option<String>), ErrorObject> {
        for server in &self.0.gateway.servers {
            match list.failures.iter().find(|failure| failure.server == server.name) {
                Some(failure) => server.fails(&failure.error),
                None => server.works(),
            }
        }
        let (items, size) = (list.items, self.0.gateway.page_size);
        if params.cursor.is_none() && items.len() <= size {
            return Ok((items, None));
        }
        let items: BTreeMap<String, T> = items.into_iter().map(|item| (name(&item).clone(), item)).collect();
        page(&items, params, size, |item| Some(item.clone()))
    }
}

/// Calls a server, and reports the progress of the call.
async fn call(
    mut peer: Peer<ClientSide>,
    request: ClientRequest,
    context: &Context<ServerSide>,
) -> Result<ServerResult, ErrorObject> {
    let (sender, mut progress) = mpsc::channel(64);
    if context.wants_progress() {
        peer = peer.with_progress(sender);
    }
    let state = Arc::clone(peer.state());
    let called = async move { peer.call(request).await };
    let result = context.with_progress_of(called, &mut progress).await;
    // Notifications that came before the result are passed on before it.
    let handled = state.unhandled.join();
    handled.wait_turn().await;
    Ok(result?)
}

/// Returns the tool, prompt or resource of a request.
fn target(request: &ClientRequest) -> Option<&str> {
    match request {
        ClientRequest::CallTool(request) => Some(&request.params.name),
        ClientRequest::GetPrompt(request) => Some(&request.params.name),
        ClientRequest::ReadResource(request) => Some(&request.params.uri),
        _ => None,
    }
}

pub fn unknown(what: &str, name: &str) -> ErrorObject {
    invalid_params(format!("Unknown {what}: {name}"))
}
