//! Changes of lists and resources, and the queue of changes that a subscriber hasn't received yet.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use mcp_adapters::hub::{self, ServerNotification};
use mcp_adapters::mcp_wire::Extra;
use mcp_adapters::session_messages::ChangeFilter;
use mcp_runtime_util::{Budget, Charge, Mutex};

use crate::error::CallError;

/// A change that a server reports to its clients.
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
    /// Returns the change that a notification reports, if any.
    pub(crate) fn of(notification: &ServerNotification) -> Option<Self> {
        match notification {
            ServerNotification::ToolListChanged(_) => Some(Self::ToolList),
            ServerNotification::PromptListChanged(_) => Some(Self::PromptList),
            ServerNotification::ResourceListChanged(_) => Some(Self::ResourceList),
            ServerNotification::ResourceUpdated(updated) => Some(Self::Resource(updated.params.uri.as_str().into())),
            _ => None,
        }
    }

    /// Returns the notification that reports this change.
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

/// The byte budgets for the subscriptions of one peer, and of all peers together.
#[derive(Debug, Clone)]
pub(crate) struct ChangeBudgets {
    pub(crate) peer: Arc<Budget>,
    pub(crate) all: Arc<Budget>,
}

/// The bytes that a subscription has reserved in both budgets.
#[derive(Debug)]
pub(crate) struct ChangeCharge {
    _parts: (Charge, Charge),
}

impl ChangeBudgets {
    /// Reserves this many bytes in both budgets; `None` if one of them is exhausted.
    pub(crate) fn try_charge(&self, bytes: usize) -> Option<ChangeCharge> {
        let _parts = (self.peer.try_charge(bytes)?, self.all.try_charge(bytes)?);
        Some(ChangeCharge { _parts })
    }
}

/// The changes that a subscriber wants, and those that are pending for it, each at most once. So its size is bounded by
/// the number of wanted changes, even if the subscriber reads slowly.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    lists: Vec<Change>,
    resources: BTreeMap<Arc<str>, Option<ChangeCharge>>,
    /// The members that extensions add to the filter.
    extra: Extra,
    pending: BTreeSet<Change>,
    /// Changes that were pending together; they are delivered before later ones.
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
    /// Creates a queue of the changes that pass a filter.
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

    /// Queues a change if it is wanted, and returns whether it is.
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

    /// Adds a resource; `false` if it would exceed a budget.
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

    /// Restricts the filter to what the server agrees to. Lists and resources that weren't requested are not added.
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
    pub(crate) async fn acknowledged(&self) -> bool {
        poll_fn(|context| {
            let mut state = self.state.lock();
            match state.is_agreed || state.end.is_some() {
                true => Poll::Ready(state.is_agreed),
                false => state.wait(context),
            }
        })
        .await
    }

    /// Returns the filter: what is wanted, restricted to what the server agreed to once it has.
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

    /// Ends the subscription: nothing more is queued. Queued changes can still be read.
    pub(crate) fn end(&self, end: Result<(), CallError>) {
        let mut state = self.state.lock();
        state.end.get_or_insert(end);
        state.wake();
    }

    /// Returns the next change; `None` at the end. If the subscription ended with an error, that comes before the
    /// `None`.
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

/// Returns the changes that a filter selects.
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
