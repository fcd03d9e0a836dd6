//! A session with a server, and how it is used.

use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::{PeerTypes, Revision};
use mcp_runtime_core::internal::SessionState;
use mcp_runtime_core::{ClientSession, ClientSide};
use mcp_runtime_util::Mutex;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::Owner;
use super::links::{Downstream, Links};
use super::tasks::{TranslatedTasks, offers_tasks};

/// A session with a server.
pub struct Upstream {
    pub state: Arc<SessionState<ClientSide>>,
    pub revision: Revision,
    pub links: Arc<Links>,
    /// The tasks of all clients.
    pub tasks: Arc<TranslatedTasks>,
    /// Whether the server offers tasks.
    pub offers_tasks: bool,
    /// The lease that keeps the session open.
    pub lease: Weak<Lease>,
    /// The severity that was last requested as the log level of a server with sessions.
    pub level: Mutex<Option<usize>>,
    session: Mutex<Option<ClientSession>>,
}

impl Upstream {
    pub fn new(
        session: ClientSession,
        links: Arc<Links>,
        tasks: Arc<TranslatedTasks>,
        lease: Weak<Lease>,
    ) -> Arc<Self> {
        let state = Arc::clone(session.peer().state());
        Arc::new(Self {
            revision: state.negotiated().revision,
            offers_tasks: offers_tasks(&state),
            state,
            tasks,
            links,
            lease,
            level: Mutex::default(),
            session: Mutex::new(Some(session)),
        })
    }

    /// Whether the server is stateless, so that several clients can use the session.
    pub fn is_stateless(&self) -> bool {
        self.revision.is_stateless()
    }

    /// Lets a server with sessions call its client, if that has a session too.
    pub fn attach(&self, client: &Arc<Downstream>) {
        if !self.is_stateless() && !self.links.client.is_stateless() {
            self.links.downstream.send_replace(Some(Arc::clone(client)));
        }
    }

    /// Ends the session with the server.
    pub async fn close(&self) {
        self.links.input_requests.close();
        let session = self.session.lock().take();
        if let Some(session) = session {
            session.close().await;
        }
    }
}

/// A lease of a session with the server, shared by its clients. The session ends some time after its last client.
pub struct Lease {
    pub upstream: Arc<Upstream>,
    pub used: Mutex<Instant>,
    pub usage: Arc<Usage>,
    pub _permit: OwnedSemaphorePermit,
}

/// The owner and the links of a session, by which the session to evict is chosen.
pub struct Usage {
    pub owner: Owner,
    pub links: Arc<Links>,
    /// Cancelled when the session is evicted.
    pub evicted: CancellationToken,
}

impl Lease {
    pub fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// Releases the session of a client that has ended. A session that isn't shared ends with the client.
    pub async fn release(self: Arc<Self>) {
        self.touch();
        if Arc::strong_count(&self) == 1 {
            self.upstream.close().await;
        }
    }

    /// Waits until the session is evicted.
    pub async fn evicted(&self) {
        self.usage.evicted.cancelled().await;
    }

    /// Whether a shared session has had no client for at least this time.
    pub fn is_idle(self: &Arc<Self>, idle: Duration) -> bool {
        Arc::strong_count(self) == 1 && self.used.lock().elapsed() >= idle
    }
}

/// The session with the server that a client uses now.
pub struct Current(Mutex<Arc<Upstream>>);

impl Current {
    pub fn new(upstream: Arc<Upstream>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(upstream)))
    }

    pub fn get(&self) -> Arc<Upstream> {
        Arc::clone(&self.0.lock())
    }

    pub fn replace(&self, upstream: Arc<Upstream>) {
        *self.0.lock() = upstream;
    }
}
