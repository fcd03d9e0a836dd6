//! Sessions: the handshake, calls and handlers, and the end.

mod answering;
mod asking;
mod cache;
mod call;
mod capabilities;
mod changes;
mod clock;
mod context;
mod engine;
mod errors;
mod extra_capabilities;
mod handler;
mod handshake;
mod ignored;
mod incoming;
mod info;
mod internal;
mod json_edit;
mod listen;
mod log_level;
mod middleware;
mod negotiated;
mod notifications;
mod notify;
mod ordered_queue;
mod pages;
mod peer;
mod pending;
mod probe;
mod prompt_handlers;
mod relay;
mod relayed;
mod request;
mod response;
mod run;
mod sender;
mod spans;
mod state;
mod subscriptions;
mod tolerance;
mod validation;

use std::sync::Arc;

use mcp_adapters::{Revision, hub};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument;

use self::engine::Engine;
use self::extra_capabilities::without_changes;
use self::notifications::NotificationQueue;
use self::probe::{Finding, stateless_instead};
use crate::era::{Era, with_era};
use crate::error::{CallError, ConnectError};
use crate::message::{Receiver, Runner, Sender as _, Transport};
use crate::options::Options;
use crate::side::{ClientSide, ServerSide, Side};

pub use self::asking::answer;
#[cfg(feature = "router")]
pub(crate) use self::capabilities::missing as missing_capability;
pub use self::changes::Changes;
pub use self::context::Context;
pub use self::engine::ServerInfo;
pub use self::extra_capabilities::with_extra;
pub use self::handler::{Handler, HandlerResult, Handling};
pub use self::handshake::ClientInfo;
pub use self::info::{PeerInfo, Progress};
#[cfg(feature = "router")]
pub(crate) use self::middleware::Layer;
pub use self::middleware::{Layered, Middleware, Next};
pub use self::peer::Peer;
pub use self::state::SessionState;
#[cfg(feature = "router")]
pub(crate) use self::subscriptions::Shared;
pub use self::subscriptions::Subscriptions;
pub use self::{
    json_edit::set_member,
    log_level::log_level,
    negotiated::Negotiated,
    ordered_queue::{OrderedQueue, ReservedTicket, Ticket},
    relay::{RawAnswer, RawMessage, Relay},
    tolerance::tolerated,
};

/// A session of a server.
pub type ServerSession = Session<ServerSide>;
/// A session of a client.
pub type ClientSession = Session<ClientSide>;

/// A session with a peer. Dropping this doesn't end the session; [`Session::close`] does.
#[derive(Debug)]
pub struct Session<S: Side> {
    peer: Peer<S>,
    closing: CancellationToken,
    /// Cancelled when nothing of the session runs any more.
    done: CancellationToken,
}

impl<S: Side> Session<S> {
    /// The peer.
    #[must_use]
    pub fn peer(&self) -> &Peer<S> {
        &self.peer
    }

    /// Whether the session has ended.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.peer.state.ended.is_cancelled()
    }

    /// Waits until the session has ended, whichever side ends it; at once if it has. Several tasks may wait.
    pub async fn closed(&self) {
        self.peer.state.ended.cancelled().await;
    }

    /// Waits until the session has ended.
    pub async fn ended(self) {
        self.done.cancelled().await;
    }

    /// Cancelled to end the session.
    #[doc(hidden)]
    pub fn closing_token(&self) -> CancellationToken {
        self.closing.clone()
    }

    /// Ends the session: new requests are refused, and those in flight get their responses.
    pub async fn close(self) {
        self.closing.cancel();
        self.ended().await;
    }

    fn start(
        state: Arc<SessionState<S>>,
        handler: Layered<S>,
        server: Option<ServerInfo>,
        receiver: impl Receiver,
        runner: Option<Runner>,
    ) -> Self {
        let (closing, done) = (CancellationToken::new(), CancellationToken::new());
        let span = state.span.clone();
        let notifications = NotificationQueue::new(&state.options.limits);
        let engine = Engine::new(Arc::clone(&state), handler, server, notifications);
        // A transport that panics, and a runner that drops the session, end it as well.
        let guards = (EndGuard(Arc::clone(&state)), done.clone().drop_guard());
        let running = engine.run(receiver, closing.clone());
        let running = async move {
            let _guards = guards;
            running.await;
        };
        let running = Box::pin(running.instrument(span));
        match runner {
            Some(run) => run(running),
            None => {
                tokio::spawn(running);
            }
        }
        Self {
            peer: Peer::new(state),
            closing,
            done,
        }
    }
}

