//! A client of Streamable HTTP, which also speaks to servers that only have the older HTTP with SSE.

mod connection;
mod envelope;
mod error;
mod exchange;
mod legacy;
mod options;
mod renewal;
mod sse;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use mcp_adapters::Revision;
use reqwest::header::HeaderValue;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::connection::{Connection, Item, State};
use self::envelope::Kind;
use crate::error::TransportError;
use crate::message::{Incoming, Outgoing, Receiver, Sender, Transport};
use crate::sync::Mutex;

pub use error::{HttpError, SessionExpired};
pub use options::HttpOptions;
/// The library that speaks HTTP, for hooks and clients of one's own.
pub use reqwest;

/// How many messages that aren't requests are on their way at once.
const NOTICES: usize = 16;

/// A client's connection to a server by HTTP.
///
/// Each message is a POST of its own. A call whose POST is answered with an error status gives
/// [`CallError::Http`](crate::CallError::Http), and one that HTTP fails otherwise
/// [`CallError::Transport`](crate::CallError::Transport) with an [`HttpError`]; the session goes on.
///
/// When the server has forgotten the session, a new one begins in its place: what began the old one is sent again, and
/// then the message that found it gone. Only what else was pending in the old session fails, and what the server asked in
/// it is cancelled. What the server knew of the session is lost, though: subscriptions, the log level and the like have to
/// be set again, and [`HttpOptions::renewed`] says when. Where no new session of the same revision can be had, or that is
/// forgotten at once as well, receiving fails with [`SessionExpired`], once; after that an `initialize` may begin another
/// over the same transport.
///
/// A server that refuses the first POST is asked for the older way: a stream of events that names where to POST. When
/// that stream ends so does the connection.
#[derive(Debug)]
pub struct HttpClient {
    sender: HttpSender,
    receiver: HttpReceiver,
}

/// The half of an [`HttpClient`] that sends. Once it is dropped nothing is sent or received any more; only closing it
/// also tells the server.
///
/// A request is on its way when sending returns, anything else has arrived. The failure of a notification or a response
/// is told to tracing, since no one waits for its answer.
#[derive(Debug)]
pub struct HttpSender {
    connection: Arc<Connection>,
    _ends: DropGuard,
}

/// The half of an [`HttpClient`] that receives.
#[derive(Debug)]
pub struct HttpReceiver {
    inbox: mpsc::Receiver<Item>,
    closing: CancellationToken,
    ended: bool,
}

impl HttpClient {
    /// A client of the server at this address. Nothing is sent yet.
    ///
    /// # Errors
    /// When the address isn't one of HTTP, or the machine has no certificates to trust.
    pub fn new(url: &str, options: HttpOptions) -> Result<Self, HttpError> {
        let address = || HttpError::Address(url.to_owned());
        let url = reqwest::Url::parse(url).map_err(|_| address())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(address());
        }
        let client = match &options.client {
            Some(client) => client.clone(),
            None => connection::client(&options)?,
        };

        let (sender, inbox) = mpsc::channel(options.queue.max(1));
        let closing = CancellationToken::new();
        let connection = Connection {
            url,
            client,
            inbox: sender,
            state: Mutex::new(State::new(&closing)),
            renewing: tokio::sync::Mutex::new(()),
            in_flight: Mutex::new(HashMap::new()),
            requests: Arc::new(Semaphore::new(options.requests.clamp(1, Semaphore::MAX_PERMITS))),
            notices: Arc::new(Semaphore::new(NOTICES)),
            closing: closing.clone(),
            options,
        };
        Ok(Self {
            sender: HttpSender {
                connection: Arc::new(connection),
                _ends: closing.clone().drop_guard(),
            },
            receiver: HttpReceiver {
                inbox,
                closing,
                ended: false,
            },
        })
    }
}

impl Transport for HttpClient {
    type Sender = HttpSender;
    type Receiver = HttpReceiver;

    fn split(self) -> (HttpSender, HttpReceiver) {
        (self.sender, self.receiver)
    }
}

impl Sender for HttpSender {
    async fn send(&self, message: Outgoing) -> Result<(), TransportError> {
        let connection = &self.connection;
        let kind = envelope::kind(&message.json);
        let places = match kind {
            Kind::Initialize(_) | Kind::Request(_) => &connection.requests,
            _ => &connection.notices,
        };
        let place = tokio::select! {
            biased;
            () = connection.closing.cancelled() => return Err(TransportError::Closed),
            place = Arc::clone(places).acquire_owned() => place.map_err(|_| TransportError::Closed)?,
        };

        match kind {
            Kind::Initialize(id) => exchange::start(connection, place, id, message.json, true),
            Kind::Request(id) => exchange::start(connection, place, id, message.json, false),
            kind => {
                // In a task, so that it arrives also when this future is dropped.
                let told = exchange::tell(Arc::clone(connection), kind, message.json);
                let closing = connection.closing.clone();
                let told = tokio::spawn(async move {
                    let _place = place;
                    closing.run_until_cancelled_owned(told).await
                });
                return told.await.ok().flatten().unwrap_or(Err(TransportError::Closed));
            }
        }
        Ok(())
    }

    fn negotiated(&self, revision: Revision) {
        let header = revision.facts().version_header;
        let mut state = self.connection.state.lock();
        state.version = header.then(|| HeaderValue::from_static(revision.as_str()));
        if let Some(opening) = &mut state.opening {
            opening.revision = Some(revision);
        }
    }

    async fn close(&self) {
        self.connection.close().await;
    }
}

impl Receiver for HttpReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        if self.ended {
            return Ok(None);
        }
        let item = tokio::select! {
            biased;
            item = self.inbox.recv() => item,
            () = self.closing.cancelled() => None,
        };
        match item {
            Some(Item::Incoming(incoming)) => Ok(Some(incoming)),
            Some(Item::Expired) => Err(TransportError::Other(Box::new(SessionExpired))),
            Some(Item::End) | None => {
                self.ended = true;
                Ok(None)
            }
        }
    }
}
