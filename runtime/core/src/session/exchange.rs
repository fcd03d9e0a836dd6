//! Sessions of a client without tasks: the future of each call sends its request and reads the response.

use std::fmt;
use std::sync::{Arc, Weak};

use mcp_adapters::mcp_wire::{MessageHeader, MessageKind, Payload};
use mcp_adapters::{PeerTypes, Revision};

use super::connect::begin_stateless;
use super::engine::Engine;
use super::handler::Layered;
use super::handshake::ClientInfo;
use super::ignored::not_a_message;
use super::notifications::NotificationQueue;
use super::state::SessionState;
use super::subscriptions::Subscriptions;
use super::{ClientSession, Session};
use crate::error::{CallError, ConnectError, TransportError};
use crate::message::{Outgoing, Sender, to_value};
use crate::options::Options;
use crate::side::ClientSide;

/// Sends a client's messages to a server of stateless revisions, where each request has its own response.
///
/// [`Client::connect_by`](crate::Client::connect_by) starts a session with it, which spawns no task and sets no timer:
/// the future of a call sends the request and reads the response, and dropping it ends both. `HttpCaller` of the
/// feature `http-caller` is an implementation.
///
/// ```
/// use mcp_runtime::transport::{Exchange, Inbox};
/// use mcp_runtime::{CallError, Client, Options, Responder, Router, ServeClient, http};
///
/// /// A server in the same process.
/// struct Here(Responder);
///
/// impl Exchange for Here {
///     async fn exchange(&self, message: Vec<u8>, inbox: Inbox) -> Result<(), CallError> {
///         if let Some(response) = self.0.respond(&message, http::Extensions::new()).await {
///             inbox.deliver(&response).await;
///         }
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
/// let here = Here(weather.responder(Options::default()));
/// let session = Client::new("app", "1.0").connect_by(here).await?;
/// assert_eq!(session.list_tools().await?[0].name, "weather");
/// # Ok(())
/// # }
/// ```
pub trait Exchange: Send + Sync + 'static {
    /// Sends a message. If it is a request, `inbox` gets the messages that the server sends before its response, and
    /// then the response.
    ///
    /// # Errors
    /// When it can't be sent, or when a request has no response.
    fn exchange(&self, message: Vec<u8>, inbox: Inbox) -> impl Future<Output = Result<(), CallError>> + Send;
}

/// Takes the messages that a server sends in response to a message.
pub struct Inbox(Arc<Engine<ClientSide>>);

impl Inbox {
    /// Returns the revision negotiated with the server, once it is known.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.0.session.revision()
    }

    /// Takes the JSON of a message. If it is a notification, this waits until the client's handler has handled it.
    pub async fn deliver(&self, json: &[u8]) {
        let Self(engine) = self;
        if !engine.session.pending.resolve_in_place(json) {
            match Payload::from_slice(json) {
                Ok(Payload::Message(header)) if header.kind() != Ok(MessageKind::Request) => {
                    engine.take_message(&header, Arc::default(), false);
                }
                Ok(_) => tracing::debug!("a stateless server sends neither requests nor batches"),
                Err(error) => engine.ignored.log(&not_a_message(&error), json),
            }
        }
        while let Some(notification) = engine.notifications.take() {
            notification.handle(&engine.session, &engine.handler).await;
        }
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inbox").field(&self.0.session).finish()
    }
}

/// Starts a session with a stateless server. Other revisions and the time limits in the options are ignored.
pub async fn connect_by(
    handler: Layered<ClientSide>,
    info: ClientInfo,
    mut options: Options,
    exchange: impl Exchange,
) -> Result<ClientSession, ConnectError> {
    options.supported.retain(|revision| revision.is_stateless());
    let revision = options.stateless(None).ok_or(ConnectError::NoRevision)?;
    let own_capabilities = to_value(&info.capabilities);
    let subscriptions = Subscriptions::new(&options.limits, None);
    let state = Arc::new_cyclic(|session| {
        let sender = Exchanger {
            exchange,
            handler: handler.clone(),
            session: Weak::clone(session),
        };
        SessionState::new(
            Box::new(sender),
            options,
            Arc::new(own_capabilities),
            revision,
            subscriptions,
        )
    });
    state.answer_by(&handler);
    begin_stateless(&state, &info).await?;
    Ok(Session::without_task(state))
}

/// Sends messages by an [`Exchange`], and receives the responses.
struct Exchanger<E> {
    exchange: E,
    handler: Layered<ClientSide>,
    /// The session that sends through this.
    session: Weak<SessionState<ClientSide>>,
}

impl<E: Exchange> Sender for Exchanger<E> {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        let session = self.session.upgrade().ok_or(TransportError::Closed)?;
        let header = MessageHeader::from_slice(&message.json).ok();
        let id = header.and_then(|header| header.id());
        let notifications = NotificationQueue::new(&session.options.limits);
        let engine = Engine::new(Arc::clone(&session), self.handler.clone(), None, notifications);
        // The inbox handles the notifications, so no task is needed.
        engine.notifier.call_once(|| {});
        let exchanged = self.exchange.exchange(message.json, Inbox(engine)).await;
        match id {
            Some(id) => {
                let no_response = || CallError::InvalidResult("there is no response to the request".to_owned());
                let error = exchanged.err().unwrap_or_else(no_response);
                // If the caller already has its response, this has no effect.
                session.pending.resolve(&id, Err(error), Vec::new());
                Ok(())
            }
            None => exchanged.map_err(|error| TransportError::Other(Box::new(error))),
        }
    }

    fn times_out(&self) -> bool {
        false
    }

    async fn close(&self) {}
}
