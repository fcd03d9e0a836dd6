//! The interface between a session and its transport: JSON messages in both directions.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use http::Extensions;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{self, Encode, ErrorObject, Payload, RawJson, RawObject, RequestId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::error::{CallError, TransportError};

/// A connection to one peer.
///
/// Sending and receiving happen concurrently, so a transport splits into two halves.
pub trait Transport: Send + 'static {
    /// The half that sends.
    type Sender: Sender;
    /// The half that receives.
    type Receiver: Receiver;

    /// Splits the transport.
    fn split(self) -> (Self::Sender, Self::Receiver);

    /// Returns a function that connects to the same peer again, if that is possible. It is needed because a server's
    /// process can exit when it gets a request that it doesn't know.
    fn restart(&mut self) -> Option<Restart<Self>>
    where
        Self: Sized,
    {
        None
    }
}

/// Connects to the same peer again.
pub type Restart<T> = Box<dyn FnOnce() -> Result<T, TransportError> + Send>;

/// The half of a transport that sends.
pub trait Sender: Send + Sync + 'static {
    /// Sends a message, and waits until the transport has passed it on. If the peer doesn't read, this waits.
    fn send(&self, message: Outgoing) -> impl Future<Output = Result<(), TransportError>> + Send;

    /// Sends several messages in this order, and waits until the transport has passed on all of them. If one can't be
    /// sent, the others are still sent; the first error is returned.
    fn send_all(&self, messages: Vec<Outgoing>) -> impl Future<Output = Result<(), TransportError>> + Send {
        async {
            let mut sent = Ok(());
            for message in messages {
                sent = sent.and(self.send(message).await);
            }
            sent
        }
    }

    /// Sends messages in this order as far as that is possible without waiting, and removes them from the list. Returns
    /// whether all are passed on; if not, [`Self::send_all`] must be called with the rest, even if that is empty. The
    /// default implementation sends none.
    fn try_send_all(&self, messages: &mut Vec<Outgoing>) -> bool {
        messages.is_empty()
    }

    /// Called when these requests of the peer get no response, because they were cancelled or can't be answered.
    fn unanswered(&self, ids: &[RequestId]) {
        let _ = ids;
    }

    /// Called with the negotiated revision.
    fn negotiated(&self, revision: Revision) {
        let _ = revision;
    }

    /// Returns how long the transport has waited in total for its user, for example to authorize it. Timeouts of calls
    /// don't count this time.
    fn suspended(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether calls time out. Without timers, they can't.
    fn times_out(&self) -> bool {
        true
    }

    /// Whether notifications reach the peer. A server whose notifications don't reach its clients doesn't declare
    /// capabilities such as `listChanged`.
    fn notifies(&self) -> bool {
        true
    }

    /// Whether the transport ends with the response to its first message. A peer that listens to changes then does so
    /// on another connection.
    fn ends_with_response(&self) -> bool {
        false
    }

    /// Returns the id of the first request to the peer. Each later id is greater by one.
    ///
    /// If several machines serve one session, the engine on each machine needs its own range of ids.
    fn first_request_id(&self) -> i64 {
        1
    }

    /// Closes the connection.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The half of a transport that receives.
pub trait Receiver: Send + 'static {
    /// Waits for the next message; `None` when the peer has closed the connection.
    ///
    /// It must be cancel safe: dropping the future must not lose a message.
    fn receive(&mut self) -> impl Future<Output = Result<Option<Incoming>, TransportError>> + Send;

    /// Whether a peer that has closed its half of the connection can still read.
    fn half_closes(&self) -> bool {
        false
    }

    /// Called before anything is received. A transport whose messages arrive in several tasks, such as those of HTTP
    /// requests, can pass them to `intake` from these tasks instead of through [`Self::receive`]; by default it
    /// doesn't.
    fn begin(&mut self, intake: Intake) {
        let _ = intake;
    }
}

/// Passes messages to a session directly from the task that received them; see [`Receiver::begin`].
///
/// Passing a message to the session's task and waking that task costs more than most handlers do. Several tasks can
/// pass messages at the same time. [`Intake::take`] is synchronous, so no message is half processed if its task is
/// dropped.
#[derive(Clone)]
pub struct Intake(Weak<dyn TakeDirectly>);

impl Intake {
    pub(crate) fn new(engine: &Arc<impl TakeDirectly + 'static>) -> Self {
        let engine = Arc::downgrade(engine);
        Self(engine)
    }

    /// Takes a parsed message or batch, and never waits: a handler that doesn't finish at once continues in a separate
    /// task, and its response is sent through the [`Sender`]. The extensions are those of an [`Incoming::Message`].
    ///
    /// # Errors
    /// When the session has ended.
    pub fn take(&self, payload: &Payload<'_>, extensions: Extensions) -> Result<(), TransportError> {
        let engine = self.0.upgrade().ok_or(TransportError::Closed)?;
        engine.take_directly(payload, extensions);
        Ok(())
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intake").finish()
    }
}

