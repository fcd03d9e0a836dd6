//! The sessions with the server: which clients share one, and how long they last.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::{Loss, Revision, session_messages};
use mcp_runtime_core::internal::{
    ClientInfo, DynConnector, DynTransport, canonical, connect_by_handshake, connect_with, log_losses, with_era,
};
use mcp_runtime_core::transport::Connection;
use mcp_runtime_core::{CallError, ClientSession, ConnectError, Era, LossObserver};
use mcp_runtime_util::Mutex;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::{ClientId, KnownBy, Owner, can_be_asked};
use super::downstream::begin;
use super::error::BridgeError;
use super::first_message::FirstMessage;
use super::input_requests::OpenInputRequests;
use super::links::Links;
use super::options::BridgeOptions;
use super::suspended::SuspendedCalls;
use super::tasks::TranslatedTasks;
use super::translation::are_of_one_era;
use super::upstream::{Lease, Upstream, Usage};
use super::upstream_handler::UpstreamHandler;

/// How often a session whose client has closed its connection is checked for remaining use.
const LOOK: Duration = Duration::from_secs(1);

/// The sessions with one server.
pub struct Servers {
    connector: DynConnector,
    options: BridgeOptions,
    permits: Arc<Semaphore>,
    /// A connection that was made before there was a client.
    spare: Mutex<Option<DynTransport>>,
    pub suspended: Arc<SuspendedCalls>,
    tasks: Arc<TranslatedTasks>,
    /// All sessions.
    usages: Mutex<Vec<Weak<Usage>>>,
    /// The sessions that several clients can use, by what the clients have in common.
    shared: Mutex<HashMap<Shared, Slot>>,
}

/// A session that several clients can use. The first of them starts it, and only those that share it wait for that.
type Slot = Arc<OnceCell<Arc<Lease>>>;

/// The key of a shared session: what its clients have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Shared {
    /// The server is stateless: each request identifies its client. The session has the revision of its clients if they
    /// are stateless and the server supports it.
    Stateless(Option<Revision>),
    /// The clients are stateless, and have the same implementation, capabilities and principal. If the server can
    /// request input from them, they are also known to be one client.
    Client(String, Option<KnownBy>),
}

impl Servers {
    pub fn new(connector: DynConnector, options: BridgeOptions) -> Arc<Self> {
        Arc::new(Self {
            connector,
            permits: Arc::new(Semaphore::new(options.server_sessions.clamp(1, Semaphore::MAX_PERMITS))),
            spare: Mutex::default(),
            suspended: SuspendedCalls::new(options.suspended_calls, options.suspension_timeout),
            tasks: TranslatedTasks::new(options.tasks),
            usages: Mutex::default(),
            options,
            shared: Mutex::default(),
        })
    }

    /// Connects to the server before there is a client.
    pub async fn start(&self) -> Result<(), BridgeError> {
        let spare = self.connector.connect().await.map_err(CallError::from)?;
        *self.spare.lock() = Some(spare);
        Ok(())
    }

    /// Returns the session with the server for a client. It can wait for one that another client is starting.
    pub async fn lease(
        self: &Arc<Self>,
        first_message: &FirstMessage,
        client: &ClientId,
    ) -> Result<Arc<Lease>, BridgeError> {
        let patience = self.options.connect_timeout;
        match tokio::time::timeout(patience, self.find_or_connect(first_message, client)).await {
            Ok(leased) => leased,
            Err(_) => Err(CallError::TimedOut(patience).into()),
        }
    }

    async fn find_or_connect(
        self: &Arc<Self>,
        first_message: &FirstMessage,
        client: &ClientId,
    ) -> Result<Arc<Lease>, BridgeError> {
        let revision = Some(first_message.revision).filter(|revision| Era::of(*revision) == Era::Stateless);
        let by_revision = Shared::Stateless(revision);
        if let Some(lease) = stateless(&mut self.shared.lock(), &by_revision) {
            return Ok(lease);
        }
        if revision.is_none() {
            let lease = self.connect(first_message, client).await?;
            return Ok(match lease.upstream.is_stateless() {
                true => self.share(lease, by_revision),
                false => lease,
            });
        }
        let resumed = first_message.resumes.as_deref();
        if let Some(lease) = resumed.and_then(|name| self.suspended.lease(name, client)) {
            return Ok(lease);
        }
        let known = can_be_asked(&first_message.info).then(|| client.known());
        let only_connection = match known {
            Some(KnownBy::Connection(_)) => client.connection(),
            _ => None,
        };
        let common = Shared::Client(identity(&first_message.info, client.principal()), known);
        let slot = Arc::clone(self.shared.lock().entry(common.clone()).or_default());
        let connect = async || {
            let lease = self.connect(first_message, client).await?;
            if !lease.upstream.is_stateless() {
                self.end_when_idle(common.clone(), &slot, only_connection.clone());
            }
            Ok::<_, BridgeError>(lease)
        };
        let lease = Arc::clone(slot.get_or_try_init(connect).await?);
        if lease.upstream.is_stateless() {
            self.shared.lock().remove(&common);
            drop(slot);
            return Ok(self.share(lease, by_revision));
        }
        lease.touch();
        Ok(lease)
    }

