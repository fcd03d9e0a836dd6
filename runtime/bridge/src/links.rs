//! The links between the session with a server and its clients.

use std::sync::Arc;

use mcp_adapters::Revision;
use mcp_runtime_core::internal::SessionState;
use mcp_runtime_core::{ClientSide, Peer, ServerSide};
use tokio::sync::watch;
use tokio::time::Instant;

use super::calls::Calls;
use super::input_requests::OpenInputRequests;
use super::tasks::ServerTasks;

/// A client of the bridge.
pub struct Downstream {
    pub state: Arc<SessionState<ServerSide>>,
    /// The calls of the server to the client.
    pub calls: Arc<Calls<ClientSide>>,
}

/// The links between the session with a server and its clients.
pub struct Links {
    /// The revision of the clients; with a stateless server, that of its first client.
    pub client: Revision,
    /// The calls of the clients.
    pub calls: Arc<Calls<ServerSide>>,
    /// The only client of a server with sessions, if it has a session too.
    pub downstream: watch::Sender<Option<Arc<Downstream>>>,
    /// The open input requests of the server to stateless clients.
    pub input_requests: Arc<OpenInputRequests>,
    /// The tasks of the server that are followed.
    pub tasks: ServerTasks,
}

impl Links {
    pub fn new(client: Revision, input_requests: Arc<OpenInputRequests>) -> Arc<Self> {
        Arc::new(Self {
            client,
            calls: Arc::default(),
            downstream: watch::Sender::new(None),
            input_requests,
            tasks: ServerTasks::default(),
        })
    }

    /// Returns the time since which nothing has been in flight; `None` if something is.
    pub fn idle_since(&self) -> Option<Instant> {
        let downstream = self.downstream.borrow().clone();
        let of_server = downstream.map(|downstream| downstream.calls.idle_since());
        if self.input_requests.has_calls() || of_server == Some(None) {
            return None;
        }
        self.calls.idle_since()
    }

    /// Waits for the client with a session, to which the server's messages go. The handle belongs to the client's
    /// latest call, if one is in flight.
    pub async fn client_now(&self) -> Option<Peer<ServerSide>> {
        let downstream = self.begun_downstream().await?;
        let latest = self.calls.latest();
        Some(latest.unwrap_or_else(|| Peer::new(Arc::clone(&downstream.state))))
    }

    /// Returns the client, if it has completed its handshake.
    pub fn ready_downstream(&self) -> Option<Arc<Downstream>> {
        let downstream = self.downstream.borrow().clone();
        downstream.filter(|downstream| downstream.state.begun.is_cancelled())
    }

    /// Returns the client once it has completed its handshake.
    pub async fn begun_downstream(&self) -> Option<Arc<Downstream>> {
        let mut downstream = self.downstream.subscribe();
        let downstream = downstream.wait_for(Option::is_some).await.ok()?.clone()?;
        tokio::select! {
            () = downstream.state.begun.cancelled() => {}
            () = downstream.state.ended.cancelled() => return None,
        }
        Some(downstream)
    }
}
