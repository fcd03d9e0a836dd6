//! The session of a client with the gateway, and its sessions with the servers.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcp_adapters::{PeerTypes, Revision, hub};
use mcp_ext_tasks::EXTENSION;
use mcp_runtime_bridge::ClientId;
use mcp_runtime_clients::{Backoff, Clients, ReconnectingClient, Responsiveness};
use mcp_runtime_core::internal::{ClientInfo, Negotiated, SessionState, log_level};
use mcp_runtime_core::{
    CallError, Client, ClientSide, ConnectError, Context, Limits, Options, Peer, PeerInfo, ServerSide,
};
use mcp_runtime_util::Mutex;

use super::inner::Inner;
use super::server::{ByRequest, Callers, GatewayServerHandler, ThroughBridge};

/// The session of a client with the gateway.
pub struct GatewaySession {
    pub gateway: Arc<Inner>,
    client: ClientId,
    servers: OnceLock<Arc<Servers>>,
}

/// The sessions with the servers on behalf of a client.
pub struct Servers {
    pub clients: Clients<ThroughBridge>,
    /// The requests that each server is handling.
    pub callers: Vec<Arc<Callers>>,
    responsiveness: Vec<ByRequest>,
    /// The log level set on each server with sessions, and the session in which it was set.
    levels: Mutex<HashMap<usize, (usize, usize)>>,
}

impl GatewaySession {
    pub fn new(gateway: Arc<Inner>, client: ClientId) -> Arc<Self> {
        let servers = OnceLock::new();
        Arc::new(Self {
            gateway,
            client,
            servers,
        })
    }

    /// Returns the sessions on behalf of the client that has sent a message.
    pub fn servers(&self, context: &Context<ServerSide>) -> &Arc<Servers> {
        let peer = context.peer();
        self.servers_for(peer.negotiated(), peer.state())
    }

    /// Returns the sessions on behalf of a client, from its negotiated state.
    pub fn servers_for(&self, negotiated: &Negotiated, state: &Arc<SessionState<ServerSide>>) -> &Arc<Servers> {
        let begin = || self.begin(negotiated.revision, negotiated.info.as_ref(), state);
        self.servers.get_or_init(|| Arc::new(begin()))
    }

    /// Creates separate sessions with the servers, which connect when they are used.
    fn begin(&self, revision: Revision, client: Option<&PeerInfo>, state: &Arc<SessionState<ServerSide>>) -> Servers {
        let implementation = client.and_then(|client| client.implementation.clone());
        let implementation = implementation.unwrap_or_else(|| self.gateway.info.clone());
        let options = Options {
            supported: vec![revision],
            limits: Limits {
                // The client that waits for the response sets the timeout.
                call_timeout: Duration::MAX,
                call_timeout_max: Duration::MAX,
                ..Limits::default()
            },
            ..Options::default()
        };
        let callers: Vec<Arc<Callers>> = self.gateway.servers.iter().map(|_| Arc::default()).collect();
        let responsiveness = self.gateway.servers.iter().map(|server| match revision.is_stateless() {
            true => server.responsiveness.clone(),
            false => ByRequest::default(),
        });
        let responsiveness: Vec<_> = responsiveness.collect();
        let lists = responsiveness.iter().map(|by_request| &by_request.lists);
        let servers = self.gateway.servers.iter().zip(&callers).zip(lists);
        let servers = servers.map(|((server, callers), lists)| {
            let handler = GatewayServerHandler {
                server: server.name.clone(),
                callers: Arc::clone(callers),
                capabilities: client.map(forwarded_capabilities).unwrap_or_default(),
                client: Arc::downgrade(state),
            };
            let client = Client::new("", "")
                .info(implementation.clone())
                .options(options.clone());
            let through = ThroughBridge {
                server: server.clone(),
                client: self.client.clone(),
            };
            let backoff = Backoff::default().attempts(1);
            let client = ReconnectingClient::with_backoff(client.handler(handler), through, backoff);
            (server.name.clone(), client, lists.clone())
        });
        let clients = Clients::with_names(self.gateway.names.clone(), servers);
        Servers {
            clients: clients.time_limit(self.gateway.time_limit),
            callers,
            responsiveness,
            levels: Mutex::default(),
        }
    }

