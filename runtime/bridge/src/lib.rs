//! A bridge between clients and servers of any two revisions.
//!
//! Each side negotiates its own revision. Between two revisions of one era, messages are translated directly; between equal
//! revisions, they keep their bytes. Between the eras, and between two revisions of one era with a revision of the
//! other era between them, the bridge also translates the mechanisms that differ:
//!
//! - a client's handshake becomes a discovery of the server, and the reverse
//! - an input request in a server's result becomes a request to the client, and the reverse
//! - subscriptions are made in the form of the server's revision
//! - tasks in the core of one revision become tasks of the tasks extension, and the reverse
//!
//! ```
//! use mcp_runtime::bridge::{Bridge, BridgeOptions};
//! use mcp_runtime::transport::channel;
//! use mcp_runtime::{Options, Router};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let router = Router::new("weather", "1.0");
//! // Each connection to the server is one to this router, in the same process.
//! let bridge = Bridge::new(
//!     move || {
//!         let (server, client) = channel(16);
//!         drop(router.clone().serve(Options::default(), server));
//!         Ok(client)
//!     },
//!     BridgeOptions::default(),
//! );
//! let (clients, _client) = channel(16);
//! tokio::spawn(async move { bridge.serve(clients).await });
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod calls;
mod capabilities;
mod changes;
mod client;
mod downstream;
mod era_translator;
mod error;
mod first_message;
mod following;
mod input_requests;
mod links;
mod options;
mod passing;
mod server_sessions;
mod suspended;
mod tasks;
mod translated_tasks;
mod translation;
mod upstream;
mod upstream_handler;

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, ErrorResponse};
use mcp_adapters::{PeerTypes, session_messages};
use mcp_runtime_core::internal::{DynTransport, internal_error, to_json};
use mcp_runtime_core::transport::{Sender, Transport};
use mcp_runtime_core::{CallError, ConnectError};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::first_message::{FirstMessage, response};
use self::options::delay_after;
use self::server_sessions::Servers;
use self::translation::are_of_one_era;
use self::upstream::{Current, Lease};

pub use self::client::ClientId;
pub use self::error::BridgeError;
pub use self::options::BridgeOptions;
pub use mcp_runtime_core::transport::Connector;

/// A bridge to one server, for any number of clients. Clones are the same bridge.
#[derive(Clone)]
pub struct Bridge {
    servers: Arc<Servers>,
    options: BridgeOptions,
    closing: CancellationToken,
    /// The clients being served.
    clients: TaskTracker,
}

impl Bridge {
    /// Creates a bridge to the server that `connector` connects to. It connects when the first client arrives, or by
    /// [`Self::start`].
    pub fn new(connector: impl Connector, options: BridgeOptions) -> Self {
        Self {
            servers: Servers::new(connector.into(), options.clone()),
            options,
            closing: CancellationToken::new(),
            clients: TaskTracker::new(),
        }
    }

    /// Serves a client until either side ends.
    ///
    /// # Errors
    /// When no session with the server can be started, or the server ends first. The client has already been informed.
    pub async fn serve(&self, transport: impl Transport) -> Result<(), BridgeError> {
        self.serve_for(ClientId::default(), transport).await
    }

    /// Connects to the server before there is a client. The first client uses this connection, so a server process that
    /// is started for it is ready sooner.
    ///
    /// # Errors
    /// When the server can't be started.
    pub async fn start(&self) -> Result<(), BridgeError> {
        self.servers.start().await
    }

    /// Serves a client with a known identity: a principal, or the
    /// [`SessionInfo`](mcp_runtime_http::server::SessionInfo) of a session over HTTP.
    ///
    /// Stateless clients share a session with a server that has sessions if their principals, implementations and
    /// capabilities are equal. Clients that declare a capability for input requests, such as elicitation, must also be
    /// known to be one client: by their principal or, without one, by their connection.
    ///
    /// # Errors
    /// Those of [`Self::serve`].
    pub async fn serve_for(&self, client: impl Into<ClientId>, transport: impl Transport) -> Result<(), BridgeError> {
        let mut client = client.into();
        // Sessions that no other client can use end when this guard is dropped.
        let _closed = client.ensure_connection();
        let _served = self.clients.token();
        let read = tokio::select! {
            read = FirstMessage::read(transport, &self.options.clients) => read,
            () = self.closing.cancelled() => None,
        };
        let Some((first_message, mut transport)) = read else {
            return Ok(());
        };
        let leased = tokio::select! {
            leased = self.servers.lease(&first_message, &client) => leased,
            // Only the session for a stateless client can be of use to other clients.
            () = transport.gone(), if first_message.revision.has_handshake() => return Ok(()),
            () = self.closing.cancelled() => return Ok(()),
        };
        match leased {
            Ok(lease) => self.serve_with(lease, first_message, client, transport.into()).await,
            Err(error) => {
                let told = ErrorResponse::new(first_message.id.clone(), refusal(&first_message, &error));
                // The client may have gone.
                let _ = transport.sender.send(response(to_json(&told), first_message.id)).await;
                transport.sender.close().await;
                Err(error)
            }
        }
    }