/// The engine of a session, as an [`Intake`] uses it.
pub(crate) trait TakeDirectly: Send + Sync {
    /// Takes a payload in a task that receives nothing else meanwhile. It never waits.
    fn take_directly(self: Arc<Self>, payload: &Payload<'_>, extensions: Extensions);
}

/// A message to the peer.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// One JSON value, without line breaks.
    pub json: Vec<u8>,
    /// The relation to the peer's requests, for transports that have several streams to the peer.
    pub purpose: Purpose,
}

/// The relation of an outgoing message to the peer's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// It is the response to these requests of the peer.
    Response(Vec<RequestId>),
    /// It is sent while this request of the peer is handled.
    RelatedTo(RequestId),
    /// It is related to no request of the peer.
    Unsolicited,
}

/// An event from the transport.
#[derive(Debug, Clone)]
pub enum Incoming {
    /// A message.
    Message {
        /// The bytes received, which should be one JSON value.
        json: Vec<u8>,
        /// Values that the transport adds for handlers, such as the [`Parts`](http::request::Parts) of an HTTP request.
        extensions: Extensions,
    },
    /// A message that the transport refuses, such as one over the size limit. The session continues. If the message is
    /// a response, its call fails; otherwise the session sends the error to the peer if the revision allows it.
    Refused {
        /// The reason.
        error: ErrorObject,
        /// The start and the end of the message, as far as they are known. They identify its kind and its id.
        text: Vec<u8>,
    },
    /// A request to the peer will get no response.
    Failed {
        /// The id of the request.
        id: RequestId,
        /// The reason.
        error: CallError,
    },
    /// The peer has lost the session, and the transport has started a new one. Earlier requests no longer need a
    /// response.
    Renewed,
    /// The transport will close soon. Requests in flight have some time to get their responses, and subscriptions end now.
    Closing,
}

impl Incoming {
    /// Creates a message without extensions.
    #[must_use]
    pub fn message(json: Vec<u8>) -> Self {
        let extensions = Extensions::new();
        Self::Message { json, extensions }
    }
}

/// The principal on whose behalf a message is sent, such as the subject of a token. It is one of the extensions of an
/// [`Incoming::Message`].
///
/// State that a server gives one principal to keep, such as that of a request with several rounds, is refused from
/// others. Messages without a principal all count as those of one. The HTTP server adds the principal that
/// `HttpServer::principal` determines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal(pub String);

/// The request of this side on whose stream the peer has sent a message that isn't its response. It is one of the
/// extensions of an [`Incoming::Message`].
///
/// The HTTP client adds it to what a server with sessions sends on the stream of a POST: by the
/// [specification](https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server),
/// such messages should relate to the request of that POST. A pipe has no such streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedRequest(pub RequestId);

/// The network connection on which a message arrived. Clones represent the same connection, and are equal.
///
/// `mcp_runtime::transport::http::server::serve` adds it to the extensions of each HTTP request. Two requests on one
/// connection come from the same client, unless a proxy is in between.
#[derive(Debug, Clone)]
pub struct Connection {
    id: u64,
    closed: CancellationToken,
}

impl Connection {
    /// Waits until the connection is closed.
    pub async fn closed(&self) {
        self.closed.cancelled().await;
    }
}

impl Connection {
    /// Creates an open connection.
    #[doc(hidden)]
    pub fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};

        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            closed: CancellationToken::new(),
        }
    }

    /// Returns its number, which is unique in this process.
    #[doc(hidden)]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns a guard that closes the connection when it is dropped.
    #[doc(hidden)]
    pub fn guard(&self) -> tokio_util::sync::DropGuard {
        self.closed.clone().drop_guard()
    }
}

impl PartialEq for Connection {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Connection {}

/// Encodes a message as JSON.
pub fn to_json(message: &impl Encode) -> Vec<u8> {
    // Encoding fails only for a number that JSON can't represent, and no message of the runtime has one.
    mcp_wire::to_vec(message).unwrap_or_default()
}

/// Converts a type of the protocol to a [`Value`]. It is encoded to text and parsed again, because
/// `serde_json::to_value` would compile a serializer for each type in it.
pub fn to_value(value: &impl Encode) -> Value {
    let json = RawJson::from_encode(value).ok();
    json.and_then(|json| json.parse_value().ok()).unwrap_or_default()
}

/// Returns the parameters of a message; an empty object if it has none.
pub fn params_of(message: &impl Encode) -> RawJson {
    let json = RawJson::from_encode(message).ok();
    let params = json.and_then(|json| json.get("params"));
    params.unwrap_or_else(|| RawObject::default().into())
}