    /// Shares a session with a stateless server among all clients of a revision. Returns this session, or the one that
    /// another client shared first.
    fn share(self: &Arc<Self>, lease: Arc<Lease>, by_revision: Shared) -> Arc<Lease> {
        let mut shared = self.shared.lock();
        if let Some(known) = stateless(&mut shared, &by_revision) {
            tokio::spawn(lease.release());
            return known;
        }
        let slot = Arc::new(OnceCell::new_with(Some(Arc::clone(&lease))));
        self.end_when_idle(by_revision.clone(), &slot, None);
        shared.insert(by_revision, slot);
        lease
    }

    fn end_when_idle(self: &Arc<Self>, common: Shared, slot: &Slot, connection: Option<Connection>) {
        let (servers, slot) = (Arc::downgrade(self), Arc::downgrade(slot));
        tokio::spawn(end_idle(servers, common, slot, connection, self.options.idle));
    }

    /// Starts a session with the server on behalf of a client.
    async fn connect(&self, first_message: &FirstMessage, client: &ClientId) -> Result<Arc<Lease>, BridgeError> {
        let permit = self.permit(&client.owner()).await?;
        let spare = self.spare.lock().take();
        if let Some(transport) = spare {
            match self.begin(first_message, transport).await {
                Ok((session, links)) => return Ok(self.keep(session, links, client, permit)),
                Err(error) => tracing::debug!(%error, "the server that was started before its first client isn't used"),
            }
        }
        let transport = self.connector.connect().await.map_err(CallError::from)?;
        let (session, links) = self.begin(first_message, transport).await?;
        Ok(self.keep(session, links, client, permit))
    }

    async fn begin(
        &self,
        first_message: &FirstMessage,
        transport: DynTransport,
    ) -> Result<(ClientSession, Arc<Links>), ConnectError> {
        let client = first_message.revision;
        let mut options = self.options.of_sessions();
        let losses = options.losses.unwrap_or_else(|| Arc::new(log_losses));
        options.losses = Some(without_description(client, losses));
        let input_requests = OpenInputRequests::new(self.options.suspended_calls, self.options.suspension_timeout);
        let links = Links::new(client, input_requests);
        let handler = UpstreamHandler(Arc::clone(&links)).into();
        let mut info = first_message.info.clone();
        let session = match (Era::of(client), asked(client, &options.supported)) {
            (Era::Handshake, Some(asked)) => {
                if let Some((from, request)) = &first_message.begin
                    && are_of_one_era(*from, asked)
                {
                    let params = begin((*from, asked), request, options.losses.as_ref()).map_err(CallError::Peer)?;
                    info.begin = params.map(|params| (asked, params));
                }
                connect_by_handshake(handler, info, options, transport, asked).await?
            }
            _ => connect_with(handler, info, options, transport, Some(client)).await?,
        };
        Ok((session, links))
    }

    fn keep(
        &self,
        session: ClientSession,
        links: Arc<Links>,
        client: &ClientId,
        permit: OwnedSemaphorePermit,
    ) -> Arc<Lease> {
        let usage = Arc::new(Usage {
            owner: client.owner(),
            links: Arc::clone(&links),
            evicted: CancellationToken::new(),
        });
        let mut usages = self.usages.lock();
        usages.retain(|usage| usage.strong_count() > 0);
        usages.push(Arc::downgrade(&usage));
        Arc::new_cyclic(|lease| Lease {
            upstream: Upstream::new(session, links, Arc::clone(&self.tasks), Weak::clone(lease)),
            used: Mutex::new(Instant::now()),
            usage,
            _permit: permit,
        })
    }

    /// Acquires the permit for one more session. If none is free, it evicts an idle session.
    async fn permit(&self, client: &Owner) -> Result<OwnedSemaphorePermit, BridgeError> {
        let too_many = || BridgeError::TooManyServers(self.options.server_sessions);
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        let idlest = self.idlest(client).ok_or_else(too_many)?;
        idlest.evicted.cancel();
        let permit = tokio::time::timeout(self.options.ending(), Arc::clone(&self.permits).acquire_owned()).await;
        // The semaphore is never closed.
        permit.ok().and_then(Result::ok).ok_or_else(too_many)
    }