    async fn serve_with(
        &self,
        mut lease: Arc<Lease>,
        first_message: FirstMessage,
        client: ClientId,
        transport: DynTransport,
    ) -> Result<(), BridgeError> {
        let current = Current::new(Arc::clone(&lease.upstream));
        let (downstream, session) = downstream::start(
            &current,
            &self.servers.suspended,
            &first_message,
            &client,
            self.options.of_clients(),
            transport,
        );
        let closing = session.closing_token();
        let mut ended = Box::pin(session.ended());
        let mut is_restarted = false;
        let (lease, outcome) = 'served: loop {
            let upstream = Arc::clone(&lease.upstream);
            let sessions = || (Arc::clone(&upstream), Arc::clone(&downstream.state));
            let in_one_era = are_of_one_era(first_message.revision, upstream.revision);
            let renews = in_one_era && !upstream.is_stateless();
            if !in_one_era {
                let (upstream, client) = sessions();
                tokio::spawn(changes::follow(upstream, client, is_restarted));
            } else if renews && is_restarted {
                upstream.state.renewed.notify_one();
            }
            let lost = loop {
                tokio::select! {
                    () = &mut ended => break 'served (Some(lease), Ok(())),
                    () = self.closing.cancelled() => break 'served (Some(lease), Ok(())),
                    () = lease.evicted() => break 'served (Some(lease), Err(BridgeError::Evicted)),
                    () = upstream.state.ended.cancelled() => break upstream.state.closed(),
                    () = upstream.state.renewed.notified(), if renews => {
                        let (upstream, client) = sessions();
                        tokio::spawn(changes::renew(upstream, client));
                    }
                }
            };
            if !self.options.restart {
                break (Some(lease), Err(BridgeError::Server(lost)));
            }
            tracing::warn!(error = %lost, "the server has ended, and is restarted");
            lease = tokio::select! {
                () = &mut ended => break (None, Ok(())),
                () = self.closing.cancelled() => break (None, Ok(())),
                restarted = self.restart(lease, &first_message, &client) => restarted,
            };
            is_restarted = true;
            current.replace(Arc::clone(&lease.upstream));
            lease.upstream.attach(&downstream);
        };
        closing.cancel();
        // The client's session may already have ended.
        if !downstream.state.ended.is_cancelled() {
            ended.await;
        }
        if let Some(lease) = lease {
            lease.release().await;
        }
        outcome
    }

    /// Restarts a server that has ended, and retries until that succeeds. The new session replaces the old one in the
    /// count of [`BridgeOptions::server_sessions`].
    async fn restart(&self, ended: Arc<Lease>, first_message: &FirstMessage, client: &ClientId) -> Arc<Lease> {
        let before = ended.upstream.revision;
        ended.release().await;
        let mut attempts = 0;
        loop {
            attempts += 1;
            tokio::time::sleep(delay_after(attempts)).await;
            match self.servers.lease(first_message, client).await {
                Ok(lease) if lease.upstream.revision == before => return lease,
                Ok(lease) => {
                    tracing::warn!(revision = %lease.upstream.revision, "the server speaks another revision than before");
                    lease.release().await;
                }
                Err(error) => tracing::warn!(%error, "the server can't be restarted"),
            }
        }
    }

    /// Ends all sessions. Requests in flight have [`BridgeOptions::close_timeout`] to finish. The futures of
    /// [`Self::serve`] complete.
    pub async fn close(&self) {
        self.closing.cancel();
        self.clients.close();
        // Clients use their sessions with the server until their own sessions end.
        if tokio::time::timeout(self.options.ending(), self.clients.wait())
            .await
            .is_err()
        {
            tracing::debug!("some clients did not end in time");
        }
        self.servers.close().await;
    }
}

/// Returns the error for a client that gets no session with the server.
fn refusal(first_message: &FirstMessage, error: &BridgeError) -> ErrorObject {
    match error {
        BridgeError::Connect(ConnectError::Call(CallError::Peer(error))) => error.clone(),
        BridgeError::Connect(ConnectError::Mismatch(mismatch)) if !first_message.revision.has_handshake() => {
            session_messages::unsupported(first_message.revision, mismatch)
        }
        error => internal_error(error),
    }
}
