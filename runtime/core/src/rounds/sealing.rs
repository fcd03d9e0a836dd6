//! Sealing of text that a client keeps for the server: the client can read it, but not change it.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::used_states::{StateStore, Used, list_of, now};

/// The purpose that every tag covers, so that tags made with the same key for another purpose aren't valid states.
const PURPOSE: &[u8] = b"mcp request state 1";

const KEY: usize = 32;
const EXPIRY: usize = 8;
const NONCE: usize = 16;
const TAG: usize = 32;

type Nonce = [u8; NONCE];

/// The sealing of the `requestState` that a server gives to stateless clients with its input requests.
///
/// A state is authenticated by HMAC-SHA256. It is valid for a limited time, for the same
/// [principal](crate::transport::Principal), and for a request with the same method and the same parameters. If a state
/// is invalid for any reason, the client gets the same error, `-32602`. A client can read the state: it contains the
/// input responses of the earlier rounds, and the data that a handler has put into it.
///
/// Requests without a principal all count as one principal: a stateless request has nothing else that identifies its
/// client. So anyone who gets hold of a state of such a client, such as from its logs, can continue that request until
/// the state expires. If this matters, authenticate clients and set their principal, or use
/// [`single_use`](Self::single_use).
///
/// By default, the key is random and belongs to the process. Instances behind a load balancer need a common key, so
/// that each can continue a request that another has started:
///
/// ```
/// use std::time::Duration;
///
/// use mcp_runtime::{Options, Sealing};
///
/// # let secret = [7; 32];
/// let options = Options {
///     sealing: Sealing::with_key(&secret).time_to_live(Duration::from_secs(300)),
///     ..Options::default()
/// };
/// ```
///
/// [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr)
#[derive(Clone)]
pub struct Sealing {
    /// `None` for the key of the process.
    key: Option<Arc<Hmac<Sha256>>>,
    time_to_live: Duration,
    used: Option<Used>,
}

impl Default for Sealing {
    /// The key of the process, a lifetime of ten minutes, and any number of uses.
    fn default() -> Self {
        Self {
            key: None,
            time_to_live: Duration::from_secs(600),
            used: None,
        }
    }
}

impl Sealing {
    /// Seals with this key, which should have at least 32 random bytes. Anyone who knows it can forge states.
    #[must_use]
    pub fn with_key(key: &[u8]) -> Self {
        Self {
            key: Some(Arc::new(hmac(key))),
            ..Self::default()
        }
    }

    /// Sets how long a state is valid, and so how long the user has to respond. The default is ten minutes. Fractions
    /// of a second are ignored.
    #[must_use]
    pub fn time_to_live(mut self, time_to_live: Duration) -> Self {
        self.time_to_live = time_to_live;
        self
    }

    /// Accepts each state only once. Without this, a client can repeat a round, so that the handler runs again with the
    /// same input responses, and can send responses to named input requests ([`Peer::named`](crate::Peer::named))
    /// without a state, before the server makes them.
    ///
    /// The used states are listed in memory until they expire. The list belongs to the key: every `Sealing` of this
    /// process with the same key shares it. It holds at most `capacity` states, and at most an eighth of them for one
    /// principal; requests without a principal count as one principal. When the list is full, states are refused. Other
    /// processes with the same key don't share the list: for them, use [`single_use_in`](Self::single_use_in).
    #[must_use]
    pub fn single_use(mut self, capacity: usize) -> Self {
        let list = list_of(self.key.as_deref());
        self.used = Some(Used::Here { list, capacity });
        self
    }

    /// Accepts each state only once, like [`single_use`](Self::single_use), across all processes that share a store.
    /// `RedisStore::states` returns one.
    #[must_use]
    pub fn single_use_in(mut self, store: impl StateStore) -> Self {
        self.used = Some(Used::In(Arc::new(store)));
        self
    }

    /// Whether each state is accepted only once.
    pub(crate) fn is_single_use(&self) -> bool {
        self.used.is_some()
    }

    /// Seals a payload for a principal and a request. Both must be the same when the state is opened.
    ///
    /// # Errors
    /// When the operating system has no random bytes.
    pub(crate) fn seal(
        &self,
        payload: &[u8],
        principal: Option<&str>,
        request: &str,
    ) -> Result<String, getrandom::Error> {
        self.seal_at(now(), payload, principal, request)
    }

