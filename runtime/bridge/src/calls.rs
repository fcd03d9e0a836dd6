//! The calls in flight that were passed on to a peer.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId};
use mcp_adapters::{Revision, session_messages};
use mcp_runtime_core::internal::{OrderedQueue, ReservedTicket, set_member};
use mcp_runtime_core::{Peer, Side};
use mcp_runtime_util::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The calls in flight of the peers of side `S`, in order. A call whose message is relayed has the id under which it
/// was passed on.
pub struct Calls<S: Side>(Mutex<Entries<S>>);

struct Entries<S: Side> {
    next: u64,
    /// When the last call ended.
    ended: Instant,
    calls: BTreeMap<u64, Entry<S>>,
}

struct Entry<S: Side> {
    id: Option<i64>,
    caller: Caller<S>,
    cancellation: Option<Cancellation>,
}

/// The cancellation token of a call, and the position of its cancellation among the messages to the other side.
#[derive(Default, Clone)]
pub struct Cancellation {
    pub token: CancellationToken,
    pub ticket: Arc<ReservedTicket>,
}

/// The peer that made a call, and its own id and progress token for the call.
pub struct Caller<S: Side> {
    /// A handle of the peer that belongs to its request.
    pub peer: Peer<S>,
    pub id: RequestId,
    /// The progress token.
    pub token: Option<RawJson>,
}

/// The addressee of a notification.
pub enum Addressee<S: Side> {
    /// The caller whose call or subscription the notification is about, and the notification with the caller's own id
    /// or token.
    Caller(Caller<S>, Vec<u8>),
    /// The call or subscription has ended, or the notification names several.
    Gone,
    /// The notification names no call or subscription.
    Unknown,
}

impl<S: Side> Clone for Caller<S> {
    fn clone(&self) -> Self {
        Self {
            peer: self.peer.clone(),
            id: self.id.clone(),
            token: self.token.clone(),
        }
    }
}

/// A guard that removes a call when it is dropped.
pub struct CallGuard<S: Side>(Arc<Calls<S>>, u64);

impl<S: Side> Default for Calls<S> {
    fn default() -> Self {
        Self(Mutex::new(Entries {
            next: 0,
            ended: Instant::now(),
            calls: BTreeMap::new(),
        }))
    }
}

impl<S: Side> Calls<S> {
    /// Adds a call. It is removed when the guard is dropped.
    pub fn add(
        self: &Arc<Self>,
        id: Option<i64>,
        caller: Caller<S>,
        cancellation: Option<Cancellation>,
    ) -> CallGuard<S> {
        let mut entries = self.0.lock();
        let number = entries.next;
        entries.next += 1;
        entries.calls.insert(
            number,
            Entry {
                id,
                caller,
                cancellation,
            },
        );
        CallGuard(Arc::clone(self), number)
    }

    /// Reserves positions for the cancellations of all calls that are cancelled by now, before later messages.
    pub fn reserve_cancellations(&self, line: &Arc<OrderedQueue>) {
        let entries = self.0.lock();
        let cancellations = entries.calls.values().filter_map(|entry| entry.cancellation.as_ref());
        for cancellation in cancellations.filter(|cancellation| cancellation.token.is_cancelled()) {
            cancellation.ticket.reserve(line);
        }
    }

    /// Returns the time since which no call has been in flight; `None` if one is.
    pub fn idle_since(&self) -> Option<Instant> {
        let entries = self.0.lock();
        entries.calls.is_empty().then_some(entries.ended)
    }

    /// Returns the caller of the latest call.
    pub fn latest(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        entries
            .calls
            .last_key_value()
            .map(|(_, entry)| entry.caller.peer.clone())
    }

    /// Returns the caller of the call that was passed on under an id.
    pub fn of_id(&self, id: i64) -> Option<Peer<S>> {
        self.get(&RequestId::Integer(id)).map(|caller| caller.peer)
    }

    /// Returns the latest request of the only peer that has calls in flight; `None` if there are several peers, or
    /// none.
    pub fn only_peer(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        let (_, Entry { caller: latest, .. }) = entries.calls.last_key_value()?;
        let is_only = entries
            .calls
            .values()
            .all(|entry| Arc::ptr_eq(entry.caller.peer.state(), latest.peer.state()));
        is_only.then(|| latest.peer.clone())
    }

    /// Finds the addressee of a notification.
    pub fn addressee(&self, revision: Revision, notification: &[u8]) -> Addressee<S> {
        let Ok(header) = MessageHeader::from_slice(notification) else {
            return Addressee::Unknown;
        };
        let lifecycle = revision.lifecycle();
        // Of two tokens or ids, the receiver could use the one that isn't replaced, which can be that of another call.
        let is_ambiguous = |path: &[&str]| header.param(path).is_err();
        if lifecycle.meta_progress.is_some_and(|key| is_ambiguous(&[key]))
            || lifecycle
                .meta_subscription
                .is_some_and(|key| is_ambiguous(&["_meta", key]))
        {
            return Addressee::Gone;
        }
        let readdressed = if let Some(id) = session_messages::progressing_call(revision, &header) {
            self.get(&id).and_then(|caller| {
                let key = ["params", lifecycle.meta_progress?];
                let json = set_member(notification.to_vec(), &key, caller.token.as_ref()?.text()).ok()?;
                Some((caller, json))
            })
        } else if let Some(id) = session_messages::subscription(revision, &header) {
            self.get(&id).and_then(|caller| {
                let key = ["params", "_meta", lifecycle.meta_subscription?];
                let id = RawJson::from_encode(&caller.id).ok()?;
                let json = set_member(notification.to_vec(), &key, id.text()).ok()?;
                Some((caller, json))
            })
        } else {
            return Addressee::Unknown;
        };
        readdressed.map_or(Addressee::Gone, |(caller, json)| Addressee::Caller(caller, json))
    }

    fn get(&self, id: &RequestId) -> Option<Caller<S>> {
        let RequestId::Integer(id) = *id else { return None };
        let entries = self.0.lock();
        let mut calls = entries.calls.values();
        calls
            .find(|entry| entry.id == Some(id))
            .map(|entry| entry.caller.clone())
    }
}

impl<S: Side> Drop for CallGuard<S> {
    fn drop(&mut self) {
        let mut entries = self.0.0.lock();
        entries.calls.remove(&self.1);
        entries.ended = Instant::now();
    }
}
