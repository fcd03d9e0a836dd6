//! The subscriptions of a session, with the changes that are pending for the client.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_adapters::mcp_wire::{ErrorObject, Extra, RequestId};
use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_util::{Budget, Mutex};
use tokio_util::sync::CancellationToken;

use super::negotiated::Negotiated;
use crate::change::{Change, ChangeBudgets, ChangeQueue};
use crate::error::{CallError, invalid_params};
use crate::options::Limits;

/// The part of the subscriptions that all sessions of a server share.
pub struct Shared {
    /// The byte budget of the subscriptions of all clients.
    pub budget: Arc<Budget>,
    /// A check that a resource exists; its error is for the client.
    pub check: ResourceCheck,
    /// Queues a change for the clients of every session.
    pub notify: Box<dyn Fn(&Change) + Send + Sync>,
}

/// A check that a resource exists; its error is for the client.
pub type ResourceCheck = Box<dyn Fn(&str) -> Result<(), ErrorObject> + Send + Sync>;

/// The number of a client's streams that want each resource of a server with sessions.
pub type SubscribedResources = tokio::sync::Mutex<HashMap<String, usize>>;

/// The subscriptions of a session, on the side of the server or of the client.
pub struct Subscriptions {
    /// The subscriptions by the ids of their requests. On the side of a client whose revision has no request for
    /// changes, the id is reserved without a request.
    listens: Mutex<HashMap<RequestId, Arc<ChangeQueue>>>,
    /// The queue of a session in which the client subscribes to one resource at a time.
    session: OnceLock<Arc<ChangeQueue>>,
    budgets: ChangeBudgets,
    /// The terms of the latest request for changes: a stateless client describes itself with each request.
    listener: Mutex<Option<Arc<Negotiated>>>,
    /// Notified when the wanted changes are different.
    pub changed: tokio::sync::Notify,
    /// Cancelled when every subscription ends, also for those that are passed on, which aren't known here.
    pub ended: CancellationToken,
    shared: Option<Shared>,
}

impl fmt::Debug for Subscriptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listens = self.listens.lock().len();
        f.debug_struct("Subscriptions")
            .field("listens", &listens)
            .finish_non_exhaustive()
    }
}

impl Subscriptions {
    /// Creates the subscriptions of one session. Without `shared`, every URI can be subscribed to.
    pub fn new(limits: &Limits, shared: Option<Shared>) -> Arc<Self> {
        let peer = Budget::new(limits.subscription_bytes);
        let all = Arc::clone(shared.as_ref().map_or(&peer, |shared| &shared.budget));
        Arc::new(Self {
            listens: Mutex::default(),
            session: OnceLock::new(),
            budgets: ChangeBudgets { peer, all },
            listener: Mutex::default(),
            changed: tokio::sync::Notify::new(),
            ended: CancellationToken::new(),
            shared,
        })
    }

    /// Queues a change for all subscriptions of this session that want it, and returns whether any does.
    pub fn push(&self, change: &Change) -> bool {
        let mut is_wanted = self.session.get().is_some_and(|session| session.push(change));
        for queue in self.listens.lock().values() {
            is_wanted |= queue.push(change);
        }
        is_wanted
    }

    /// Queues a change for all subscriptions that want it, in all sessions of the server if they are shared, or else in
    /// this one. `false` if the sessions aren't shared and no subscription in this one wants it.
    pub fn publish(&self, change: &Change) -> bool {
        match &self.shared {
            Some(shared) => {
                (shared.notify)(change);
                true
            }
            None => self.push(change),
        }
    }

    /// Returns the terms of the latest request for changes.
    pub fn listener(&self) -> Option<Arc<Negotiated>> {
        self.listener.lock().clone()
    }

    pub(crate) fn set_listener(&self, negotiated: &Arc<Negotiated>) {
        *self.listener.lock() = Some(Arc::clone(negotiated));
    }

    /// Queues a change for one subscription.
    pub fn push_to(&self, id: &RequestId, change: &Change) {
        if let Some(queue) = self.get(id) {
            queue.push(change);
        }
    }

    /// Returns the queue of a subscription.
    pub(crate) fn get(&self, id: &RequestId) -> Option<Arc<ChangeQueue>> {
        self.listens.lock().get(id).cloned()
    }

    /// Adds a subscription of a client; an error if it would exceed a budget.
    pub(crate) fn add(&self, id: &RequestId, filter: &ChangeFilter) -> Result<Arc<ChangeQueue>, ErrorObject> {
        let lists = ChangeFilter {
            resources: Vec::new(),
            extra: Extra::new(),
            ..filter.clone()
        };
        let queue = ChangeQueue::new(&lists);
        for uri in &filter.resources {
            self.charge(&queue, uri)?;
        }
        self.listens.lock().insert(id.clone(), Arc::clone(&queue));
        self.notify_changed();
        Ok(queue)
    }

    /// Adds a subscription of this client.
    pub(crate) fn add_own(&self, id: &RequestId, filter: &ChangeFilter) -> Arc<ChangeQueue> {
        let queue = ChangeQueue::new(filter);
        self.listens.lock().insert(id.clone(), Arc::clone(&queue));
        queue
    }

    /// Removes a subscription.
    pub fn remove(&self, id: &RequestId) {
        self.listens.lock().remove(id);
        self.notify_changed();
    }

    /// Starts the notifications of a session in which a client subscribes to one resource at a time.
    pub(crate) fn begin(&self, lists: &ChangeFilter) -> Arc<ChangeQueue> {
        let queue = Arc::clone(self.session.get_or_init(|| ChangeQueue::new(lists)));
        self.notify_changed();
        queue
    }

    /// Subscribes the session to a resource.
    pub fn subscribe(&self, uri: &str) -> Result<(), ErrorObject> {
        self.check(uri)?;
        if let Some(session) = self.session.get() {
            self.charge(session, uri)?;
        }
        self.notify_changed();
        Ok(())
    }

    /// Unsubscribes the client of a session from a resource.
    pub fn unsubscribe(&self, uri: &str) {
        if let Some(session) = self.session.get() {
            session.unsubscribe(uri);
        }
        self.notify_changed();
    }

    fn notify_changed(&self) {
        self.changed.notify_one();
    }

    /// Returns the union of the changes that all subscriptions want.
    pub fn wanted(&self) -> ChangeFilter {
        let mut wanted = ChangeFilter::default();
        let listens: Vec<_> = self.listens.lock().values().cloned().collect();
        for queue in self.session.get().into_iter().chain(&listens) {
            let filter = queue.filter();
            wanted.tool_list |= filter.tool_list;
            wanted.prompt_list |= filter.prompt_list;
            wanted.resource_list |= filter.resource_list;
            wanted.resources.extend(filter.resources);
        }
        wanted.resources.sort_unstable();
        wanted.resources.dedup();
        wanted
    }

    /// Checks that a resource exists.
    pub fn check(&self, uri: &str) -> Result<(), ErrorObject> {
        self.shared.as_ref().map_or(Ok(()), |shared| (shared.check)(uri))
    }

    /// Ends every subscription.
    pub fn end(&self, end: &Result<(), CallError>) {
        self.ended.cancel();
        if let Some(session) = self.session.get() {
            session.end(end.clone());
        }
        for queue in self.listens.lock().values() {
            queue.end(end.clone());
        }
    }

    fn charge(&self, queue: &ChangeQueue, uri: &str) -> Result<(), ErrorObject> {
        let too_many = || invalid_params("Too many subscriptions");
        queue.subscribe(uri, &self.budgets).then_some(()).ok_or_else(too_many)
    }
}
