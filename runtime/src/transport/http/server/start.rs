//! How sessions start.

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use mcp_adapters::Revision;
use serde_json::json;

use super::lifecycle::run;
use super::message::PostBody;
use super::rejection::Rejection;
use super::session::{HttpSession, SessionKind};
use super::sessions::{NewSession, SessionInfo, Sessions};
use super::stream::Content;
use super::transport::SessionTransport;
use crate::message::Transport as _;
use crate::transport::channel;

impl Sessions {
    /// A session id that nobody can guess: 128 bits from the operating system.
    pub(super) fn new_id() -> Result<String, Rejection> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(no_random_bytes)?;
        Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Starts a session and its engine. Its `initialize` has this many bytes.
    pub(super) async fn start(
        self: &Arc<Self>,
        id: String,
        kind: SessionKind,
        parts: &Parts,
        bytes: usize,
    ) -> Result<NewSession, Rejection> {
        if self.config.shutdown.is_cancelled() {
            return Err(Rejection::shutting_down());
        }
        let permit = self.permit(bytes).await?;
        let (ours, engines) = channel(self.config.limits.capacity);
        let ((to_engine, _), (_, posted)) = (ours.split(), engines.split());
        let shutdown = self.config.shutdown.clone();
        if self.config.principal.is_none()
            && kind != SessionKind::Stateless
            && parts.headers.contains_key(AUTHORIZATION)
        {
            self.warned_of_principal.call_once(|| {
                tracing::warn!(
                    "clients authenticate, but whoever knows the id of a session may use it: set HttpServer::principal"
                );
            });
        }
        let principal = self.config.principal_of(parts);
        let limits = self.config.limits.clone();
        let memory = self.memory.clone();
        let session = HttpSession::new(id.clone(), kind, principal.clone(), limits, memory, to_engine, shutdown);
        let session = session.map_err(no_random_bytes)?;
        let info = SessionInfo {
            id: (kind != SessionKind::Stateless).then_some(id),
            principal,
            request: parts.clone(),
        };
        // From here on the session ends whatever happens, even if `start_engine` panics.
        let new = NewSession {
            session: session.clone(),
            published: false,
        };
        (self.start_engine)(SessionTransport::new(session.clone(), posted), info);
        tokio::spawn(run(session, Arc::downgrade(self), permit));
        Ok(new)
    }

    /// Does what a client does at the new, and keeps the answer to itself.
    pub(super) async fn handshake(
        &self,
        new: &NewSession,
        initialize: PostBody,
        parts: &Parts,
    ) -> Result<Revision, Rejection> {
        let session = &new.session;
        session.post(initialize, parts.clone(), Content::Responses).await?;
        let revision = session.negotiated().await.ok_or_else(Rejection::internal)?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let initialized = PostBody::parse(initialized.to_string().into())?;
        session.post(initialized, parts.clone(), Content::Responses).await?;
        Ok(revision)
    }

    /// An `initialize` request that only names the revision.
    pub(super) fn minimal_initialize(revision: Revision) -> Result<PostBody, Rejection> {
        let client = json!({"name": "unknown", "version": "0"});
        let params = json!({"protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": client});
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        PostBody::parse(initialize.to_string().into())
    }
}

fn no_random_bytes(error: getrandom::Error) -> Rejection {
    tracing::error!(%error, "the operating system has no random bytes");
    Rejection::internal()
}
