//! Changes of lists and resources, and the queue of those that a subscriber is yet to be told.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_adapters::hello::ChangeFilter;
use mcp_adapters::hub::{self, ServerNotification};
use mcp_adapters::mcp_wire::Extra;
use mcp_runtime_util::{Budget, Charge, Mutex};

use crate::error::CallError;

/// A change that a server notifies its clients of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// The list of tools has changed.
    ToolList,
    /// The list of prompts has changed.
    PromptList,
    /// The list of resources or of resource templates has changed.
    ResourceList,
    /// The resource with this URI has changed.
    Resource(Arc<str>),
}

impl Change {
    /// The change that a notification is about, if any.
    pub(crate) fn of(notification: &ServerNotification) -> Option<Self> {
        match notification {
            ServerNotification::ToolListChanged(_) => Some(Self::ToolList),
            ServerNotification::PromptListChanged(_) => Some(Self::PromptList),
            ServerNotification::ResourceListChanged(_) => Some(Self::ResourceList),
            ServerNotification::ResourceUpdated(updated) => Some(Self::Resource(updated.params.uri.as_str().into())),
            _ => None,
        }
    }

    /// The notification of it.
    pub(crate) fn notification(&self) -> ServerNotification {
        match self {
            Self::ToolList => hub::ToolListChangedNotification::default().into(),
            Self::PromptList => hub::PromptListChangedNotification::default().into(),
            Self::ResourceList => hub::ResourceListChangedNotification::default().into(),
            Self::Resource(uri) => {
                let params = hub::ResourceUpdatedNotificationParams::new(uri.as_ref());
                hub::ResourceUpdatedNotification::new(params).into()
            }
        }
    }
}

/// How many bytes the subscriptions of a peer may take, and those of all peers.
#[derive(Debug, Clone)]
pub(crate) struct ChangeBudgets {
    pub(crate) peer: Arc<Budget>,
    pub(crate) all: Arc<Budget>,
}

/// What a subscription takes of both.
#[derive(Debug)]
pub(crate) struct ChangeCharge {
    _parts: (Charge, Charge),
}

impl ChangeBudgets {
    /// Takes this many bytes, if they are there.
    pub(crate) fn try_charge(&self, bytes: usize) -> Option<ChangeCharge> {
        let _parts = (self.peer.try_charge(bytes)?, self.all.try_charge(bytes)?);
        Some(ChangeCharge { _parts })
    }
}

/// The changes that a subscriber wants, and those that it is yet to be told, each once. Its size is bounded by what the
/// subscriber wants, however slowly it takes them.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lists: Vec<Change>,
    resources: BTreeMap<Arc<str>, Option<ChangeCharge>>,
    /// What extensions add.
    extra: Extra,
    pending: BTreeSet<Change>,
    /// Changes that were pending together; they are taken before those that came later.
    taken: std::collections::btree_set::IntoIter<Change>,
    is_agreed: bool,
    end: Option<Result<(), CallError>>,
    is_over: bool,
    waker: Option<Waker>,
}

