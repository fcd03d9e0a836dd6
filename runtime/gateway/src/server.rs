//! The side of a gateway that is the client of its servers, on behalf of one of its clients.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::handlers::ClientHandler;
use mcp_adapters::hub::{self, InputRequest, InputResponse, ServerNotification};
use mcp_adapters::mcp_wire::{ErrorObject, RawJson, UnknownMethod};
use mcp_runtime_bridge::{Bridge, ClientId};
use mcp_runtime_clients::Responsiveness;
use mcp_runtime_core::internal::{SessionState, internal_error};
use mcp_runtime_core::transport::{ChannelTransport, Connector, TransportError, channel};
use mcp_runtime_core::{Capable, ClientSide, Context, Peer, ServerSide};
use mcp_runtime_util::Mutex;
use tokio::sync::watch;
use tokio::time::sleep;

/// The maximum number of messages that wait in each direction of a connection within the process.
const CAPACITY: usize = 64;

/// A server of the gateway.
#[derive(Clone)]
pub struct GatewayServer {
    pub name: String,
    pub bridge: Bridge,
    /// Whether the server can't be used. This is logged as a warning only once, because each client finds it out
    /// separately, some with each list.
    is_failing: Arc<AtomicBool>,
    /// Whether the server answers stateless clients in time, which have no session to remember it.
    pub responsiveness: ByRequest,
}

/// Whether a server answers in time. One that answers lists may still hang when it reads a resource, and many servers
/// never answer a method that they don't have.
#[derive(Clone, Default)]
pub struct ByRequest {
    pub lists: Responsiveness,
    /// Reads of resources that no server lists.
    pub reads: Responsiveness,
    /// Methods that the protocol doesn't declare.
    pub custom: Responsiveness,
}

impl GatewayServer {
    pub fn new(name: String, bridge: Bridge) -> Self {
        Self {
            name,
            bridge,
            is_failing: Arc::default(),
            responsiveness: ByRequest::default(),
        }
    }

    /// Records that the server can be used.
    pub fn works(&self) {
        self.is_failing.store(false, Ordering::Relaxed);
    }

    /// Logs that the server can't be used: as a warning the first time, and at debug level after that.
    pub fn fails(&self, error: &dyn std::fmt::Display) {
        let server = &self.name;
        match self.is_failing.swap(true, Ordering::Relaxed) {
            false => tracing::warn!(server, %error, "a server can't be used"),
            true => tracing::debug!(server, %error, "a server still can't be used"),
        }
    }
}

/// A connector to a server, on behalf of a client.
pub struct ThroughBridge {
    pub server: GatewayServer,
    pub client: ClientId,
}

impl Connector for ThroughBridge {
    type Transport = ChannelTransport;

    async fn connect(&self) -> Result<ChannelTransport, TransportError> {
        let (ours, theirs) = channel(CAPACITY);
        let (server, client) = (self.server.clone(), self.client.clone());
        tokio::spawn(async move {
            if let Err(error) = server.bridge.serve_for(client, theirs).await {
                server.fails(&error);
            }
        });
        Ok(ours)
    }
}

/// The client's requests that a server is handling. The server's messages belong to one of them.
#[derive(Default)]
pub struct Callers {
    requests: Mutex<(u64, BTreeMap<u64, Peer<ServerSide>>)>,
    /// The number of the server's requests that the client is answering.
    input_requests: watch::Sender<usize>,
}

/// A guard that removes a request when it is dropped.
pub struct CallerGuard(Arc<Callers>, u64);

impl Callers {
    pub fn add(self: &Arc<Self>, context: &Context<ServerSide>) -> CallerGuard {
        let peer = context.peer();
        // A handle that calls the client directly: the handler isn't run again to get input.
        let (state, negotiated) = (Arc::clone(peer.state()), Arc::clone(peer.negotiated()));
        let caller = Peer::of_message(state, context.request_id().cloned(), negotiated);
        let mut callers = self.requests.lock();
        let number = callers.0;
        callers.0 += 1;
        callers.1.insert(number, caller);
        CallerGuard(Arc::clone(self), number)
    }

    fn latest(&self) -> Option<Peer<ServerSide>> {
        let callers = self.requests.lock();
        callers.1.last_key_value().map(|(_, caller)| caller.clone())
    }

    /// Records that the client is answering a request of the server, until the guard is dropped.
    fn ask(self: &Arc<Self>) -> InputRequestGuard {
        self.input_requests.send_modify(|count| *count += 1);
        InputRequestGuard(Arc::clone(self))
    }

    /// Waits for the time in which the server alone delays its answer: it begins again after each request that the
    /// client has answered.
    pub fn expiry(&self, limit: Duration) -> impl Future<Output = ()> + Send + use<> {
        let mut input_requests = self.input_requests.subscribe();
        async move {
            // This ends when the session does.
            while input_requests.wait_for(|count| *count == 0).await.is_ok() {
                tokio::select! {
                    _ = input_requests.wait_for(|count| *count > 0) => {}
                    () = sleep(limit) => return,
                }
            }
        }
    }
}

struct InputRequestGuard(Arc<Callers>);

impl Drop for InputRequestGuard {
    fn drop(&mut self) {
        self.0.input_requests.send_modify(|count| *count -= 1);
    }
}

impl Drop for CallerGuard {
    fn drop(&mut self) {
        self.0.requests.lock().1.remove(&self.1);
    }
}

/// Passes the input requests and notifications of a server on to the client.
pub struct GatewayServerHandler {
    pub server: String,
    pub callers: Arc<Callers>,
    /// The capabilities of the client.
    pub capabilities: hub::ClientCapabilities,
    /// The session with the client.
    pub client: Weak<SessionState<ServerSide>>,
}

impl Capable for GatewayServerHandler {
    fn capabilities(&self) -> hub::ClientCapabilities {
        self.capabilities.clone()
    }
}

impl GatewayServerHandler {
    fn client(&self) -> Option<Peer<ServerSide>> {
        let session = || self.client.upgrade().map(Peer::new);
        self.callers.latest().or_else(session)
    }

    fn client_or_error(&self) -> Result<Peer<ServerSide>, ErrorObject> {
        self.client().ok_or_else(|| internal_error("there is no client"))
    }
}

impl ClientHandler<Context<ClientSide>> for GatewayServerHandler {
    async fn handle_request(
        &self,
        request: InputRequest,
        _: &Context<ClientSide>,
    ) -> Result<InputResponse, ErrorObject> {
        let _asking = self.callers.ask();
        Ok(self.client_or_error()?.call(request).await?)
    }

    async fn unknown_request(&self, request: UnknownMethod, _: &Context<ClientSide>) -> Result<RawJson, ErrorObject> {
        let _asking = self.callers.ask();
        Ok(self.client_or_error()?.call_unknown(request).await?)
    }

    async fn handle_notification(&self, notification: ServerNotification, _: &Context<ClientSide>) {
        let Some(client) = self.client() else { return };
        let notified = match notification {
            ServerNotification::LoggingMessage(mut message) => {
                message.params.logger = Some(logger(&self.server, message.params.logger.take()));
                client.notify(message.into()).await
            }
            ServerNotification::Unknown(notification) => client.notify_unknown(notification).await,
            // Progress belongs to a call, and changes belong to subscriptions.
            _ => return,
        };
        if let Err(error) = notified {
            tracing::debug!(server = self.server, %error, "a notification wasn't passed on");
        }
    }
}

/// Returns the logger name of a server's log messages for clients of the gateway.
fn logger(server: &str, logger: Option<String>) -> String {
    match logger {
        Some(logger) => format!("{server}.{logger}"),
        None => server.to_owned(),
    }
}
