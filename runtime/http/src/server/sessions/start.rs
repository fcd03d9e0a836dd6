//! Starting sessions.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::request::Parts;
use mcp_adapters::mcp_wire::{Call, Notice, RequestId, UnknownMethod};
use mcp_adapters::{ClientDescription, PeerTypes, Revision, hub, session_messages};
use mcp_runtime_core::internal::to_json;

use super::super::post_body::{PostBody, read_payload};
use super::super::rejection::Rejection;
use super::super::session::{Client, Engine, HttpSession, SessionKind, SessionTransport, SharedSession};
use super::super::stream::Content;
use super::lifecycle::run;
use super::{FirstRequest, NewSession, SessionPermit, Sessions, address};

impl Sessions {
    /// Creates a session id that can't be guessed: 128 random bits from the operating system.
    pub(crate) fn new_id() -> Result<String, Rejection> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(no_random_bytes)?;
        Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
    }

    /// Starts a session and its engine. `engine` is the engine's number if instances share their streams, and `bytes`
    /// the length of the body of `initialize`.
    pub(crate) async fn start(
        self: &Arc<Self>,
        id: String,
        kind: SessionKind,
        engine: u32,
        parts: &Parts,
        bytes: usize,
    ) -> Result<NewSession, Rejection> {
        let (client, permit) = self.admit(kind, parts, bytes).await?;
        if self.settings.principal.is_none() && !kind.is_stateless() && parts.headers.contains_key(AUTHORIZATION) {
            self.warned_of_principal.call_once(|| {
                tracing::warn!(
                    "clients authenticate, but everyone who knows the id of a session may use it: set HttpServer::principal"
                );
            });
        }
        let engine = match self.shared().filter(|_| kind == SessionKind::Streamable) {
            Some((instances, log)) => Engine::shared(SharedSession::new(instances, log, id.clone(), engine)),
            // Events after which no client resumes don't need distinct ids.
            None if kind.is_stateless() => Engine::numbered(0),
            None => Engine::alone().map_err(no_random_bytes)?,
        };
        let memory = self.memory.clone();
        let session = HttpSession::new(id.clone(), kind, engine, client, &self.settings, memory);
        // From here on, the session is ended in any case, even if `start_engine` panics.
        let new = NewSession {
            session: session.clone(),
            published: false,
        };
        let first = FirstRequest {
            id: (!kind.is_stateless()).then_some(id),
            client: &session.client,
            parts,
        };
        (self.start_engine)(SessionTransport::new(session.clone()), first);
        self.running.lock().insert(address(&session), session);
        tokio::spawn(run(new.session.clone(), Arc::downgrade(self), permit));
        Ok(new)
    }

    /// Returns the client of a request, and a permit for a session of this client.
    pub(super) async fn admit(
        &self,
        kind: SessionKind,
        parts: &Parts,
        bytes: usize,
    ) -> Result<(Client, SessionPermit), Rejection> {
        if self.settings.shutdown.is_cancelled() {
            return Err(Rejection::shutting_down());
        }
        let client = Client::new(self.settings.principal_of(parts), parts);
        let permit = self.permit(kind, &client, bytes).await?;
        Ok((client, permit))
    }

    /// Performs the handshake in a new session on behalf of its client, and drops the response.
    pub(crate) async fn handshake(
        &self,
        new: &NewSession,
        initialize: &[u8],
        parts: &Parts,
    ) -> Result<Revision, Rejection> {
        let session = &new.session;
        self.post_own(session, initialize, parts).await?;
        let revision = session.negotiated().await.ok_or_else(Rejection::internal)?;
        let notification = UnknownMethod::new(revision.lifecycle().begun.unwrap_or_default());
        self.post_own(session, &to_json(&Notice { notification }), parts)
            .await?;
        Ok(revision)
    }

    /// Hands over a message that the server itself sends on behalf of a client.
    async fn post_own(&self, session: &HttpSession, json: &[u8], parts: &Parts) -> Result<(), Rejection> {
        let payload = read_payload(json)?;
        let mut body = PostBody::of(&payload, json.len(), None)?;
        session
            .post(&mut body, parts.clone(), Content::Responses)
            .await
            .map(drop)
    }

    /// An `initialize` request that only names the revision.
    pub(crate) fn minimal_initialize(revision: Revision) -> Result<Vec<u8>, Rejection> {
        let client = ClientDescription {
            version: revision.as_str().to_owned(),
            capabilities: hub::ClientCapabilities::default(),
            implementation: Some(hub::Implementation::new("unknown", "0")),
            log_level: None,
        };
        let (params, _) = session_messages::initialize_params(revision, client).map_err(|_| Rejection::internal())?;
        let request = UnknownMethod::new(revision.lifecycle().begin.unwrap_or_default()).with_params(params);
        let id = RequestId::Integer(0);
        Ok(to_json(&Call { id, request }))
    }
}

fn no_random_bytes(error: getrandom::Error) -> Rejection {
    tracing::error!(%error, "the operating system has no random bytes");
    Rejection::internal()
}
