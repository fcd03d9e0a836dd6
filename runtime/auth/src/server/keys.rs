//! The keys by which an issuer signs tokens.

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

/// The keys of an issuer.
const MAX_KEYS: usize = 256;
/// How old keys are when they are fetched again while they are used.
const REFRESHED: Duration = Duration::from_secs(5 * 60);
/// How long keys are used before a token has to wait for an attempt to fetch them again.
const FRESH: Duration = Duration::from_secs(10 * 60);
/// How long they are used if that fails.
const STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an attempt to fetch keys may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long is waited after an attempt before the next, whatever tokens come.
const PAUSE: Duration = Duration::from_secs(30);

/// The keys of an issuer, which are fetched when they are needed. Tokens of known keys don't wait for that.
pub struct IssuerKeys {
    pub source: KeySource,
    state: Arc<Mutex<State>>,
}

/// Where the keys are.
#[derive(Debug, Clone)]
pub struct KeySource {
    issuer: String,
    /// Otherwise, the metadata of the issuer say it.
    pub jwks_uri: Option<String>,
    pub private_network: bool,
}

#[derive(Default)]
struct State {
    /// The keys, and when they were fetched.
    known: Option<(Instant, Arc<JwkSet>)>,
    /// They were given, and are never fetched.
    are_fixed: bool,
    /// When the last attempt to fetch them ended.
    attempted: Option<Instant>,
    /// Is cancelled when the attempt that is under way ends.
    attempt: Option<CancellationToken>,
}

impl IssuerKeys {
    /// Those that the metadata of this issuer say.
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

    /// These keys.
    pub fn fix(&mut self, keys: JwkSet) {
        self.state = Arc::new(Mutex::new(State {
            known: Some((Instant::now(), Arc::new(keys))),
            are_fixed: true,
            ..State::default()
        }));
    }

    /// The key that has signed a token with this header. If it isn't known, the issuer's keys are fetched.
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

    /// The attempt to fetch the keys that is under way. If there is none, one is begun where it is due.
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
        // A task, which goes on when the client of the request that began it is gone.
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
    /// The keys that may be used.
    fn usable(&self) -> Option<&JwkSet> {
        let (fetched, keys) = self.known.as_ref()?;
        (self.are_fixed || fetched.elapsed() < STALE).then_some(&**keys)
    }

    fn find(&self, header: &Header) -> Option<Jwk> {
        find(self.usable()?, header)
    }

    /// Whether the keys were fetched this long ago.
    fn known_for(&self, time: Duration) -> bool {
        self.known
            .as_ref()
            .is_some_and(|(fetched, _)| fetched.elapsed() >= time)
    }

    /// Whether the issuer hasn't been asked for so long that it may have removed a key.
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

/// The key with the id that a token names. A token that names none can only be of an issuer with one key for its algorithm.
fn find(keys: &JwkSet, header: &Header) -> Option<Jwk> {
    let mut usable = keys.keys.iter().filter(|key| signs_with(key, header.alg));
    match &header.kid {
        Some(id) => usable.find(|key| key.common.key_id.as_ref() == Some(id)).cloned(),
        None => usable.next().filter(|_| usable.next().is_none()).cloned(),
    }
}

/// Whether a key may be one that signs with this algorithm: by its type, and by its use and algorithm where it has them.
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