    /// Finds the session to evict for a new session of `client`: the one that has been idle longest, among those of the
    /// clients with the most sessions, including the new one.
    fn idlest(&self, client: &Owner) -> Option<Arc<Usage>> {
        let usages: Vec<Arc<Usage>> = self.usages.lock().iter().filter_map(Weak::upgrade).collect();
        let mut counts: HashMap<&Owner, usize> = HashMap::from([(client, 1)]);
        for usage in &usages {
            *counts.entry(&usage.owner).or_default() += 1;
        }
        let idle = usages.iter().filter(|usage| !usage.evicted.is_cancelled());
        let idle = idle.filter_map(|usage| Some((usage, usage.links.idle_since()?)));
        let idlest = idle.max_by_key(|(usage, since)| (counts.get(&usage.owner).copied(), Reverse(*since)));
        idlest.map(|(usage, _)| Arc::clone(usage))
    }

    /// Ends all shared sessions.
    pub async fn close(&self) {
        self.suspended.clear();
        drop(self.spare.lock().take());
        let slots: Vec<Slot> = self.shared.lock().drain().map(|(_, slot)| slot).collect();
        for lease in slots.iter().filter_map(|slot| slot.get()) {
            lease.upstream.close().await;
        }
    }
}

/// Returns the shared session with a stateless server, if there is one for clients of this revision.
fn stateless(shared: &mut HashMap<Shared, Slot>, by_revision: &Shared) -> Option<Arc<Lease>> {
    // Removes sessions that have ended, and those that no client is starting any more.
    shared.retain(|_, slot| match slot.get() {
        Some(lease) => !lease.upstream.state.ended.is_cancelled(),
        None => Arc::strong_count(slot) > 1,
    });
    let lease = Arc::clone(shared.get(by_revision)?.get()?);
    lease.touch();
    Some(lease)
}

/// Ends a shared session when it has been idle for a time, when its only client has closed its connection, or when it
/// is evicted.
async fn end_idle(
    servers: Weak<Servers>,
    common: Shared,
    slot: Weak<OnceCell<Arc<Lease>>>,
    connection: Option<Connection>,
    idle: Duration,
) {
    let mut closed = std::pin::pin!(async {
        match connection {
            Some(connection) => connection.closed().await,
            None => std::future::pending().await,
        }
    });
    let (mut idle, mut pause) = (idle, (idle / 4).max(Duration::from_millis(10)));
    loop {
        let evicted = slot.upgrade().and_then(|slot| Some(slot.get()?.usage.evicted.clone()));
        let evicted = evicted.unwrap_or_default();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = evicted.cancelled() => {}
            () = &mut closed, if !idle.is_zero() => {
                (idle, pause) = (Duration::ZERO, pause.min(LOOK));
            }
        }
        let Some(servers) = servers.upgrade() else { return };
        let lease = {
            let mut shared = servers.shared.lock();
            let is_it = |known: &&Slot| std::ptr::eq(Arc::as_ptr(known), slot.as_ptr());
            // Another session may have taken its place.
            let Some(known) = shared.get(&common).filter(is_it) else {
                return;
            };
            // A client may be about to use it, or is still starting it.
            let is_taken = Arc::strong_count(known) > 1 && !evicted.is_cancelled();
            let Some(lease) = known.get().filter(|_| !is_taken) else {
                continue;
            };
            if !lease.is_idle(idle) && !lease.upstream.state.ended.is_cancelled() && !evicted.is_cancelled() {
                continue;
            }
            let lease = Arc::clone(lease);
            shared.remove(&common);
            lease
        };
        lease.upstream.close().await;
        return;
    }
}

/// Returns the revision with a handshake to request from a server: the client's if it is supported, otherwise the
/// newest.
fn asked(client: Revision, supported: &[Revision]) -> Option<Revision> {
    let handshakes = with_era(supported, Era::Handshake);
    match handshakes.contains(&client) {
        true => Some(client),
        false => handshakes.into_iter().max(),
    }
}

/// Returns the identity of a stateless client as canonical JSON: its principal, implementation and capabilities.
fn identity(info: &ClientInfo, principal: Option<&str>) -> String {
    let implementation = serde_json::to_value(&info.implementation).unwrap_or_default();
    let capabilities = serde_json::to_value(&info.capabilities).unwrap_or_default();
    canonical(&serde_json::json!([principal, implementation, capabilities]))
}

/// Wraps an observer of losses. It omits the members by which each request of a stateless client describes the client:
/// a server with a handshake gets this description once from the bridge.
fn without_description(client: Revision, losses: LossObserver) -> LossObserver {
    let of_request = |loss: &Loss| matches!(loss.path.segments(), [Segment::Member(first), ..] if first == "params");
    let is_described = move |loss: &Loss| of_request(loss) && session_messages::is_in_request_meta(client, loss);
    Arc::new(move |method, lost| {
        let lost: Vec<Loss> = lost.iter().filter(|loss| !is_described(loss)).cloned().collect();
        if !lost.is_empty() {
            losses(method, &lost);
        }
    })
}
