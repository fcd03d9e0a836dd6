//! The sessions with the server: which clients share one, and how long they last.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::Revision;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::asking::Parking;
use super::back::{Back, BackHandler};
use super::connector::Connector;
use super::error::BridgeError;
use super::front::begin;
use super::links::Links;
use super::opening::Opening;
use super::options::BridgeOptions;
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
    shared: Mutex<HashMap<Shared, Slot>>,
}

/// A session that several clients may use, once it has begun. The first client begins it, and only those with whom it shares it wait.
type Slot = Arc<OnceCell<Arc<Lease>>>;

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
            shared: Mutex::default(),
        })
    }

    /// The session with the server that a client uses.
    pub async fn lease(
        self: &Arc<Self>,
        opening: &Opening,
        principal: Option<&str>,
    ) -> Result<Arc<Lease>, BridgeError> {
        if let Some(lease) = stateless(&mut self.shared.lock()) {
            return Ok(lease);
        }
        if Era::of(opening.revision) == Era::Handshake {
            let lease = self.connect(opening).await?;
            return Ok(match lease.back.is_stateless() {
                true => self.share(lease),
                false => lease,
            });
        }
        let common = Shared::Client(identity(&opening.info, principal));
        let slot = self.slot(&common);
        let connect = async || {
            let lease = self.connect(opening).await?;
            if !lease.back.is_stateless() {
                self.end_when_idle(common.clone(), &slot);
            }
            Ok::<_, BridgeError>(lease)
        };
        let lease = Arc::clone(slot.get_or_try_init(connect).await?);
        if lease.back.is_stateless() {
            self.shared.lock().remove(&common);
            drop(slot);
            return Ok(self.share(lease));
        }
        lease.touch();
        Ok(lease)
    }

    fn slot(&self, common: &Shared) -> Slot {
        Arc::clone(self.shared.lock().entry(common.clone()).or_default())
    }

    /// The session with a stateless server that all clients use from now on: this one, unless another client was faster.
    fn share(self: &Arc<Self>, lease: Arc<Lease>) -> Arc<Lease> {
        let mut shared = self.shared.lock();
        if let Some(known) = stateless(&mut shared) {
            tokio::spawn(lease.release());
            return known;
        }
        let slot = Arc::new(OnceCell::new_with(Some(Arc::clone(&lease))));
        self.end_when_idle(Shared::Stateless, &slot);
        shared.insert(Shared::Stateless, slot);
        lease
    }

    fn end_when_idle(self: &Arc<Self>, common: Shared, slot: &Slot) {
        let (servers, slot) = (Arc::downgrade(self), Arc::downgrade(slot));
        tokio::spawn(end_idle(servers, common, slot, self.options.idle));
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
        let slots: Vec<Slot> = self.shared.lock().drain().map(|(_, slot)| slot).collect();
        for lease in slots.iter().filter_map(|slot| slot.get()) {
            lease.back.close().await;
        }
    }
}

impl Lease {
    fn touch(&self) {
        *self.used.lock() = Instant::now();
    }

    /// A client has ended. A session that isn't shared ends with it.
    pub async fn release(self: Arc<Self>) {
        self.touch();
        if Arc::strong_count(&self) == 1 {
            self.back.close().await;
        }
    }

    /// Whether a shared session has had no client for a time.
    fn is_idle(self: &Arc<Self>, idle: Duration) -> bool {
        Arc::strong_count(self) == 1 && self.used.lock().elapsed() >= idle
    }
}

/// The session with a server that is known to be stateless.
fn stateless(shared: &mut HashMap<Shared, Slot>) -> Option<Arc<Lease>> {
    // Those that have ended are forgotten, and those that nobody begins any more.
    shared.retain(|_, slot| match slot.get() {
        Some(lease) => !lease.back.state.ended.is_cancelled(),
        None => Arc::strong_count(slot) > 1,
    });
    let lease = Arc::clone(shared.get(&Shared::Stateless)?.get()?);
    lease.touch();
    Some(lease)
}

/// Ends a shared session after a time without clients.
async fn end_idle<C: Connector>(
    servers: Weak<Servers<C>>,
    common: Shared,
    slot: Weak<OnceCell<Arc<Lease>>>,
    idle: Duration,
) {
    loop {
        tokio::time::sleep((idle / 4).max(Duration::from_millis(10))).await;
        let Some(servers) = servers.upgrade() else { return };
        let lease = {
            let mut shared = servers.shared.lock();
            let is_it = |known: &&Slot| std::ptr::eq(Arc::as_ptr(known), slot.as_ptr());
            // Another session may have taken its place.
            let Some(known) = shared.get(&common).filter(is_it) else {
                return;
            };
            // A client may be about to use it, or it is about to begin.
            let is_taken = Arc::strong_count(known) > 1;
            let Some(lease) = known.get().filter(|_| !is_taken) else {
                continue;
            };
            if !lease.is_idle(idle) && !lease.back.state.ended.is_cancelled() {
                continue;
            }
            let lease = Arc::clone(lease);
            shared.remove(&common);
            lease
        };
        lease.back.close().await;
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