impl State {
    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Resource(uri) => self.resources.contains_key(uri),
            list => self.lists.contains(list),
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn wait<T>(&mut self, context: &Context<'_>) -> Poll<T> {
        self.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl ChangeQueue {
    /// A queue of the changes that pass a filter.
    pub(crate) fn new(filter: &ChangeFilter) -> Arc<Self> {
        let queue = Self::default();
        {
            let mut state = queue.state.lock();
            state.lists = lists(filter).collect();
            for uri in &filter.resources {
                state.resources.insert(uri.as_str().into(), None);
            }
            state.extra.clone_from(&filter.extra);
        }
        Arc::new(queue)
    }

    /// Queues a change, if it is wanted; whether it is.
    pub(crate) fn push(&self, change: &Change) -> bool {
        let mut state = self.state.lock();
        let change = match change {
            Change::Resource(uri) => match state.resources.get_key_value(uri) {
                Some((wanted, _)) => Change::Resource(Arc::clone(wanted)),
                None => return false,
            },
            list if state.lists.contains(list) => list.clone(),
            _ => return false,
        };
        if state.end.is_some() {
            return false;
        }
        if state.pending.insert(change) {
            state.wake();
        }
        true
    }

    /// Adds a resource; `false` if there is no room.
    pub(crate) fn subscribe(&self, uri: &str, budgets: &ChangeBudgets) -> bool {
        let mut state = self.state.lock();
        if state.resources.contains_key(uri) {
            return true;
        }
        let Some(charge) = budgets.try_charge(uri.len()) else {
            return false;
        };
        state.resources.insert(uri.into(), Some(charge));
        true
    }

    /// Removes a resource.
    pub(crate) fn unsubscribe(&self, uri: &str) {
        let mut state = self.state.lock();
        if let Some((uri, _)) = state.resources.remove_entry(uri) {
            state.pending.remove(&Change::Resource(uri));
        }
    }

    /// Takes what the server agrees to. What wasn't asked for stays out, whatever the server says.
    pub(crate) fn agree(&self, agreed: &ChangeFilter) {
        let mut state = self.state.lock();
        let lists: Vec<Change> = lists(agreed).collect();
        let uris: HashSet<&str> = agreed.resources.iter().map(String::as_str).collect();
        state.lists.retain(|list| lists.contains(list));
        state.resources.retain(|uri, _| uris.contains(uri.as_ref()));
        state.extra.clone_from(&agreed.extra);
        state.is_agreed = true;
        state.wake();
    }

    /// Waits until the server has agreed; `false` if the subscription has ended before.
    pub(crate) async fn agreed(&self) -> bool {
        poll_fn(|context| {
            let mut state = self.state.lock();
            match state.is_agreed || state.end.is_some() {
                true => Poll::Ready(state.is_agreed),
                false => state.wait(context),
            }
        })
        .await
    }

    /// What is wanted, and agreed to if the server has said so.
    pub(crate) fn filter(&self) -> ChangeFilter {
        let state = self.state.lock();
        ChangeFilter {
            tool_list: state.lists.contains(&Change::ToolList),
            prompt_list: state.lists.contains(&Change::PromptList),
            resource_list: state.lists.contains(&Change::ResourceList),
            resources: state.resources.keys().map(|uri| uri.as_ref().to_owned()).collect(),
            extra: state.extra.clone(),
        }
    }

    /// Ends the subscription: nothing is queued any more. What is queued can still be taken.
    pub(crate) fn end(&self, end: Result<(), CallError>) {
        let mut state = self.state.lock();
        state.end.get_or_insert(end);
        state.wake();
    }

    /// The next change; `None` at the end. The error of the end comes before it.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<Option<Result<Change, CallError>>> {
        let mut state = self.state.lock();
        loop {
            match state.taken.next() {
                Some(change) if state.wants(&change) => return Poll::Ready(Some(Ok(change))),
                Some(_) => {}
                None if !state.pending.is_empty() => state.taken = std::mem::take(&mut state.pending).into_iter(),
                None if state.is_over => return Poll::Ready(None),
                None => {
                    return match state.end.clone() {
                        None => state.wait(context),
                        Some(end) => {
                            state.is_over = true;
                            Poll::Ready(end.err().map(Err))
                        }
                    };
                }
            }
        }
    }
}

/// The changes that a filter lets through.
pub fn changes_in(filter: &ChangeFilter) -> impl Iterator<Item = Change> {
    let resources = filter.resources.iter();
    lists(filter).chain(resources.map(|uri| Change::Resource(uri.as_str().into())))
}

fn lists(filter: &ChangeFilter) -> impl Iterator<Item = Change> + use<> {
    let lists = [
        (filter.tool_list, Change::ToolList),
        (filter.prompt_list, Change::PromptList),
        (filter.resource_list, Change::ResourceList),
    ];
    let lists = lists.into_iter();
    lists.filter_map(|(is_wanted, list)| is_wanted.then_some(list))
}
