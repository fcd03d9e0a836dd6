//! Sessions: negotiation, what is in flight, and the end.

mod answer;
pub(crate) mod budget;
mod call;
mod edit;
mod engine;
mod gates;
mod handler;
mod hearing;
mod message;
mod reading;
mod request;
pub(crate) mod shared;
mod strays;
mod tolerance;

use std::sync::Arc;

use mcp_adapters::handlers::{ClientHandler, ServerHandler};
use mcp_adapters::{accept, hub};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use self::engine::Engine;
use self::handler::{Handler, OfClient, OfServer};
use self::request::Welcome;
use self::shared::Shared;

pub(crate) use self::handler::Boxed;
use crate::context::Context;
use crate::error::ConnectError;
use crate::options::Options;
use crate::peer::{Peer, PeerInfo};
use crate::side::{ClientSide, ServerSide, Side};
use crate::transport::{Purpose, Transport};

/// A session of a server.
pub type ServerSession = Session<ServerSide>;
/// A session of a client.
pub type ClientSession = Session<ClientSide>;

/// A session with a peer. It goes on when this is dropped; [`Session::close`] ends it.
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

    /// Ends the session: nothing new is taken on, and what is in flight is answered.
    pub async fn close(self) {
        self.closing.cancel();
        self.ended().await;
    }

    fn begin(
        shared: Arc<Shared<S>>,
        handler: Arc<dyn Handler<S>>,
        welcome: Option<Welcome>,
        receiver: impl crate::transport::Receiver,
    ) -> Self {
        let closing = CancellationToken::new();
        let engine = Engine::run(Arc::clone(&shared), handler, welcome, receiver, closing.clone());
        Self {
            peer: Peer::new(shared, None),
            closing,
            task: tokio::spawn(engine),
        }
    }
}

/// Serves a client.
///
/// `info` and `capabilities` are what the client is told; a request whose capability isn't among them is answered with
/// "method not found" before the handler sees it.
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
    let own = serde_json::to_value(&capabilities).unwrap_or_default();
    let welcome = Welcome {
        implementation: info,
        capabilities,
        instructions,
    };
    let (sender, receiver) = transport.split();
    let first = latest(&options).unwrap_or(mcp_adapters::Revision::HUB);
    let shared = Arc::new(Shared::new(Box::new(sender), options, own, first));
    Session::begin(shared, Arc::new(OfServer(handler)), Some(welcome), receiver)
}

/// Begins a session with a server: asks for the latest supported revision, and speaks the one that the server answers.
///
/// # Errors
/// When the server doesn't answer, or with a revision that isn't supported.
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
    let first = latest(&options).ok_or(ConnectError::NoRevision)?;
    let supported = options.supported.clone();
    let own = serde_json::to_value(&capabilities).unwrap_or_default();
    let (sender, receiver) = transport.split();
    let shared = Arc::new(Shared::new(Box::new(sender), options, own, first));
    let session = Session::begin(Arc::clone(&shared), Arc::new(OfClient(handler)), None, receiver);
    // Whoever no longer waits for the session has none.
    let given_up = session.closing.clone().drop_guard();
    match introduce(&shared, info, capabilities, &supported).await {
        Ok(()) => {
            given_up.disarm();
            Ok(session)
        }
        Err(error) => {
            session.close().await;
            Err(error)
        }
    }
}

async fn introduce(
    shared: &Arc<Shared<ClientSide>>,
    info: hub::Implementation,
    capabilities: hub::ClientCapabilities,
    supported: &[mcp_adapters::Revision],
) -> Result<(), ConnectError> {
    let params = hub::InitializeRequestParams::new(shared.spoken().as_str(), capabilities, info);
    let request = hub::InitializeRequest::new(params);
    let result = match shared.call(request.into(), Purpose::Own, None).await? {
        hub::ServerResult::Initialize(result) => result,
        _ => return Err(crate::error::CallError::InvalidResult("no answer to `initialize`".to_owned()).into()),
    };
    let revision = accept(&result.protocol_version, supported)?;
    let info = PeerInfo {
        implementation: result.server_info,
        capabilities: serde_json::to_value(&result.capabilities).unwrap_or_default(),
        instructions: result.instructions,
    };
    shared.negotiated(revision, info);
    let initialized = hub::InitializedNotification::default();
    shared.tell(initialized.into(), Purpose::Own).await?;
    Ok(())
}

fn latest(options: &Options) -> Option<mcp_adapters::Revision> {
    options.supported.iter().max().copied()
}