/// Ends a session when it is dropped.
struct EndGuard<S: Side>(Arc<SessionState<S>>);

impl<S: Side> Drop for EndGuard<S> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Starts a session with a client.
///
/// The client gets `info`, `capabilities` and `instructions` in the handshake or from a discovery. A request that needs another capability is answered with
/// "method not found", and the handler doesn't get it.
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
    start_server(handler.into(), server, subscriptions, options, transport)
}

/// Serves a client, whose subscriptions others know as well.
pub fn start_server(
    handler: Layered<ServerSide>,
    mut server: ServerInfo,
    subscriptions: Arc<Subscriptions>,
    options: Options,
    mut transport: impl Transport,
) -> ServerSession {
    let runner = transport.runner();
    let (sender, receiver) = transport.split();
    if !sender.notifies() {
        server.capabilities = without_changes(&server.capabilities);
    }
    let extra = server.extra_capabilities.iter().map(|(_, capabilities)| capabilities);
    let own_capabilities = serde_json::to_value(with_extra(&server.capabilities, extra)).unwrap_or_default();
    let latest = latest(&options, Era::Handshake).or_else(|| latest(&options, Era::Stateless));
    let latest = latest.unwrap_or(Revision::HUB);
    let state = SessionState::new(Box::new(sender), options, own_capabilities, latest, subscriptions);
    Session::start(Arc::new(state), handler, Some(server), receiver, runner)
}

/// Starts a session with a server of either era.
///
/// The handler answers the requests of the server; `()` answers none. The server gets `info` and `capabilities` in the handshake, or
/// with each request where there is no handshake.
///
/// If the options support revisions of both eras, the client first sends the discovery of the latest stateless revision, and
/// learns the era from the answer. A valid result, or an error that only stateless servers give, begins a stateless session. Any other
/// error, a response without an answer, silence for [`Limits::probe`](crate::Limits::probe), and the end of a child process mean that
/// the server has a handshake. Failures that say nothing of the era,
/// such as one of authorization, are errors. If a server refuses the handshake and names a stateless revision, the client tries
/// the discovery once more. With [`Options::era`], the era is given. The discovery of a server that may only be stateless has the time
/// of any other call, and what else it answers is the error.
///
/// In a handshake, the client requests the latest supported revision, and uses the one that the server answers with.
///
/// # Errors
/// When the server doesn't answer, or answers with a revision that isn't supported.
pub async fn connect(
    handler: impl Into<Layered<ClientSide>>,
    info: hub::Implementation,
    capabilities: hub::ClientCapabilities,
    options: Options,
    transport: impl Transport,
) -> Result<ClientSession, ConnectError> {
    let info = ClientInfo {
        implementation: info,
        capabilities,
        begin: None,
        log_level: options.log_level.clone(),
    };
    connect_with(handler.into(), info, options, transport).await
}

/// Starts a session with a server of either era, on behalf of any handler.
pub async fn connect_with<T: Transport>(
    handler: Layered<ClientSide>,
    info: ClientInfo,
    options: Options,
    mut transport: T,
) -> Result<ClientSession, ConnectError> {
    let handshake = latest(&options, Era::Handshake);
    let stateless = latest(&options, Era::Stateless);
    let restart = transport.restart();
    match (handshake, stateless) {
        (None, None) => Err(ConnectError::NoRevision),
        (Some(revision), None) => {
            let attempt = Attempt::start(&handler, &info, &options, transport, revision);
            let agreed = attempt.state.handshake(revision, &info).await;
            attempt.end(agreed).await
        }
        (handshake, Some(revision)) => {
            let attempt = Attempt::start(&handler, &info, &options, transport, revision);
            match (attempt.state.probe(revision, &info).await, handshake) {
                (Finding::Stateless(revision, hello), _) => {
                    let agreed = attempt.state.agree_stateless(revision, &info, *hello);
                    attempt.end(agreed).await
                }
                (Finding::Handshake(_), Some(revision)) => attempt.handshake(revision, &info).await,
                (Finding::HandshakeAnew(error), Some(revision)) => {
                    let ended = attempt.end(Err(error)).await;
                    let Some(restart) = restart else { return ended };
                    let transport = restart().map_err(CallError::from)?;
                    let attempt = Attempt::start(&handler, &info, &options, transport, revision);
                    attempt.handshake(revision, &info).await
                }
                (Finding::Failed(error) | Finding::Handshake(error) | Finding::HandshakeAnew(error), _) => {
                    attempt.end(Err(error)).await
                }
                (Finding::AskAgain(_), _) => attempt.end(Err(ConnectError::NoRevision)).await,
            }
        }
    }
}

