//! The calls that were passed on to a peer, and are in flight.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_adapters::PeerTypes;
use mcp_adapters::mcp_wire::{MessageHeader, OpenJson, RequestId};
use mcp_adapters::{Revision, hello};

use crate::session::{Peer, set};
use crate::side::Side;
use crate::sync::Mutex;

/// The calls that peers of side `S` have made, by the ids under which they were passed on.
pub struct Calls<S: Side>(Mutex<BTreeMap<i64, Caller<S>>>);

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
pub struct CallGuard<S: Side>(Arc<Calls<S>>, i64);

impl<S: Side> Default for Calls<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: Side> Calls<S> {
    /// Adds a call.
    pub fn add(self: &Arc<Self>, id: i64, caller: Caller<S>) -> CallGuard<S> {
        self.0.lock().insert(id, caller);
        CallGuard(Arc::clone(self), id)
    }

    /// The caller of the latest call.
    pub fn latest(&self) -> Option<Peer<S>> {
        self.0.lock().last_key_value().map(|(_, caller)| caller.peer.clone())
    }

    /// The latest request of the only peer that has calls in flight; `None` if there are several peers, or none.
    pub fn only_peer(&self) -> Option<Peer<S>> {
        let calls = self.0.lock();
        let (_, latest) = calls.last_key_value()?;
        let is_only = calls
            .values()
            .all(|caller| Arc::ptr_eq(caller.peer.state(), latest.peer.state()));
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
        self.0.lock().get(&id).cloned()
    }
}

impl<S: Side> Drop for CallGuard<S> {
    fn drop(&mut self) {
        self.0.0.lock().remove(&self.1);
    }
}