    fn seal_at(
        &self,
        now: u64,
        payload: &[u8],
        principal: Option<&str>,
        request: &str,
    ) -> Result<String, getrandom::Error> {
        let expiry = now.saturating_add(self.time_to_live.as_secs());
        let mut sealed = Vec::with_capacity(EXPIRY + NONCE + payload.len() + TAG);
        sealed.extend(expiry.to_be_bytes());
        sealed.extend(random::<NONCE>()?);
        sealed.extend(payload);
        let tag = self.mac(&sealed, principal, request)?.finalize();
        sealed.extend(tag.into_bytes());
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Opens a state and returns its payload; `None` if the state is refused.
    pub(crate) async fn open(&self, state: &str, principal: Option<&str>, request: &str) -> Option<Vec<u8>> {
        let now = now();
        let opened = self.open_at(now, state, principal, request)?;
        let is_first = match &self.used {
            None => true,
            Some(used) => used.add(now, (&opened.nonce, opened.expiry), principal).await,
        };
        is_first.then_some(opened.payload)
    }

    /// Returns the payload of a state without verifying it. No decision may depend on it: anyone can forge such a
    /// state.
    pub(crate) fn unverified(state: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(state).ok()?;
        let payload = EXPIRY + NONCE..sealed.len().checked_sub(TAG)?;
        Some(sealed.get(payload)?.to_vec())
    }

    fn open_at(&self, now: u64, state: &str, principal: Option<&str>, request: &str) -> Option<Opened> {
        let mut sealed = URL_SAFE_NO_PAD.decode(state).ok()?;
        let (content, tag) = sealed.split_last_chunk::<TAG>()?;
        let length = content.len();
        // The comparison takes constant time.
        self.mac(content, principal, request).ok()?.verify(tag.into()).ok()?;
        let (expiry, rest) = content.split_first_chunk::<EXPIRY>()?;
        let (nonce, _) = rest.split_first_chunk::<NONCE>()?;
        let (expiry, nonce) = (u64::from_be_bytes(*expiry), *nonce);
        if now >= expiry {
            return None;
        }
        sealed.truncate(length);
        sealed.drain(..EXPIRY + NONCE);
        Some(Opened {
            payload: sealed,
            nonce,
            expiry,
        })
    }

    /// The MAC over the purpose, the principal, the request and the content. All but the last have a fixed length, so
    /// that none can be mistaken for a part of another.
    fn mac(&self, content: &[u8], principal: Option<&str>, request: &str) -> Result<Hmac<Sha256>, getrandom::Error> {
        let mut mac = match &self.key {
            Some(key) => Hmac::clone(key),
            None => key_of_process()?,
        };
        mac.update(PURPOSE);
        mac.update(&[u8::from(principal.is_some())]);
        mac.update(&Sha256::digest(principal.unwrap_or_default()));
        mac.update(&Sha256::digest(request));
        mac.update(content);
        Ok(mac)
    }
}

/// Returns the random key of this process, which is created on first use.
fn key_of_process() -> Result<Hmac<Sha256>, getrandom::Error> {
    static KEY_OF_PROCESS: OnceLock<Hmac<Sha256>> = OnceLock::new();
    if let Some(key) = KEY_OF_PROCESS.get() {
        return Ok(key.clone());
    }
    let key = hmac(&random::<KEY>()?);
    Ok(KEY_OF_PROCESS.get_or_init(|| key).clone())
}

impl fmt::Debug for Sealing {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealing")
            .field("time_to_live", &self.time_to_live)
            .field("single_use", &self.used.is_some())
            .finish_non_exhaustive()
    }
}

/// A state whose authenticity is verified.
struct Opened {
    payload: Vec<u8>,
    nonce: Nonce,
    expiry: u64,
}

