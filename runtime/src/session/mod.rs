//! Sessions: the handshake, calls and handlers, and the end.

mod call;
mod capabilities;
mod context;
mod engine;
mod handler;
mod handshake;
mod ignored;
mod incoming;
mod info;
mod json_edit;
mod notifications;
mod notify;
mod pages;
mod peer;
mod pending;
mod request;
mod response;
mod run;
mod sender;
mod state;
mod tolerance;
mod validation;

use std::sync::Arc;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::{Revision, hub};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::engine::{Engine, ServerInfo};
use self::handler::{ForClient, ForServer, Handler};
use self::notifications::NotificationQueue;
use self::state::SessionState;
use crate::error::ConnectError;
use crate::message::{Receiver, Transport};
use crate::options::Options;
use crate::side::{ClientSide, ServerSide, Side};

pub use self::context::Context;
pub use self::info::{PeerInfo, Progress};
pub use self::peer::Peer;

/// A session of a server.
pub type ServerSession = Session<ServerSide>;
/// A session of a client.
pub type ClientSession = Session<ClientSide>;

/// A session with a peer. Dropping this doesn't end the session; [`Session::close`] does.
#[derive(Debug)]
pub struct Session<S: Side> {
    peer: Peer<S>,
    closing: CancellationToken,
    task: JoinHandle<()>,
}

impl<S: Side> Session<S> {
    /// The peer.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// Waits until the session has ended.
    pub async fn ended(self) {
        // The task panics only if a transport does, and then the session has ended as well.
        let _ = self.task.await;
    }

    /// Ends the session: new requests are refused, and those in flight get their responses.
    pub async fn close(self) {
        self.closing.cancel();
        self.ended().await;
    }

    fn start(
        state: Arc<SessionState<S>>,
        handler: Arc<dyn Handler<S>>,
        server: Option<ServerInfo>,
        receiver: impl Receiver,
    ) -> Self {
        let closing = CancellationToken::new();
        let notifications = NotificationQueue::new(&state.options.limits);
        let engine = Engine::new(Arc::clone(&state), handler, server, notifications);
        Self {
            peer: Peer::new(state, None),
            task: tokio::spawn(engine.run(receiver, closing.clone())),
            closing,
        }
    }
}

/// Serves a client.
///
/// The client gets `info` and `capabilities` in the handshake. A request that needs another capability is answered with
/// "method not found", and the handler doesn't get it.
pub fn serve<H>(
    handler: H,
    info: hub::Implementation,
    capabilities: hub::ServerCapabilities,
    instructions: Option<String>,
    options: Options,
    transport: impl Transport,
) -> ServerSession
where
    H: ServerHandler<Context<ServerSide>> + 'static,
{
    let options = options.negotiable();
    let own_capabilities = serde_json::to_value(&capabilities).unwrap_or_default();
    let server = ServerInfo {
        implementation: info,
        capabilities,
        instructions,
    };
    let (sender, receiver) = transport.split();
    let latest = latest(&options).unwrap_or(Revision::HUB);
    let state = SessionState::new(Box::new(sender), options, own_capabilities, latest);
    Session::start(Arc::new(state), Arc::new(ForServer(handler)), Some(server), receiver)
}

/// Starts a session with a server: requests the latest supported revision, and uses the one that the server answers with.
///
/// # Errors
/// When the server doesn't answer, or answers with a revision that isn't supported.
pub async fn connect<H>(
    handler: H,
    info: hub::Implementation,
    capabilities: hub::ClientCapabilities,
    options: Options,
    transport: impl Transport,
) -> Result<ClientSession, ConnectError>
where
    H: ClientHandler<Context<ClientSide>> + 'static,
{
    let options = options.negotiable();
    let latest = latest(&options).ok_or(ConnectError::NoRevision)?;
    let supported = options.supported.clone();
    let own_capabilities = serde_json::to_value(&capabilities).unwrap_or_default();
    let (sender, receiver) = transport.split();
    let state = SessionState::new(Box::new(sender), options, own_capabilities, latest);
    let state = Arc::new(state);
    let session = Session::start(Arc::clone(&state), Arc::new(ForClient(handler)), None, receiver);
    // If this future is dropped, the session ends.
    let close_on_drop = session.closing.clone().drop_guard();
    match state.initialize(info, capabilities, &supported).await {
        Ok(()) => {
            close_on_drop.disarm();
            Ok(session)
        }
        Err(error) => {
            session.close().await;
            Err(error)
        }
    }
}

fn latest(options: &Options) -> Option<Revision> {
    options.supported.iter().max().copied()
}
