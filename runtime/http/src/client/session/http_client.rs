//! A client of Streamable HTTP, and of HTTP with SSE for servers that only support that.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime_core::mirrors::header_name;
use mcp_runtime_core::transport::{Incoming, Outgoing, Receiver, Sender, Transport, TransportError};
use mcp_runtime_util::Mutex;
use reqwest::header::HeaderValue;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::classify::{PostKind, classify};
use super::connection::{self, Connection, Inbound};
use super::error::{HttpError, SessionExpired};
use super::exchange::{self, Kind};
use super::options::HttpOptions;
use super::state::ClientState;

/// The maximum number of messages other than requests that are sent concurrently.
const NOTIFICATIONS: usize = 16;

/// A client's transport over HTTP.
///
/// Each message is sent in its own POST. A call whose POST gets an error status fails with
/// [`CallError::Http`](mcp_runtime_core::CallError::Http). Other failures of HTTP are
/// [`CallError::Transport`](mcp_runtime_core::CallError::Transport) with an [`HttpError`]. The session continues in
/// both cases.
///
/// When the server has lost the session, the client renews it: it repeats the handshake, and then sends the message
/// again for which the server reported the loss. Other calls in flight of the lost session fail, and the server's
/// requests in it are cancelled. The server has also lost the session's state: subscriptions, the log level and the
/// like have to be set again, and [`HttpOptions::renewed`] notifies of that. If no new session of the same revision can
/// be started, or if it is lost immediately, receiving fails once with [`SessionExpired`]. After that, `initialize` can
/// start another session over the same transport.
///
/// If a server refuses the first POST of a handshake, the client tries HTTP with SSE: a stream of events whose first
/// event names the URL to POST to. The connection ends with that stream.
///
/// Requests of stateless revisions belong to no session. Their headers repeat values from their bodies, including
/// arguments of tools that the server's latest list of tools declares for that; tools with invalid declarations are
/// removed from the list. If the server reports that the headers of a call are wrong, the client lists the tools again
/// and repeats the call once. Such a request is cancelled by closing its response, and fails if its response was cut.
#[derive(Debug)]
pub struct HttpClient {
    sender: HttpSender,
    receiver: HttpReceiver,
}

/// The sending half of an [`HttpClient`]. When it is dropped, nothing more is sent or received. But only closing it
/// ends the session on the server.
///
/// When sending returns, a request is on its way, and any other message has been received by the server. If sending a
/// notification or a response fails, the error is logged to `tracing`, since no caller waits for it.
#[derive(Debug)]
pub struct HttpSender {
    connection: Arc<Connection>,
    _ends: DropGuard,
}

/// The receiving half of an [`HttpClient`].
#[derive(Debug)]
pub struct HttpReceiver {
    inbox: mpsc::Receiver<Inbound>,
    closing: CancellationToken,
    ended: bool,
}

impl HttpOptions {
    /// Creates the HTTP client now, so that all connections with these options share it, with its connection pool and
    /// its trusted certificates.
    ///
    /// # Errors
    /// When the machine has no trusted certificates.
    pub fn shared_client(mut self) -> Result<Self, HttpError> {
        if self.client.is_none() {
            self.client = Some(connection::client(&self)?);
        }
        Ok(self)
    }
}

impl HttpClient {
    /// Creates a client of the server at this URL. Nothing is sent yet.
    ///
    /// # Errors
    /// When it isn't an HTTP or HTTPS URL, or the machine has no trusted certificates.
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

        let authorization = options.authorizer.as_ref().map(|authorizer| authorizer.at(&url));
        let (sender, inbox) = mpsc::channel(options.queue.max(1));
        let closing = CancellationToken::new();
        let connection = Connection {
            client,
            authorization: authorization.transpose().map_err(HttpError::Unauthorized)?,
            url,
            inbox: sender,
            state: Mutex::new(ClientState::new(&closing)),
            renewing: tokio::sync::Mutex::new(()),
            responded: tokio::sync::Notify::new(),
            in_flight: Mutex::new(HashMap::new()),
            tools: Mutex::default(),
            requests: Arc::new(Semaphore::new(options.requests.clamp(1, Semaphore::MAX_PERMITS))),
            notifications: Arc::new(Semaphore::new(NOTIFICATIONS)),
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
        let kind = classify(&message.json);
        if let PostKind::Cancelled(id) = &kind
            && connection.cancel_by_closing(id)
        {
            return Ok(());
        }
        let semaphore = match kind {
            PostKind::Initialize(_) | PostKind::Request(_) | PostKind::Stateless(..) | PostKind::Listen(..) => {
                &connection.requests
            }
            _ => &connection.notifications,
        };
        let permit = tokio::select! {
            biased;
            () = connection.closing.cancelled() => return Err(TransportError::Closed),
            permit = Arc::clone(semaphore).acquire_owned() => permit.map_err(|_| TransportError::Closed)?,
        };

        match kind {
            PostKind::Initialize(id) => exchange::start(connection, permit, id, message.json, Kind::Initialize),
            PostKind::Stateless(id, revision) => {
                exchange::start(connection, permit, id, message.json, Kind::Stateless(revision));
            }
            PostKind::Listen(id, revision) => {
                exchange::start(connection, permit, id, message.json, Kind::Listen(revision));
            }
            PostKind::Request(id) => exchange::start(connection, permit, id, message.json, Kind::InSession),
            kind => {
                // In a task, so that the message is sent even if this future is dropped.
                let posting = exchange::post(Arc::clone(connection), kind, message.json);
                let closing = connection.closing.clone();
                let posted = tokio::spawn(async move {
                    let _permit = permit;
                    closing.run_until_cancelled_owned(posting).await
                });
                return posted.await.ok().flatten().unwrap_or(Err(TransportError::Closed));
            }
        }
        Ok(())
    }

    fn negotiated(&self, revision: Revision) {
        let header = revision.facts().version_header.and_then(header_name);
        let mut state = self.connection.state.lock();
        state.version = header.map(|name| (name, HeaderValue::from_static(revision.as_str())));
        state.revision = Some(revision);
        if let Some(handshake) = &mut state.handshake {
            handshake.revision = Some(revision);
        }
    }

    fn suspended(&self) -> Duration {
        let authorization = self.connection.authorization.as_ref();
        authorization.map_or(Duration::ZERO, |authorization| authorization.waited())
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
            Some(Inbound::Incoming(incoming)) => Ok(Some(incoming)),
            Some(Inbound::Expired) => Err(TransportError::Other(Box::new(SessionExpired))),
            Some(Inbound::End) | None => {
                self.ended = true;
                Ok(None)
            }
        }
    }
}
