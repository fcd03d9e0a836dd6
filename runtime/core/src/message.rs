//! The interface between a session and its transport: messages of JSON in both directions.

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

    /// How to connect to the same peer again, if that is possible: a server's process may end because of a request that it
    /// doesn't know.
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
    /// Sends a message, and waits until it is on its way. A peer that doesn't read makes its senders wait.
    fn send(&self, message: Outgoing) -> impl Future<Output = Result<(), TransportError>> + Send;

    /// Sends several messages, in this order, and waits until all are on their way. One that can't be sent doesn't keep the others
    /// back; the first error is returned.
    fn send_all(&self, messages: Vec<Outgoing>) -> impl Future<Output = Result<(), TransportError>> + Send {
        async {
            let mut sent = Ok(());
            for message in messages {
                sent = sent.and(self.send(message).await);
            }
            sent
        }
    }

    /// Sends a message at once if nothing has to be waited for, and gives it back otherwise, as it does by default.
    ///
    /// # Errors
    /// The message, to be sent by [`Self::send`].
    fn try_send(&self, message: Outgoing) -> Result<(), Outgoing> {
        Err(message)
    }

    /// Is called when these requests of the peer get no response, because they were cancelled or can't be answered.
    fn unanswered(&self, ids: &[RequestId]) {
        let _ = ids;
    }

    /// Is called with the negotiated revision.
    fn negotiated(&self, revision: Revision) {
        let _ = revision;
    }

    /// For how long the transport has waited altogether, for something that takes longer than a peer may: for its user, who
    /// authorizes it. The timeouts of calls don't count this time.
    fn suspended(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether the session ends calls that take too long. Without timers, it can't.
    fn times_out(&self) -> bool {
        true
    }

    /// Whether notifications reach the peer. A server whose notifications don't reach its clients declares no capability to notify of
    /// changes.
    fn notifies(&self) -> bool {
        true
    }

    /// Whether the transport ends with the response to its first message, so that a peer that listens to changes listens
    /// elsewhere.
    fn ends_with_response(&self) -> bool {
        false
    }

    /// The id of the first request to the peer. Each later one is greater by one.
    ///
    /// Sessions of which several machines have an engine each need ids of their own for every engine.
    fn first_request_id(&self) -> i64 {
        1
    }

    /// Closes the connection, by whatever means the transport has.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

/// The half of a transport that receives.
pub trait Receiver: Send + 'static {
    /// Waits for the next message; `None` when the peer has closed the connection.
    ///
    /// It must be cancel safe: no message may be lost when the future is dropped.
    fn receive(&mut self) -> impl Future<Output = Result<Option<Incoming>, TransportError>> + Send;

    /// Whether a peer that has closed its half of the connection may still read.
    fn half_closes(&self) -> bool {
        false
    }

    /// Is called before anything is received. A transport whose messages come in several tasks, such as those of HTTP requests, may let
    /// these take them instead of receiving them; by default it doesn't.
    fn begin(&mut self, intake: Intake) {
        let _ = intake;
    }
}

/// Takes messages for a session in the task that has them, as [`Receiver::begin`] says.
///
/// Handing a message to the task of the session and waking that costs more than most handlers take. Several tasks may take messages at
/// the same time, and each message is taken when [`Intake::take`] returns, so none is half taken if its task ends.
#[derive(Clone)]
pub struct Intake(Weak<dyn TakeAlone>);

impl Intake {
    pub(crate) fn new(engine: &Arc<impl TakeAlone + 'static>) -> Self {
        let engine = Arc::downgrade(engine);
        Self(engine)
    }

    /// Takes what has been read of a message or a batch, and never waits: a handler that doesn't answer at once goes on in a task of its
    /// own, and its response comes through the [`Sender`]. The extensions are those of an [`Incoming::Message`].
    ///
    /// # Errors
    /// When the session has ended.
    pub fn take(&self, payload: &Payload<'_>, extensions: Extensions) -> Result<(), TransportError> {
        let engine = self.0.upgrade().ok_or(TransportError::Closed)?;
        engine.take_alone(payload, extensions);
        Ok(())
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Intake").finish()
    }
}

/// What takes messages for a session.
pub(crate) trait TakeAlone: Send + Sync {
    /// Takes a payload in a task that has nothing else to receive meanwhile. It never waits.
    fn take_alone(self: Arc<Self>, payload: &Payload<'_>, extensions: Extensions);
}

/// A message to the peer.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// One JSON value, without line breaks.
    pub json: Vec<u8>,
    /// For transports that have several streams to the peer.
    pub purpose: Purpose,
}

/// How a message to the peer is related to the peer's requests.
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
        /// Bytes that should be one JSON value.
        json: Vec<u8>,
        /// What the transport adds for handlers, such as the [`Parts`](http::request::Parts) of an HTTP request.
        extensions: Extensions,
    },
    /// A message that the transport refuses, such as one over the limit. The session goes on, and sends the error to the
    /// peer if the revision allows it.
    Refused(ErrorObject),
    /// A request to the peer will get no response.
    Failed {
        /// The id of the request.
        id: RequestId,
        /// The reason.
        error: CallError,
    },
    /// The peer has lost the session, and the transport has started another in its place. Requests that came before
    /// this need no response any more.
    Renewed,
    /// The transport will close soon. Requests in flight have some time to get their responses, and subscriptions end now.
    Closing,
}

impl Incoming {
    /// A message without extensions.
    #[must_use]
    pub fn message(json: Vec<u8>) -> Self {
        let extensions = Extensions::new();
        Self::Message { json, extensions }
    }
}

/// On whose behalf a message is sent, among the extensions of an [`Incoming::Message`]: the subject of a token, for example.
///
/// What a server gives one principal to keep, such as the state of a request with several rounds, is refused from others. The
/// HTTP server adds what `HttpServer::principal` determines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal(pub String);

/// The network connection on which a message came. Clones are the same connection, and equal.
///
/// `mcp_runtime::transport::http::server::serve` adds it to the extensions of each HTTP request. Two requests on one connection are
/// of one client, unless a proxy is in between.
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
    /// A connection that is open.
    #[doc(hidden)]
    pub fn new() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};

        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            closed: CancellationToken::new(),
        }
    }

    /// Its number, which no other connection of this process has.
    #[doc(hidden)]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The connection is closed when the guard is dropped.
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

/// A message as JSON.
pub fn to_json(message: &impl Encode) -> Vec<u8> {
    // Encoding fails only for a number that JSON can't represent, and no message of the runtime has one.
    mcp_wire::to_vec(message).unwrap_or_default()
}

/// What the protocol defines, as a tree. It is encoded and read again: serde's way would compile a serializer for each type in it.
pub fn to_value(value: &impl Encode) -> Value {
    let json = RawJson::from_encode(value).ok();
    json.and_then(|json| json.parse_value().ok()).unwrap_or_default()
}

/// The parameters of a message; an empty object if it has none.
pub fn params_of(message: &impl Encode) -> RawJson {
    let json = RawJson::from_encode(message).ok();
    let params = json.and_then(|json| json.get("params"));
    params.unwrap_or_else(|| RawObject::default().into())
}
