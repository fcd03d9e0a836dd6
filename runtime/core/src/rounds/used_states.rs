//! The list of used states, for states that are accepted only once.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use mcp_runtime_util::{BoxFuture, Mutex, SystemTime, UsedOnce};
use sha2::{Digest, Sha256};

/// The text from which the name of a key's list is derived.
const LIST: &[u8] = b"mcp used states 1";

/// A store of used states, so that none is used again. [`Sealing::single_use_in`](crate::Sealing::single_use_in) takes
/// one.
pub trait StateStore: Send + Sync + 'static {
    /// Adds a state, which must be remembered for `lifetime`; `false` if it is already there.
    ///
    /// `principal` is a digest of the principal, and `id` identifies the state. A principal can request any number of
    /// states, so a store needs a limit per principal.
    ///
    /// # Errors
    /// When the store can't determine whether it is there, or is full. The state is refused.
    fn add<'a>(
        &'a self,
        principal: &'a str,
        id: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>>;
}

/// The list of used states: in this process, or in a store.
#[derive(Clone)]
pub enum Used {
    Here { list: Arc<UsedOnce>, capacity: usize },
    In(Arc<dyn StateStore>),
}

impl Used {
    /// Adds a state; `false` if it is already there, or can't be added.
    pub async fn add(&self, now: u64, (nonce, expiry): (&[u8], u64), principal: Option<&str>) -> bool {
        let owner = Sha256::new()
            .chain_update([u8::from(principal.is_some())])
            .chain_update(principal.unwrap_or_default());
        let owner = URL_SAFE_NO_PAD.encode(owner.finalize());
        let id = URL_SAFE_NO_PAD.encode(nonce);
        let added = match self {
            Self::Here { list, capacity } => {
                let added = list.add(&owner, &id, expiry, now, *capacity);
                added.map_err(Into::into)
            }
            Self::In(store) => {
                let lifetime = Duration::from_secs(expiry - now);
                store.add(&owner, &id, lifetime).await
            }
        };
        added.unwrap_or_else(|error| {
            tracing::warn!(error, "a state is refused, since its use can't be recorded");
            false
        })
    }
}

/// Returns the list of the states of a key that have been used in this process. It isn't part of the options, because
/// these are often created for each session.
pub fn list_of(key: Option<&Hmac<Sha256>>) -> Arc<UsedOnce> {
    type Lists = HashMap<Option<[u8; 32]>, Arc<UsedOnce>>;
    static LISTS: LazyLock<Mutex<Lists>> = LazyLock::new(Mutex::default);
    let name = key.map(|key| key.clone().chain_update(LIST).finalize().into_bytes().into());
    let mut lists = LISTS.lock();
    if !lists.contains_key(&name) {
        // Removes the lists of keys that are no longer used.
        let now = now();
        lists.retain(|_, list| Arc::strong_count(list) > 1 || !list.is_empty(now));
    }
    Arc::clone(lists.entry(name).or_default())
}

/// Returns the seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
