//! The keys with which an issuer signs tokens.

use std::sync::Arc;
use std::time::Duration;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, AlgorithmFamily, Header};
use mcp_runtime_util::Mutex;
use reqwest::Url;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::validator::TokenError;
use crate::address::AddressPolicy;
use crate::discovery::server_metadata;
use crate::error::AuthError;
use crate::fetch::Fetcher;

/// The maximum number of keys of an issuer.
const MAX_KEYS: usize = 256;
/// The age from which keys are fetched again in the background.
const REFRESHED: Duration = Duration::from_secs(5 * 60);
/// The time since the last attempt after which a token has to wait for another attempt to fetch the keys.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// The time for which keys are used if they can't be fetched again.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// The timeout of an attempt to fetch keys.
const PATIENCE: Duration = Duration::from_secs(5);
/// The minimum pause between two attempts.
const PAUSE: Duration = Duration::from_secs(30);

/// The keys of an issuer, which are fetched when they are needed. Tokens with known keys don't wait for that.
pub struct IssuerKeys {
    pub source: KeySource,
    state: Arc<Mutex<State>>,
}

/// The source of the keys.
#[derive(Debug, Clone)]
pub struct KeySource {
    issuer: String,
    /// The URL of the keys; if it is `None`, the one in the issuer's metadata.
    pub jwks_uri: Option<String>,
    pub private_network: bool,
}

#[derive(Default)]
struct State {
    /// The keys, and when they were fetched.
    known: Option<(Instant, Arc<JwkSet>)>,
    /// Whether the keys were set by the program, and so are never fetched.
    are_fixed: bool,
    /// The end of the last attempt to fetch them.
    attempted: Option<Instant>,
    /// Cancelled when the running attempt ends.
    attempt: Option<CancellationToken>,
}

impl IssuerKeys {
    /// The keys at the URL in the issuer's metadata.
    pub fn new(issuer: &str) -> Self {
        Self {
            source: KeySource {
                issuer: issuer.to_owned(),
                jwks_uri: None,
                private_network: false,
            },
            state: Arc::default(),
        }
    }

    /// Sets fixed keys, which are never fetched.
    pub fn fix(&mut self, keys: JwkSet) {
        self.state = Arc::new(Mutex::new(State {
            known: Some((Instant::now(), Arc::new(keys))),
            are_fixed: true,
            ..State::default()
        }));
    }

    /// Finds the key that has signed a token with this header. If it isn't known, fetches the issuer's keys.
    pub async fn find(&self, header: &Header) -> Result<Jwk, TokenError> {
        let attempt = {
            let mut state = self.state.lock();
            let key = state.find(header);
            let is_due = key.is_none() || state.known_for(REFRESHED);
            let attempt = self.attempt(&mut state, is_due);
            match key {
                Some(key) if !state.is_unchecked() => return Ok(key),
                _ => attempt,
            }
        };
        if let Some(attempt) = attempt {
            attempt.cancelled().await;
        }
        let state = self.state.lock();
        state.find(header).ok_or_else(|| match state.usable() {
            Some(_) => TokenError::Invalid("the key of the token isn't known"),
            None => TokenError::Unavailable("the keys of the issuer can't be fetched".to_owned()),
        })
    }

    /// The running attempt to fetch the keys. If there is none, starts one if it is due.
    fn attempt(&self, state: &mut State, is_due: bool) -> Option<CancellationToken> {
        let running = state.attempt.clone().filter(|attempt| !attempt.is_cancelled());
        let may_begin = !state.are_fixed && state.attempted.is_none_or(|ended| ended.elapsed() >= PAUSE);
        if running.is_some() || !is_due || !may_begin {
            return running;
        }
        let attempt = CancellationToken::new();
        state.attempt = Some(attempt.clone());
        let ends = attempt.clone().drop_guard();
        let (source, state) = (self.source.clone(), Arc::clone(&self.state));
        // In a task, which continues even if the client of the request that started it is gone.
        tokio::spawn(async move {
            let fetched = timeout(PATIENCE, source.fetch()).await;
            let mut state = state.lock();
            state.attempted = Some(Instant::now());
            match fetched {
                Ok(Ok(keys)) => state.known = Some((Instant::now(), Arc::new(keys))),
                Ok(Err(error)) => tracing::warn!(%error, "the keys of the issuer can't be fetched"),
                Err(_) => tracing::warn!("the keys of the issuer can't be fetched in time"),
            }
            drop(state);
            drop(ends);
        });
        Some(attempt)
    }
}

impl State {
    /// The keys, unless they are too old to be used.
    fn usable(&self) -> Option<&JwkSet> {
        let (fetched, keys) = self.known.as_ref()?;
        (self.are_fixed || fetched.elapsed() < STALE).then_some(&**keys)
    }

    fn find(&self, header: &Header) -> Option<Jwk> {
        find(self.usable()?, header)
    }

    /// Whether the keys have at least this age.
    fn known_for(&self, time: Duration) -> bool {
        self.known
            .as_ref()
            .is_some_and(|(fetched, _)| fetched.elapsed() >= time)
    }

    /// Whether the last attempt is so long ago that the issuer may have removed a key.
    fn is_unchecked(&self) -> bool {
        !self.are_fixed && self.attempted.is_none_or(|ended| ended.elapsed() >= FRESH)
    }
}

impl KeySource {
    async fn fetch(&self) -> Result<JwkSet, AuthError> {
        let named = self.jwks_uri.as_ref().unwrap_or(&self.issuer);
        let url = Url::parse(named).map_err(|_| AuthError::Url {
            url: named.clone(),
            why: "it isn't absolute",
        })?;
        let reach = match self.private_network {
            true => AddressPolicy::Any,
            false => AddressPolicy::of(&url),
        };
        let fetcher = Fetcher::new(reach, None)?;
        let place = match &self.jwks_uri {
            Some(place) => Some(place.clone()),
            None => server_metadata(&fetcher, &self.issuer).await?.jwks_uri,
        };
        let place = place.ok_or_else(|| AuthError::NotOffered {
            issuer: self.issuer.clone(),
            what: "`jwks_uri`",
        })?;
        let answer = fetcher.get(&place).await?;
        let mut keys: JwkSet = answer.ok_or(AuthError::NoMetadata(place))?.json()?;
        keys.keys.truncate(MAX_KEYS);
        Ok(keys)
    }
}

/// The key with the id in a token's header. A token without a key id is only accepted if the issuer has exactly one key
/// for its algorithm.
fn find(keys: &JwkSet, header: &Header) -> Option<Jwk> {
    let mut usable = keys.keys.iter().filter(|key| signs_with(key, header.alg));
    match &header.kid {
        Some(id) => usable.find(|key| key.common.key_id.as_ref() == Some(id)).cloned(),
        None => usable.next().filter(|_| usable.next().is_none()).cloned(),
    }
}

/// Whether a key can sign with this algorithm, according to its type and, if it has them, its use and algorithm.
fn signs_with(key: &Jwk, algorithm: Algorithm) -> bool {
    let is_of_type = match (&key.algorithm, algorithm) {
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => key.curve == EllipticCurve::P256,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES384) => key.curve == EllipticCurve::P384,
        (AlgorithmParameters::RSA(_), algorithm) => algorithm.family() == AlgorithmFamily::Rsa,
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => key.curve == EllipticCurve::Ed25519,
        _ => false,
    };
    let common = &key.common;
    let signs = common.public_key_use.as_ref();
    is_of_type
        && signs.is_none_or(|of| *of == PublicKeyUse::Signature)
        && common.key_algorithm.is_none_or(|its| its == algorithm.into())
}
