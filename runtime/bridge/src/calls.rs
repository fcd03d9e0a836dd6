//! The calls that were passed on to a peer, and are in flight.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId};
use mcp_adapters::{Revision, hello};
use mcp_runtime_core::internal::{OrderedQueue, ReservedTicket, set_member};
use mcp_runtime_core::{Peer, Side};
use mcp_runtime_util::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The calls that peers of side `S` have made, in their order, each with the id under which its messages are passed on if they are.
pub struct Calls<S: Side>(Mutex<Entries<S>>);

struct Entries<S: Side> {
    next: u64,
    /// When the last call has ended.
    ended: Instant,
    calls: BTreeMap<u64, Entry<S>>,
}

struct Entry<S: Side> {
    id: Option<i64>,
    caller: Caller<S>,
    cancellation: Option<Cancellation>,
}

/// When a call is cancelled, and its position among the messages to the other side.
#[derive(Default, Clone)]
pub struct Cancellation {
    pub token: CancellationToken,
    pub ticket: Arc<ReservedTicket>,
}

/// Who has made a call, and how it names it.
pub struct Caller<S: Side> {
    /// The peer, by a handle that belongs to its request.
    pub peer: Peer<S>,
    pub id: RequestId,
    /// The token of its progress.
    pub token: Option<RawJson>,
}

/// Whom a notification is for.
pub enum Addressee<S: Side> {
    /// It is about a call or a subscription of this caller, who knows that as the notification now says.
    Caller(Caller<S>, Vec<u8>),
    /// It is about a call or a subscription that has ended.
    Gone,
    /// It doesn't say.
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

/// Forgets a call when it is dropped.
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
    /// Adds a call.
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

    /// Takes places for the cancellations of calls that were cancelled by now, before a later message takes one.
    pub fn reserve_cancellations(&self, line: &Arc<OrderedQueue>) {
        let entries = self.0.lock();
        let cancellations = entries.calls.values().filter_map(|entry| entry.cancellation.as_ref());
        for cancellation in cancellations.filter(|cancellation| cancellation.token.is_cancelled()) {
            cancellation.ticket.reserve(line);
        }
    }

    /// Since when no call has been in flight; `None` if one is.
    pub fn idle_since(&self) -> Option<Instant> {
        let entries = self.0.lock();
        entries.calls.is_empty().then_some(entries.ended)
    }

    /// The caller of the latest call.
    pub fn latest(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        entries
            .calls
            .last_key_value()
            .map(|(_, entry)| entry.caller.peer.clone())
    }

    /// The latest request of the only peer that has calls in flight; `None` if there are several peers, or none.
    pub fn only_peer(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        let (_, Entry { caller: latest, .. }) = entries.calls.last_key_value()?;
        let is_only = entries
            .calls
            .values()
            .all(|entry| Arc::ptr_eq(entry.caller.peer.state(), latest.peer.state()));
        is_only.then(|| latest.peer.clone())
    }

    /// Whom a notification is for.
    pub fn addressee(&self, revision: Revision, notification: &[u8]) -> Addressee<S> {
        let Ok(header) = MessageHeader::from_slice(notification) else {
            return Addressee::Unknown;
        };
        let lifecycle = revision.lifecycle();
        let readdressed = if let Some(id) = hello::progressing_call(revision, &header) {
            self.get(&id).and_then(|caller| {
                let key = ["params", lifecycle.meta_progress?];
                let json = set_member(notification, &key, caller.token.as_ref()?.text()).ok()?;
                Some((caller, json))
            })
        } else if let Some(id) = hello::subscription(revision, &header) {
            self.get(&id).and_then(|caller| {
                let key = ["params", "_meta", lifecycle.meta_subscription?];
                let id = RawJson::from_encode(&caller.id).ok()?;
                let json = set_member(notification, &key, id.text()).ok()?;
                Some((caller, json))
            })
        } else {
            return Addressee::Unknown;
        };
        readdressed.map_or(Addressee::Gone, |(caller, json)| {
            Addressee::Caller(caller, json.into_bytes())
        })
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