/// Starts a session with a server on behalf of a client that has a handshake: in its revision if the server has that. The server is
/// asked what it is only if it refuses the handshake.
pub async fn connect_by_handshake<T: Transport>(
    handler: Layered<ClientSide>,
    info: ClientInfo,
    options: Options,
    mut transport: T,
    revision: Revision,
) -> Result<ClientSession, ConnectError> {
    let restart = transport.restart();
    let attempt = Attempt::start(&handler, &info, &options, transport, revision);
    let refusal = match attempt.state.handshake(revision, &info).await {
        Err(ConnectError::Call(error)) => error,
        agreed => return attempt.end(agreed).await,
    };
    let Some(stateless) = latest(&options, Era::Stateless) else {
        return attempt.end(Err(refusal.into())).await;
    };
    let attempt = match (&refusal, restart) {
        (CallError::Exited(_) | CallError::Closed, Some(restart)) => {
            let _ = attempt.end(Err(CallError::Closed.into())).await;
            let transport = restart().map_err(CallError::from)?;
            Attempt::start(&handler, &info, &options, transport, stateless)
        }
        _ => attempt,
    };
    match attempt.state.probe(stateless, &info).await {
        Finding::Stateless(revision, hello) => {
            let agreed = attempt.state.agree_stateless(revision, &info, *hello);
            attempt.end(agreed).await
        }
        _ => attempt.end(Err(refusal.into())).await,
    }
}

/// A session that has not begun. If it is dropped, it ends.
struct Attempt {
    state: Arc<SessionState<ClientSide>>,
    session: ClientSession,
    close_on_drop: DropGuard,
}

impl Attempt {
    fn start(
        handler: &Layered<ClientSide>,
        info: &ClientInfo,
        options: &Options,
        mut transport: impl Transport,
        revision: Revision,
    ) -> Self {
        let runner = transport.runner();
        let own_capabilities = serde_json::to_value(&info.capabilities).unwrap_or_default();
        let (sender, receiver) = transport.split();
        let subscriptions = Subscriptions::new(&options.limits, None);
        let state = SessionState::new(
            Box::new(sender),
            options.clone(),
            own_capabilities,
            revision,
            subscriptions,
        );
        let state = Arc::new(state);
        let session = Session::start(Arc::clone(&state), handler.clone(), None, receiver, runner);
        let close_on_drop = session.closing.clone().drop_guard();
        Self {
            state,
            session,
            close_on_drop,
        }
    }

    /// Begins a session with a server that has a handshake by all that is known. One that names a stateless revision in its
    /// refusal is asked again what it is.
    async fn handshake(self, revision: Revision, info: &ClientInfo) -> Result<ClientSession, ConnectError> {
        let mut agreed = self.state.handshake(revision, info).await;
        let supported = &self.state.options.supported;
        let stateless = agreed
            .as_ref()
            .err()
            .and_then(|error| stateless_instead(supported, error));
        if let Some(revision) = stateless
            && let Finding::Stateless(revision, hello) = self.state.probe(revision, info).await
        {
            agreed = self.state.agree_stateless(revision, info, *hello);
        }
        self.end(agreed).await
    }

    /// The session, if it has begun.
    async fn end(self, begun: Result<(), ConnectError>) -> Result<ClientSession, ConnectError> {
        match begun {
            Ok(()) => {
                self.close_on_drop.disarm();
                Ok(self.session)
            }
            Err(error) => {
                self.session.close().await;
                Err(error)
            }
        }
    }
}

/// The latest revision of an era that may be used.
fn latest(options: &Options, era: Era) -> Option<Revision> {
    let is_excluded = options.era.is_some_and(|only| only != era);
    let revisions = with_era(&options.supported, era).into_iter();
    revisions.filter(|_| !is_excluded).max()
}