    /// Ends the sessions with the servers.
    pub async fn end(&self) {
        if let Some(servers) = self.servers.get() {
            servers.clients.close().await;
        }
    }
}

impl Servers {
    /// Returns whether a server answers one kind of request in time.
    pub fn responsiveness(&self, server: usize, kind: fn(&ByRequest) -> &Responsiveness) -> Responsiveness {
        self.responsiveness.get(server).map(kind).cloned().unwrap_or_default()
    }

    /// Waits for a server's answer until the limit, which doesn't count while the client answers requests of the server.
    pub async fn in_time<T: Send + 'static>(
        &self,
        server: usize,
        kind: fn(&ByRequest) -> &Responsiveness,
        limit: Duration,
        request: impl Future<Output = Result<T, ConnectError>> + Send + 'static,
    ) -> Result<T, ConnectError> {
        let callers = self.callers.get(server).cloned().unwrap_or_default();
        let responsiveness = self.responsiveness(server, kind);
        let client = self.clients.at(server).map(|(_, client)| client.clone());
        let request = async move {
            let answered = request.await;
            // The end of the session fails the request too, which may state that as an error response of its own.
            match client.is_some_and(|client| client.is_closed()) {
                true => Err(CallError::Closed.into()),
                false => answered,
            }
        };
        responsiveness.until(callers.expiry(limit), limit, request).await
    }

    /// Returns a handle of a server on behalf of a request, with the log level that the client wants.
    pub async fn on_behalf(
        &self,
        server: usize,
        peer: Peer<ClientSide>,
        context: &Context<ServerSide>,
    ) -> Result<Peer<ClientSide>, CallError> {
        let client = context.peer().negotiated();
        if !client.is_stateless() {
            self.set_level(server, &peer, context).await;
            return Ok(peer);
        }
        let info = client.info.as_ref();
        let unnamed = || hub::Implementation::new("unknown", "0");
        let info = ClientInfo {
            implementation: info
                .and_then(|info| info.implementation.clone())
                .unwrap_or_else(unnamed),
            capabilities: info.map(forwarded_capabilities).unwrap_or_default(),
            begin: None,
            log_level: client.log_severity.and_then(log_level),
        };
        let negotiated = Negotiated::clone(peer.negotiated());
        let negotiated = SessionState::stateless_negotiated(negotiated.revision, &info, negotiated)?;
        Ok(Peer::of_message(Arc::clone(peer.state()), None, Arc::new(negotiated)))
    }

    /// Sets the log level of a server with sessions to what the client has set.
    async fn set_level(&self, server: usize, peer: &Peer<ClientSide>, context: &Context<ServerSide>) {
        let severity = context.peer().state().log_severity.load(Ordering::Relaxed);
        let session = Arc::as_ptr(peer.state()) as usize;
        // A client that has set no level gets the messages that the server sends without one.
        let before = self.levels.lock().get(&server).copied();
        let before = before
            .filter(|(of, _)| *of == session)
            .map_or(0, |(_, severity)| severity);
        // If this fails, the next call tries again.
        if let Some(level) = log_level(severity).filter(|_| before != severity)
            && let Some(Ok(())) = peer.state().set_log_level(&level).await
        {
            self.levels.lock().insert(server, (session, severity));
        }
    }
}

/// Returns the capabilities of a client that servers get. They don't get the extension of tasks, because the gateway
/// couldn't find the server of a task: two servers can use the same id.
fn forwarded_capabilities(client: &PeerInfo) -> hub::ClientCapabilities {
    let mut capabilities = client.client_capabilities();
    if let Some(extensions) = &mut capabilities.extensions {
        extensions.remove(EXTENSION.id);
    }
    capabilities
}
