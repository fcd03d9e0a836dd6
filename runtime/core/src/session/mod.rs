//! Sessions: their start, calls and handlers, and their end.

mod cache;
mod call;
mod capabilities;
mod changes;
mod client;
mod connect;
mod context;
pub mod discovery;
mod engine;
mod era_detection;
mod erased;
mod exchange;
mod extension_events;
mod handler;
mod handshake;
mod ignored;
mod immediate_handlers;
mod incoming;
mod input_requests;
mod json_edit;
mod known_clients;
mod lifecycle;
mod listen;
mod negotiated;
mod notifications;
mod ordered_queue;
mod pending;
mod relay;
mod request;
mod responder;
mod response;
mod sending;
mod server;
mod state;
mod subscriptions;
mod tolerance;
mod unreadable;
mod validation;
mod warning_limit;

use std::sync::Arc;

use mcp_adapters::{Revision, hub};
use mcp_runtime_util::task;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use self::discovery::Discovery;
use self::engine::Engine;
use self::erased::DynReceiver;
use self::notifications::NotificationQueue;
use self::state::EndGuard;
use crate::era::Era;
use crate::message::{Intake, Transport};
use crate::options::Options;
use crate::side::{ClientSide, ServerSide, Side};

pub use self::capabilities::{missing as missing_capability, with_extra};
pub use self::changes::Changes;
pub use self::client::is_accepted;
pub use self::connect::{connect, connect_by_handshake, connect_with};
pub use self::context::{Context, Peer, object};
pub use self::erased::{DynConnector, DynTransport};
pub use self::exchange::{Exchange, Inbox, connect_by};
pub use self::extension_events::ExtensionEvents;
pub use self::handler::{
    Extending, Handler, HandlerResult, Handling, Layer, Layered, Middleware, Next, RawAnswer, RawMessage, Relay,
};
pub use self::handshake::ClientInfo;
pub use self::ignored::not_a_message;
pub use self::json_edit::set_member;
pub use self::negotiated::{Negotiated, PeerInfo, Progress, log_level};
pub use self::ordered_queue::{OrderedQueue, ReservedTicket, Ticket};
pub use self::responder::Responder;
pub use self::server::{Server, ServerInfo};
pub use self::state::SessionState;
pub use self::subscriptions::{Shared, Subscriptions};
pub use self::tolerance::{read_tolerantly, tolerated};

/// A session of a server.
pub type ServerSession = Session<ServerSide>;
/// A session of a client.
pub type ClientSession = Session<ClientSide>;

/// A session with a peer. Dropping this doesn't end the session; [`Session::close`] does.
#[derive(Debug)]
pub struct Session<S: Side> {
    peer: Peer<S>,
    closing: CancellationToken,
    /// Cancelled when no task of the session runs any more.
    done: CancellationToken,
}

impl ClientSession {
    /// Returns the discovery of the server, for the next connection to it.
    #[must_use]
    pub fn discovery(&self) -> Discovery {
        Discovery::of(self.peer.negotiated())
    }
}

impl<S: Side> Session<S> {
    /// Returns a handle to the peer.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// Whether the session has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.peer.state.ended.is_cancelled()
    }

    /// Waits until one of the sides has ended the session; returns immediately if it has already ended. Several tasks
    /// can wait.
    pub async fn closed(&self) {
        self.peer.state.ended.cancelled().await;
    }

    /// Waits until the session has ended and its task has finished.
    pub async fn ended(self) {
        self.done.cancelled().await;
    }

    /// Returns a token; cancelling it ends the session.
    #[doc(hidden)]
    pub fn closing_token(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Ends the session: new requests are refused, and those in flight get their responses.
    pub async fn close(self) {
        self.closing.cancel();
        self.ended().await;
    }

    /// Creates a session without a task of its own.
    fn without_task(state: Arc<SessionState<S>>) -> Self {
        let closing = state.ended.clone();
        Self {
            peer: Peer::new(state),
            done: closing.clone(),
            closing,
        }
    }

    fn start(
        state: Arc<SessionState<S>>,
        handler: Layered<S>,
        server: Option<Arc<Server>>,
        mut receiver: Box<dyn DynReceiver>,
    ) -> Self {
        let (closing, done) = (CancellationToken::new(), CancellationToken::new());
        let span = state.span.clone();
        let notifications = NotificationQueue::new(&state.options.limits);
        let engine = Engine::new(Arc::clone(&state), handler, server, notifications);
        receiver.begin(Intake::new(&engine));
        // A transport that panics ends the session as well.
        let guards = (EndGuard(Arc::clone(&state)), done.clone().drop_guard());
        // Boxed, because the future below would contain it twice.
        let running = task(engine.run(receiver, closing.clone()));
        let running = async move {
            let _guards = guards;
            running.await;
        };
        tokio::spawn(task(running.instrument(span)));
        Self {
            peer: Peer::new(state),
            closing,
            done,
        }
    }
}

/// A server that has a session with each of its clients, such as the router of `mcp-runtime-router`.
pub trait ServeClient: Clone + Send + Sync + 'static {
    /// Starts a session with a client.
    fn serve_client(self, options: Options, transport: impl Transport) -> ServerSession;

    /// Returns the same server as a function that answers requests of stateless revisions one by one.
    fn responder(self, options: Options) -> Responder;
}

/// Starts a session with a client.
///
/// The client gets `info`, `capabilities` and `instructions` in the handshake or from a discovery. A request that needs
/// a capability that isn't declared gets the error "method not found" without reaching the handler.
pub fn serve(
    handler: impl Into<Layered<ServerSide>>,
    info: hub::Implementation,
    capabilities: hub::ServerCapabilities,
    instructions: Option<String>,
    options: Options,
    transport: impl Transport,
) -> ServerSession {
    let server = ServerInfo {
        implementation: info,
        capabilities,
        instructions,
        extra_capabilities: Vec::new(),
        agreement: None,
    };
    let subscriptions = Subscriptions::new(&options.limits, None);
    start_server(
        handler.into(),
        Arc::new(server.into()),
        subscriptions,
        options,
        transport.into(),
    )
}

/// Starts a session with a client. `subscriptions` can be shared with the caller.
pub fn start_server(
    handler: Layered<ServerSide>,
    mut server: Arc<Server>,
    subscriptions: Arc<Subscriptions>,
    options: Options,
    DynTransport { sender, receiver, .. }: DynTransport,
) -> ServerSession {
    if !sender.notifies() {
        server = server.without_changes();
    }
    let own_capabilities = Arc::clone(&server.capabilities);
    let latest = options
        .latest(Era::Handshake)
        .or_else(|| options.latest(Era::Stateless));
    let latest = latest.unwrap_or(Revision::HUB);
    let state = SessionState::new(sender, options, own_capabilities, latest, subscriptions);
    Session::start(Arc::new(state), handler, Some(server), receiver)
}
