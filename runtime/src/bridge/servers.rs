//! The sessions with the server: which clients share one, and how long they last.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::Revision;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::asking::Parking;
use super::back::{Back, BackHandler, Links};
use super::front::begin;
use super::opening::Opening;
use super::{BridgeError, BridgeOptions, Connector};
use crate::canonical::canonical;
use crate::era::{Era, with_era};
use crate::error::CallError;
use crate::session::{ClientInfo, connect_by_handshake, connect_with};
use crate::sync::Mutex;

/// The sessions with one server.
pub struct Servers<C> {
    connector: C,
    options: BridgeOptions,
    permits: Arc<Semaphore>,
    /// The sessions that several clients may use, by what these have in common.
    shared: tokio::sync::Mutex<HashMap<Shared, Arc<Lease>>>,
}

/// What the clients of a session with the server have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Shared {
    /// The server is stateless: each request says whose it is.
    Stateless,
    /// The clients are stateless, and say the same about themselves on behalf of the same principal.
    Client(String),
}

/// A session with the server. It ends some time after its last client.
pub struct Lease {
    pub back: Arc<Back>,
    used: Mutex<Instant>,
    _permit: OwnedSemaphorePermit,
}

impl<C: Connector> Servers<C> {
    pub fn new(connector: C, options: BridgeOptions) -> Arc<Self> {
        Arc::new(Self {
            connector,
            permits: Arc::new(Semaphore::new(options.servers.clamp(1, Semaphore::MAX_PERMITS))),
            options,
            shared: tokio::sync::Mutex::default(),
        })
    }

    /// The session with the server that a client uses.
    pub async fn lease(
        self: &Arc<Self>,
        opening: &Opening,
        principal: Option<&str>,
    ) -> Result<Arc<Lease>, BridgeError> {
        let era = Era::of(opening.revision);
        let mut shared = self.shared.lock().await;
        shared.retain(|_, lease| !lease.back.state.ended.is_cancelled());
        let of_client = Shared::Client(identity(&opening.info, principal));
        let known = shared.get(&Shared::Stateless);
        let known = known.or_else(|| shared.get(&of_client).filter(|_| era == Era::Stateless));
        if let Some(lease) = known {
            *lease.used.lock() = Instant::now();
            return Ok(Arc::clone(lease));
        }
        if era == Era::Handshake {
            // Its server may take long to start, and others needn't wait for that.
            drop(shared);
            let lease = self.connect(opening).await?;
            if lease.back.is_stateless() {
                self.share(&mut *self.shared.lock().await, Shared::Stateless, &lease);
            }
            return Ok(lease);
        }
        let lease = self.connect(opening).await?;
        let common = if lease.back.is_stateless() {
            Shared::Stateless
        } else {
            of_client
        };
        self.share(&mut shared, common, &lease);
        Ok(lease)
    }

    fn share(self: &Arc<Self>, shared: &mut HashMap<Shared, Arc<Lease>>, common: Shared, lease: &Arc<Lease>) {
        let replaced = shared.insert(common.clone(), Arc::clone(lease));
        drop(replaced);
        tokio::spawn(end_idle(Arc::clone(self), common, self.options.idle));
    }

    /// Starts a session with the server on behalf of a client.
    async fn connect(&self, opening: &Opening) -> Result<Arc<Lease>, BridgeError> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let _permit = permit.map_err(|_| BridgeError::TooManyServers(self.options.servers))?;
        let transport = self.connector.connect().await.map_err(CallError::from)?;
        let options = self.options.of_sessions();
        let era = Era::of(opening.revision);
        let parking = Parking::new(self.options.parked, self.options.parked_for);
        let links = Links::new(era, Arc::clone(&parking));
        let handler = Arc::new(BackHandler(Arc::clone(&links)));
        let mut info = opening.info.clone();
        let session = match (era, asked(opening.revision, &options.supported)) {
            (Era::Handshake, Some(asked)) => {
                if let Some((from, request)) = &opening.begin {
                    let params = begin((*from, asked), request, options.losses.as_ref()).map_err(CallError::Peer)?;
                    info.begin = params.map(|params| (asked, params));
                }
                connect_by_handshake(handler, info, options, transport, asked).await?
            }
            _ => connect_with(handler, info, options, transport).await?,
        };
        Ok(Arc::new(Lease {
            back: Back::new(session, links, parking),
            used: Mutex::new(Instant::now()),
            _permit,
        }))
    }

    /// Ends all sessions that are shared.
    pub async fn close(&self) {
        let leases: Vec<_> = self.shared.lock().await.drain().map(|(_, lease)| lease).collect();
        for lease in leases {
            lease.back.close().await;
        }
    }
}

impl Lease {
    /// A client has ended. A session that isn't shared ends with it.
    pub async fn release(self: Arc<Self>) {
        *self.used.lock() = Instant::now();
        if Arc::strong_count(&self) == 1 {
            self.back.close().await;
        }
    }
}

/// Ends a shared session after a time without clients.
async fn end_idle<C: Connector>(servers: Arc<Servers<C>>, common: Shared, idle: Duration) {
    let servers = Arc::downgrade(&{ servers });
    loop {
        tokio::time::sleep((idle / 4).max(Duration::from_millis(10))).await;
        let Some(servers) = servers.upgrade() else { return };
        let mut shared = servers.shared.lock().await;
        let Some(lease) = shared.get(&common) else { return };
        let is_idle = Arc::strong_count(lease) == 1 && lease.used.lock().elapsed() >= idle;
        if !is_idle && !lease.back.state.ended.is_cancelled() {
            continue;
        }
        let ended = shared.remove(&common);
        drop(shared);
        if let Some(lease) = ended {
            lease.back.close().await;
        }
        return;
    }
}

/// The revision with a handshake that a server is asked for: the client's own if it is supported.
fn asked(client: Revision, supported: &[Revision]) -> Option<Revision> {
    let handshakes = with_era(supported, Era::Handshake);
    match handshakes.contains(&client) {
        true => Some(client),
        false => handshakes.into_iter().max(),
    }
}

/// What a stateless client says about itself, and on whose behalf.
fn identity(info: &ClientInfo, principal: Option<&str>) -> String {
    let implementation = serde_json::to_value(&info.implementation).unwrap_or_default();
    let capabilities = serde_json::to_value(&info.capabilities).unwrap_or_default();
    canonical(&serde_json::json!([principal, implementation, capabilities]))
}
