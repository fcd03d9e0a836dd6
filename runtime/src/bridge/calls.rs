//! The calls that were passed on to a peer, and are in flight.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{MessageHeader, OpenJson, RequestId};
use mcp_adapters::{Revision, hello};

use crate::session::{Peer, set};
use crate::side::Side;
use crate::sync::Mutex;

/// The calls that peers of side `S` have made, in their order, each with the id under which its messages are passed on if they are.
pub struct Calls<S: Side>(Mutex<Entries<S>>);

struct Entries<S: Side> {
    next: u64,
    calls: BTreeMap<u64, (Option<i64>, Caller<S>)>,
}

/// Who has made a call, and how it names it.
pub struct Caller<S: Side> {
    /// The peer, by a handle that belongs to its request.
    pub peer: Peer<S>,
    pub id: RequestId,
    /// The token of its progress.
    pub token: Option<OpenJson>,
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
        let (next, calls) = (0, BTreeMap::new());
        Self(Mutex::new(Entries { next, calls }))
    }
}

impl<S: Side> Calls<S> {
    /// Adds a call.
    pub fn add(self: &Arc<Self>, id: Option<i64>, caller: Caller<S>) -> CallGuard<S> {
        let mut entries = self.0.lock();
        let number = entries.next;
        entries.next += 1;
        entries.calls.insert(number, (id, caller));
        CallGuard(Arc::clone(self), number)
    }

    /// The caller of the latest call.
    pub fn latest(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        entries
            .calls
            .last_key_value()
            .map(|(_, (_, caller))| caller.peer.clone())
    }

    /// The latest request of the only peer that has calls in flight; `None` if there are several peers, or none.
    pub fn only_peer(&self) -> Option<Peer<S>> {
        let entries = self.0.lock();
        let (_, (_, latest)) = entries.calls.last_key_value()?;
        let is_only = entries
            .calls
            .values()
            .all(|(_, caller)| Arc::ptr_eq(caller.peer.state(), latest.peer.state()));
        is_only.then(|| latest.peer.clone())
    }

    /// A notification about a call or a subscription as its caller knows that, and the caller. `None` for another notification.
    pub fn readdress(&self, revision: Revision, notification: &[u8]) -> Option<(Caller<S>, Vec<u8>)> {
        let header = MessageHeader::from_slice(notification).ok()?;
        let lifecycle = revision.lifecycle();
        if let Some(caller) = self.get(hello::progressing_call(revision, &header)) {
            let token = caller.token.as_ref()?;
            let json = set(notification, &["params", lifecycle.meta_progress?], token.text()).ok()?;
            return Some((caller, json.into_bytes()));
        }
        let caller = self.get(hello::subscription(revision, &header))?;
        let id = OpenJson::from_serialize(&caller.id).ok()?;
        let key = ["params", "_meta", lifecycle.meta_subscription?];
        Some((caller, set(notification, &key, id.text()).ok()?.into_bytes()))
    }

    fn get(&self, id: Option<RequestId>) -> Option<Caller<S>> {
        let RequestId::Integer(id) = id? else { return None };
        let entries = self.0.lock();
        let mut calls = entries.calls.values();
        calls
            .find(|(known, _)| *known == Some(id))
            .map(|(_, caller)| caller.clone())
    }
}

impl<S: Side> Drop for CallGuard<S> {
    fn drop(&mut self) {
        self.0.0.lock().calls.remove(&self.1);
    }
}
