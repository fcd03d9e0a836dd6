//! Requests that are answered one by one, without a session.

use std::fmt;
use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse, MessageHeader, MessageKind, Payload, RequestId, error_code};
use mcp_adapters::{PeerTypes, Revision};

use super::engine::Engine;
use super::handler::Layered;
use super::ignored::not_a_message;
use super::notifications::NotificationQueue;
use super::response::{PendingResponse, Response};
use super::server::Server;
use super::state::{EndGuard, SessionState};
use super::subscriptions::Subscriptions;
use crate::era::Era;
use crate::error::TransportError;
use crate::message::{Outgoing, Sender, to_json};
use crate::options::Options;
use crate::side::ServerSide;

/// Answers the requests of stateless revisions one by one: a function from a request to its response.
///
/// It has no transport, spawns no task and waits for no timer, so it runs on any executor, and on platforms that run
/// functions instead of processes. Clones are the same server.
///
/// The state of a request that requires input from the user is sealed with the time, so it needs a clock. In
/// WebAssembly, the feature `js` provides that of JavaScript. If the repeated request can reach another process, both
/// processes need the same key in [`Options::sealing`].
#[derive(Clone)]
pub struct Responder {
    handler: Layered<ServerSide>,
    server: Arc<dyn Fn() -> Arc<Server> + Send + Sync>,
    /// The subscriptions through which changes of the server are published. No request is added to them.
    subscriptions: Arc<Subscriptions>,
    options: Arc<Options>,
    latest: Revision,
}

impl Responder {
    /// Creates a responder that calls `server` for the server's description at each request.
    #[doc(hidden)]
    pub fn new(
        handler: Layered<ServerSide>,
        server: impl Fn() -> Arc<Server> + Send + Sync + 'static,
        subscriptions: Arc<Subscriptions>,
        options: Options,
    ) -> Self {
        Self {
            handler,
            server: Arc::new(server),
            subscriptions,
            latest: options.latest(Era::Stateless).unwrap_or(Revision::HUB),
            options: options.into(),
        }
    }

    /// Returns the response to one message; `None` for a notification and for a response, which have none.
    ///
    /// The handler's notifications are dropped. A request for changes, which would never end here, is refused, and so
    /// is one of a revision with a handshake. The handler finds `extensions` in
    /// [`Context::extensions`](crate::Context::extensions).
    pub async fn respond(&self, json: &[u8], extensions: Extensions) -> Option<Vec<u8>> {
        let refused = |id: Option<RequestId>, error: ErrorObject| Some(to_json(&ErrorResponse::new(id, error)));
        let header = match Payload::from_slice(json) {
            Ok(Payload::Message(header)) => header,
            Ok(Payload::Batch(_)) => {
                let error = ErrorObject::new(error_code::INVALID_REQUEST, "batches aren't supported here");
                return refused(None, error);
            }
            Err(error) => return refused(None, not_a_message(&error)),
        };
        match header.kind() {
            Ok(MessageKind::Request) => {}
            Ok(MessageKind::Notification | MessageKind::Response | MessageKind::Error) => return None,
            Err(error) => return refused(header.id(), not_a_message(&error)),
        }
        let mut listens = Revision::all().filter_map(|revision| revision.lifecycle().listen);
        if header
            .method()
            .is_some_and(|method| listens.any(|listen| listen == method))
        {
            let error = ErrorObject::new(error_code::METHOD_NOT_FOUND, "subscriptions aren't supported here");
            return refused(header.id(), error);
        }
        self.answer(&header, extensions, Nowhere).await
    }

    /// Starts to answer a request whose response ends the exchange. Messages that the handler sends before the response
    /// go through `sender`.
    #[doc(hidden)]
    pub fn answer(
        &self,
        request: &MessageHeader<'_>,
        extensions: Extensions,
        sender: impl Sender,
    ) -> impl Future<Output = Option<Vec<u8>>> + Send + 'static {
        let mut server = (self.server)();
        if !sender.notifies() {
            server = server.without_changes();
        }
        let state = Arc::new(SessionState::new(
            Box::new(sender),
            Arc::clone(&self.options),
            Arc::clone(&server.capabilities),
            self.latest,
            Arc::clone(&self.subscriptions),
        ));
        let notifications = NotificationQueue::new(&self.options.limits);
        let engine = Engine::new(Arc::clone(&state), self.handler.clone(), Some(server), notifications);
        let response = engine.take_stateless(request, extensions);
        async move {
            // Ends the session, so that handles of the peer that outlive the request can't send anything.
            let _ended = EndGuard(state);
            let (json, _permit): Response = response?.made().await;
            json
        }
    }
}

impl Engine<ServerSide> {
    /// Processes a request that declares its revision; any other is refused.
    fn take_stateless(
        self: &Arc<Self>,
        request: &MessageHeader<'_>,
        extensions: Extensions,
    ) -> Option<PendingResponse> {
        // If a supported revision has a handshake, the handshake must not succeed here, because its session would end
        // with the response. Otherwise the engine refuses it, and names the supported revisions.
        let mut supported = self.session.options.supported.iter();
        let may_begin = supported.any(|revision| revision.has_handshake());
        match self.terms_of(request) {
            Ok(negotiated) if negotiated.info.is_some() || !may_begin => {
                self.take_negotiated(request, negotiated, extensions.into(), false)
            }
            Ok(_) => self.refuse_call(request, self.not_begun()),
            Err(error) => self.refuse_call(request, error),
        }
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut responder = f.debug_struct("Responder");
        responder.field("options", &self.options).finish_non_exhaustive()
    }
}

/// A sender that drops every message, for exchanges that consist only of a response.
struct Nowhere;

impl Sender for Nowhere {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        tracing::debug!(purpose = ?message.purpose, "a message is dropped, since the response has no place for it");
        Ok(())
    }

    fn notifies(&self) -> bool {
        false
    }

    fn ends_with_response(&self) -> bool {
        true
    }

    async fn close(&self) {}
}