fn hmac(key: &[u8]) -> Hmac<Sha256> {
    // The constructor fails for MACs whose keys have a fixed length. HMAC pads a short key and hashes a long one.
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

/// Returns random bytes from the operating system.
fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use mcp_runtime_util::{BoxFuture, Mutex};

    use super::*;

    const REQUEST: &str = r#"{"method":"m","params":{"a":1}}"#;

    fn sealing() -> Sealing {
        Sealing::with_key(&[1; KEY])
    }

    /// Returns the payload of a state.
    fn open(sealing: &Sealing, state: &str, principal: Option<&str>, request: &str) -> Option<Vec<u8>> {
        let opened = sealing.open_at(now(), state, principal, request);
        opened.map(|opened| opened.payload)
    }

    #[test]
    fn a_sealed_state_opens_unchanged_with_the_same_key() {
        for payload in [&b""[..], b"{}", &[0xff; 10_000]] {
            for principal in [None, Some(""), Some("ann")] {
                let state = sealing().seal(payload, principal, REQUEST).unwrap();
                assert_eq!(open(&sealing(), &state, principal, REQUEST).as_deref(), Some(payload));
            }
        }
        let state = Sealing::default().seal(b"{}", None, REQUEST).unwrap();
        assert_eq!(
            open(&Sealing::default(), &state, None, REQUEST).as_deref(),
            Some(&b"{}"[..])
        );
    }

    #[test]
    fn a_state_that_has_been_changed_anywhere_is_refused() {
        let state = sealing().seal(b"payload", None, REQUEST).unwrap();
        for at in 0..state.len() {
            for other in ['A', 'B', '_', '=', ' ', 'é'] {
                let mut changed: Vec<char> = state.chars().collect();
                if std::mem::replace(&mut changed[at], other) == other {
                    continue;
                }
                let changed: String = changed.into_iter().collect();
                assert_eq!(open(&sealing(), &changed, None, REQUEST), None, "{at} {other}");
            }
            assert_eq!(open(&sealing(), &state[..at], None, REQUEST), None);
            assert_eq!(open(&sealing(), &state[at + 1..], None, REQUEST), None);
        }
        for longer in [format!("{state}A"), format!("A{state}"), format!("{state}=")] {
            assert_eq!(open(&sealing(), &longer, None, REQUEST), None, "{longer}");
        }
    }

    #[test]
    fn a_state_sealed_for_another_key_principal_or_request_is_refused() {
        let state = sealing().seal(b"payload", Some("ann"), REQUEST).unwrap();
        for other in [Sealing::default(), Sealing::with_key(&[2; KEY]), Sealing::with_key(&[])] {
            assert_eq!(open(&other, &state, Some("ann"), REQUEST), None);
        }
        for principal in [None, Some(""), Some("anne"), Some("Ann")] {
            assert_eq!(open(&sealing(), &state, principal, REQUEST), None, "{principal:?}");
        }
        assert_eq!(
            open(&sealing(), &state, Some("ann"), r#"{"method":"m","params":{"a":2}}"#),
            None
        );
        let of_nobody = sealing().seal(b"payload", None, REQUEST).unwrap();
        assert_eq!(open(&sealing(), &of_nobody, Some(""), REQUEST), None);
    }

    #[test]
    fn a_state_is_valid_until_it_expires() {
        let sealing = sealing().time_to_live(Duration::from_secs(10));
        let state = sealing.seal_at(1000, b"", None, REQUEST).unwrap();
        for now in [1000, 1009] {
            assert!(sealing.open_at(now, &state, None, REQUEST).is_some(), "{now}");
        }
        for now in [1010, u64::MAX] {
            assert!(sealing.open_at(now, &state, None, REQUEST).is_none(), "{now}");
        }
        let forever = sealing.time_to_live(Duration::MAX);
        let state = forever.seal_at(1000, b"", None, REQUEST).unwrap();
        assert!(forever.open_at(u64::MAX - 1, &state, None, REQUEST).is_some());
    }

    #[tokio::test]
    async fn a_single_use_state_is_accepted_once() {
        let often = Sealing::with_key(b"used once");
        let state = often.seal(b"", None, REQUEST).unwrap();
        assert!(often.open(&state, None, REQUEST).await.is_some());
        assert!(often.open(&state, None, REQUEST).await.is_some());

        let once = || Sealing::with_key(b"used once").single_use(80);
        assert!(
            once().open(&state, Some("ann"), REQUEST).await.is_none(),
            "a state of another principal is refused, and isn't used up"
        );
        assert!(once().open(&state, None, REQUEST).await.is_some());
        assert!(
            once().open(&state, None, REQUEST).await.is_none(),
            "the list belongs to the key"
        );
        let another = once().seal(b"", None, REQUEST).unwrap();
        assert!(once().open(&another, None, REQUEST).await.is_some());
    }

    #[tokio::test]
    async fn a_state_whose_use_a_store_cannot_record_is_refused() {
        /// A store that records one state, and fails from then on.
        #[derive(Default)]
        struct Failing(Mutex<usize>);

        impl StateStore for Failing {
            fn add<'a>(
                &'a self,
                _: &'a str,
                _: &'a str,
                _: Duration,
            ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>> {
                let mut asked = self.0.lock();
                *asked += 1;
                let added = if *asked == 1 {
                    Ok(true)
                } else {
                    Err("it is gone".into())
                };
                Box::pin(std::future::ready(added))
            }
        }

        let sealing = sealing().single_use_in(Failing::default());
        for is_accepted in [true, false] {
            let state = sealing.seal(b"", None, REQUEST).unwrap();
            assert_eq!(sealing.open(&state, None, REQUEST).await.is_some(), is_accepted);
        }
    }

    #[test]
    fn debug_output_omits_the_key() {
        let shown = format!("{:?}", sealing());
        assert_eq!(shown, "Sealing { time_to_live: 600s, single_use: false, .. }");
    }
}
