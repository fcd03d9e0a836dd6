//! The start of a session with a server: by a handshake, or by a discovery.

use std::sync::Arc;

use mcp_adapters::{Revision, ServerDescription, hub};
use tokio_util::sync::DropGuard;

use super::era_detection::{Finding, stateless_instead};
use super::erased::DynTransport;
use super::handler::Layered;
use super::handshake::ClientInfo;
use super::state::SessionState;
use super::subscriptions::Subscriptions;
use super::{ClientSession, Session};
use crate::era::Era;
use crate::error::{CallError, ConnectError};
use crate::message::{Transport, to_value};
use crate::options::Options;
use crate::side::ClientSide;

/// Starts a session with a server of either era.
///
/// The handler answers the requests of the server; `()` answers none. The server gets `info` and `capabilities` in the
/// handshake, or with each request if there is no handshake.
///
/// If the options support revisions of both eras, the client first sends the discovery request of the latest stateless
/// revision, and determines the era from the response. A valid result, or an error that only stateless servers send,
/// starts a stateless session. Any other error, an HTTP response without a JSON-RPC response, no response within
/// [`Limits::probe_timeout`](crate::Limits::probe_timeout), and the exit of a child process mean that the server has a
/// handshake. Failures that don't depend on the era, such as one of authorization, are returned as errors. If a server refuses the
/// handshake and names a stateless revision, the client sends the discovery request again. [`Options::era`] sets the
/// era in advance, and [`Options::discovery`] the whole result of a discovery. If only stateless revisions are
/// supported, the discovery request has the timeout of any other call, and an unexpected response to it is the error.
///
/// In a handshake, the client requests the latest supported revision, and uses the one that the server responds with.
///
/// # Errors
/// When the server doesn't respond, or responds with a revision that isn't supported.
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
    connect_with(handler.into(), info, options, transport.into(), None).await
}

/// Starts a session with a server of either era; see [`connect`]. `preferred` is the revision to use with a stateless
/// server that supports it.
pub async fn connect_with(
    handler: Layered<ClientSide>,
    info: ClientInfo,
    options: Options,
    mut transport: DynTransport,
    preferred: Option<Revision>,
) -> Result<ClientSession, ConnectError> {
    let known = known(&options);
    if let Some((revision, Some(description))) = known {
        let attempt = Attempt::start(&handler, &info, &options, transport, revision);
        let agreed = attempt.state.agree_stateless(revision, &info, description);
        return attempt.end(agreed).await;
    }
    let handshake = options.latest(Era::Handshake);
    let stateless = options.stateless(preferred).filter(|_| known.is_none());
    let restart = transport.restart.take();
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
                (Finding::Stateless(revision, description), _) => {
                    let agreed = attempt.state.agree_stateless(revision, &info, *description);
                    attempt.end(agreed).await
                }
                (Finding::Handshake(_), Some(revision)) => attempt.handshake(revision, &info).await,
                (Finding::HandshakeAfterReconnect(error), Some(revision)) => {
                    let ended = attempt.end(Err(error)).await;
                    let Some(restart) = restart else { return ended };
                    let transport = restart().map_err(CallError::from)?;
                    let attempt = Attempt::start(&handler, &info, &options, transport, revision);
                    attempt.handshake(revision, &info).await
                }
                (Finding::Failed(error) | Finding::Handshake(error) | Finding::HandshakeAfterReconnect(error), _) => {
                    attempt.end(Err(error)).await
                }
                (Finding::AskAgain(_), _) => attempt.end(Err(ConnectError::NoRevision)).await,
            }
        }
    }
}

/// Returns the revision of a server from an earlier discovery, and its discovery result if it has no handshake.
fn known(options: &Options) -> Option<(Revision, Option<ServerDescription>)> {
    let known = options.discovery.as_ref()?;
    let revision = known.revision()?;
    options
        .supported
        .contains(&revision)
        .then(|| (revision, known.description()))
}

/// Starts a session with a server when only stateless revisions are possible.
pub async fn begin_stateless(state: &Arc<SessionState<ClientSide>>, info: &ClientInfo) -> Result<(), ConnectError> {
    if let Some((revision, Some(description))) = known(&state.options) {
        return state.agree_stateless(revision, info, description);
    }
    let revision = state.options.stateless(None).ok_or(ConnectError::NoRevision)?;
    match state.probe(revision, info).await {
        Finding::Stateless(revision, description) => state.agree_stateless(revision, info, *description),
        Finding::Failed(error) | Finding::Handshake(error) | Finding::HandshakeAfterReconnect(error) => Err(error),
        Finding::AskAgain(_) => Err(ConnectError::NoRevision),
    }
}

/// Starts a session with a server on behalf of a client that has a handshake, in the client's revision if the server
/// supports it. The server's era is probed only if it refuses the handshake.
pub async fn connect_by_handshake(
    handler: Layered<ClientSide>,
    info: ClientInfo,
    options: Options,
    mut transport: DynTransport,
    revision: Revision,
) -> Result<ClientSession, ConnectError> {
    let restart = transport.restart.take();
    let attempt = Attempt::start(&handler, &info, &options, transport, revision);
    let refusal = match attempt.state.handshake(revision, &info).await {
        Err(ConnectError::Call(error)) => error,
        agreed => return attempt.end(agreed).await,
    };
    let Some(stateless) = options.stateless(None) else {
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
        Finding::Stateless(revision, description) => {
            let agreed = attempt.state.agree_stateless(revision, &info, *description);
            attempt.end(agreed).await
        }
        _ => attempt.end(Err(refusal.into())).await,
    }
}

/// A session that hasn't started yet. Dropping this ends it.
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
        DynTransport { sender, receiver, .. }: DynTransport,
        revision: Revision,
    ) -> Self {
        let own_capabilities = to_value(&info.capabilities);
        let subscriptions = Subscriptions::new(&options.limits, None);
        let state = SessionState::new(
            sender,
            options.clone(),
            Arc::new(own_capabilities),
            revision,
            subscriptions,
        );
        let state = Arc::new(state);
        let session = Session::start(Arc::clone(&state), handler.clone(), None, receiver);
        let close_on_drop = session.closing.clone().drop_guard();
        Self {
            state,
            session,
            close_on_drop,
        }
    }

    /// Starts a session with a server that appears to have a handshake. If the server refuses it and names a stateless
    /// revision, it is probed again.
    async fn handshake(self, revision: Revision, info: &ClientInfo) -> Result<ClientSession, ConnectError> {
        let mut agreed = self.state.handshake(revision, info).await;
        let supported = &self.state.options.supported;
        let stateless = agreed
            .as_ref()
            .err()
            .and_then(|error| stateless_instead(revision, supported, error));
        if let Some(revision) = stateless
            && let Finding::Stateless(revision, description) = self.state.probe(revision, info).await
        {
            agreed = self.state.agree_stateless(revision, info, *description);
        }
        self.end(agreed).await
    }

    /// Returns the session if it has started, and otherwise ends it and returns the error.
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
