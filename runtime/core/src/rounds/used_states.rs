//! Which states have been used, where each may be used only once.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use mcp_runtime_util::{BoxFuture, Mutex, SystemTime, UsedOnce};
use sha2::{Digest, Sha256};

/// What the name of the list of a key is made of.
const LIST: &[u8] = b"mcp used states 1";

/// Remembers which states have been used, so that none is used again. [`Sealing::single_use_in`](crate::Sealing::single_use_in) takes it.
pub trait StateStore: Send + Sync + 'static {
    /// Adds a state, which has to be remembered for this time; `false` if it is there already.
    ///
    /// `principal` is a digest of the principal, and `id` identifies the state. A principal gets as many states as it asks for,
    /// so a store needs a limit for each.
    ///
    /// # Errors
    /// When the store can't say whether it is there, or has no room for it. The state is refused.
    fn add<'a>(
        &'a self,
        principal: &'a str,
        id: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>>;
}

/// Where used states are listed.
#[derive(Clone)]
pub enum Used {
    Here { list: Arc<UsedOnce>, capacity: usize },
    In(Arc<dyn StateStore>),
}

impl Used {
    /// Adds a state; `false` if it is there, or can't be added.
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

/// The list of the states of a key that have been used in this process. Options are often made for each session, so it isn't
/// theirs.
pub fn list_of(key: Option<&Hmac<Sha256>>) -> Arc<UsedOnce> {
    type Lists = HashMap<Option<[u8; 32]>, Arc<UsedOnce>>;
    static LISTS: LazyLock<Mutex<Lists>> = LazyLock::new(Mutex::default);
    let name = key.map(|key| key.clone().chain_update(LIST).finalize().into_bytes().into());
    let mut lists = LISTS.lock();
    if !lists.contains_key(&name) {
        // Those of keys that nobody uses any more.
        let now = now();
        lists.retain(|_, list| Arc::strong_count(list) > 1 || !list.is_empty(now));
    }
    Arc::clone(lists.entry(name).or_default())
}

/// The seconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
