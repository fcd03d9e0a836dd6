//! The authorization of one HTTP client at its server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use tokio::time::Instant;

use super::authorizer::{Authorizer, Config};
use super::challenge::Challenge;
use super::dpop::DpopKey;
use super::store::{Grant, TokenType};
use super::waiting::WaitingTime;
use crate::auth::address::Reach;
use crate::auth::dpop::{DPOP, DPOP_NONCE, USE_DPOP_NONCE};
use crate::auth::error::AuthError;
use crate::auth::fetch::Fetcher;
use crate::auth::scopes::Scopes;
use crate::sync::Mutex;

/// How often more scopes are asked for. Beyond this, a server isn't content with any.
const MAX_STEPS: usize = 10;
/// How many tokens in a row a server may refuse that were obtained for it. Beyond this, the user isn't asked for another.
const MAX_REJECTED: usize = 3;
/// The bytes of what a proof has to repeat.
const MAX_NONCE: usize = 1024;

/// The authorization of one HTTP client at its server.
pub(crate) struct Authorization {
    authorizer: Authorizer,
    /// The URL of the server. Tokens go to its origin only.
    pub(super) server: Url,
    pub(super) fetcher: Fetcher,
    state: Mutex<State>,
    /// The time that requests wait for grants.
    waiting: WaitingTime,
    /// Held while a grant is obtained, so that the user is asked once.
    obtaining: tokio::sync::Mutex<Obtaining>,
}

/// The current grant.
#[derive(Default)]
struct State {
    grant: Option<Arc<Held>>,
    /// What the next proof to the server has to repeat.
    nonce: Option<HeaderValue>,
}

/// A grant in use.
struct Held {
    grant: Grant,
    key: Option<DpopKey>,
    /// No request has succeeded with it yet.
    unproven: Mutex<bool>,
}

#[derive(Default)]
struct Obtaining {
    has_loaded: bool,
    steps: usize,
    rejected: usize,
    /// The last failure, and when it was known. Those who waited for it meanwhile have it too.
    failed: Option<(Instant, Arc<AuthError>)>,
}

/// What a request was sent with, and why it is sent again: once for each reason.
#[derive(Default)]
pub(crate) struct Retried {
    sent: Option<Instant>,
    grant: Option<Arc<Held>>,
    reasons: Vec<Reason>,
}

/// Why a server refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Unauthorized,
    InsufficientScope,
    Nonce,
}

impl Authorization {
    pub(crate) fn new(authorizer: Authorizer, server: &Url) -> Result<Self, AuthError> {
        let mut server = server.clone();
        server.set_fragment(None);
        let reach = match authorizer.0.private_network {
            true => Reach::Any,
            false => Reach::of(&server),
        };
        Ok(Self {
            fetcher: Fetcher::new(reach, authorizer.0.http.clone())?,
            authorizer,
            server,
            state: Mutex::default(),
            waiting: WaitingTime::default(),
            obtaining: tokio::sync::Mutex::default(),
        })
    }

    pub(super) fn config(&self) -> &Config {
        &self.authorizer.0
    }

    /// How long calls have waited for grants: for users, for the most part.
    pub(crate) fn waited(&self) -> Duration {
        self.waiting.total()
    }

    /// The headers that authorize a request. Requests to other origins get none.
    pub(crate) async fn headers(
        &self,
        method: &Method,
        url: &Url,
        retried: &mut Retried,
    ) -> Result<HeaderMap, Arc<AuthError>> {
        let mut headers = HeaderMap::new();
        retried.sent = Some(Instant::now());
        if url.origin() != self.server.origin() {
            return Ok(headers);
        }
        retried.grant = self.current().await?;
        let Some(held) = &retried.grant else { return Ok(headers) };
        let scheme = match held.grant.token_type {
            TokenType::Bearer => "Bearer",
            TokenType::Dpop => "DPoP",
        };
        let value = format!("{scheme} {}", held.grant.access_token.expose());
        let value = HeaderValue::from_str(&value);
        let mut value = value.map_err(|_| AuthError::Key("the token can't stand in a header".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        if let Some(key) = held.key.as_ref().filter(|_| held.grant.token_type == TokenType::Dpop) {
            let nonce = self.state.lock().nonce.clone();
            let proof = key.proof(method.as_str(), url, nonce.as_ref(), Some(&held.grant.access_token))?;
            headers.insert(DPOP, proof);
        }
        Ok(headers)
    }

    /// Whether a request should be sent again, with what is now there to authorize it. `at_origin` says whether the server may be
    /// one that has no metadata, and is authorized at its own origin.
    ///
    /// # Errors
    /// When there is no authorization.
    pub(crate) async fn retry(
        &self,
        response: &Response,
        retried: &mut Retried,
        at_origin: bool,
    ) -> Result<bool, Arc<AuthError>> {
        if response.url().origin() != self.server.origin() {
            return Ok(false);
        }
        let nonce = response.headers().get(DPOP_NONCE);
        if let Some(nonce) = nonce.filter(|nonce| nonce.len() <= MAX_NONCE) {
            self.state.lock().nonce = Some(nonce.clone());
        }
        let challenge = Challenge::of(response.headers());
        let reason = match response.status() {
            StatusCode::UNAUTHORIZED if challenge.error() == Some(USE_DPOP_NONCE) && nonce.is_some() => Reason::Nonce,
            StatusCode::UNAUTHORIZED => Reason::Unauthorized,
            StatusCode::FORBIDDEN if challenge.error() == Some("insufficient_scope") => Reason::InsufficientScope,
            status => {
                if status.is_success() {
                    retried.prove();
                }
                return Ok(false);
            }
        };
        if retried.reasons.contains(&reason) {
            return Ok(false);
        }
        retried.reasons.push(reason);
        match reason {
            Reason::Nonce => return Ok(true),
            // The token itself is good.
            Reason::InsufficientScope => retried.prove(),
            Reason::Unauthorized => {}
        }
        let _waiting = self.waiting.begin();
        self.renew(reason, &challenge, retried, at_origin).await.map(|()| true)
    }

    /// Gets another grant in place of the one that a request was sent with, unless that has been done meanwhile.
    async fn renew(
        &self,
        reason: Reason,
        challenge: &Challenge,
        retried: &Retried,
        at_origin: bool,
    ) -> Result<(), Arc<AuthError>> {
        let mut obtaining = self.obtaining.lock().await;
        let used = retried.grant.as_ref();
        let current = self.state.lock().grant.clone();
        let is_used = match (&current, used) {
            (Some(current), Some(used)) => Arc::ptr_eq(current, used),
            (current, _) => current.is_none(),
        };
        if !is_used {
            return Ok(());
        }
        if let (Some((failed, error)), Some(sent)) = (&obtaining.failed, retried.sent)
            && *failed >= sent
        {
            return Err(Arc::clone(error));
        }
        if let Some(newer) = self.newer(reason, used).await? {
            self.state.lock().grant = Some(Arc::new(newer));
            return Ok(());
        }
        let earlier = current.or_else(|| used.cloned());
        let renewed = self
            .obtain_anew(&mut obtaining, reason, challenge, earlier.as_deref(), at_origin)
            .await;
        match renewed {
            Ok(held) => {
                self.state.lock().grant = Some(Arc::new(held));
                Ok(())
            }
            Err(error) => {
                let error = Arc::new(error);
                obtaining.failed = Some((Instant::now(), Arc::clone(&error)));
                Err(error)
            }
        }
    }

    async fn obtain_anew(
        &self,
        obtaining: &mut Obtaining,
        reason: Reason,
        challenge: &Challenge,
        earlier: Option<&Held>,
        at_origin: bool,
    ) -> Result<Held, AuthError> {
        let grant = earlier.map(|held| &held.grant);
        let is_unproven = earlier.is_some_and(|held| *held.unproven.lock());
        obtaining.rejected = if is_unproven { obtaining.rejected + 1 } else { 0 };
        if obtaining.rejected > MAX_REJECTED {
            return Err(AuthError::Rejected);
        }
        let target = self.discover(challenge, grant, at_origin).await?;
        let same = earlier.filter(|held| held.grant.issuer == target.issuer);
        if let Some(held) = same.filter(|_| reason == Reason::Unauthorized && !is_unproven)
            && let Some(refreshed) = self.refresh(&target, &held.grant).await?
        {
            return self.keep(refreshed).await;
        }
        let before = same.map(|held| held.grant.scopes.clone()).unwrap_or_default();
        let supported = || target.scopes.iter().flatten().cloned().collect::<Scopes>();
        let wanted = challenge.scopes().unwrap_or_else(supported);
        let scopes = wanted.union(&before).union(&self.config().scopes);
        if reason == Reason::InsufficientScope {
            obtaining.steps += 1;
            if before.includes(&scopes) || obtaining.steps > MAX_STEPS {
                return Err(AuthError::InsufficientScope);
            }
        }
        let obtained = self.obtain(&target, scopes, grant).await?;
        self.keep(obtained).await
    }

    /// The grant that another client with the same store has got meanwhile.
    async fn newer(&self, reason: Reason, used: Option<&Arc<Held>>) -> Result<Option<Held>, AuthError> {
        let stored = self.stored().await?.filter(|_| reason == Reason::Unauthorized);
        let is_used = |grant: &Grant| used.is_some_and(|used| used.grant.access_token == grant.access_token);
        let newer = stored.filter(|grant| !is_used(grant) && !grant.has_expired());
        newer.map(|grant| Held::new(grant, false)).transpose()
    }

    /// The grant in the store. A store that mixes grants up must not send a token elsewhere.
    async fn stored(&self) -> Result<Option<Grant>, AuthError> {
        let stored = self.config().store.load(self.server.as_str()).await;
        Ok(stored
            .map_err(AuthError::Store)?
            .filter(|grant| grant.server == self.server.as_str()))
    }

    async fn keep(&self, grant: Grant) -> Result<Held, AuthError> {
        self.config().store.save(&grant).await.map_err(AuthError::Store)?;
        Held::new(grant, true)
    }

    /// The grant that requests are sent with, unless it has expired. At first it is loaded from the store.
    async fn current(&self) -> Result<Option<Arc<Held>>, AuthError> {
        let current = self.state.lock().grant.clone();
        if let Some(held) = current.filter(|held| !held.grant.has_expired()) {
            return Ok(Some(held));
        }
        let mut obtaining = self.obtaining.lock().await;
        if !std::mem::replace(&mut obtaining.has_loaded, true) {
            let stored = self.stored().await?;
            self.state.lock().grant = stored.map(|grant| Held::new(grant, false)).transpose()?.map(Arc::new);
        }
        // An expired token is sent as well: the server refuses it, says what it wants, and then it is refreshed.
        Ok(self.state.lock().grant.clone())
    }
}

impl Retried {
    /// The server accepts the token of the request.
    fn prove(&self) {
        if let Some(held) = &self.grant {
            *held.unproven.lock() = false;
        }
    }
}

impl Held {
    fn new(grant: Grant, unproven: bool) -> Result<Self, AuthError> {
        Ok(Self {
            key: grant.dpop_key.as_ref().map(DpopKey::stored).transpose()?,
            grant,
            unproven: Mutex::new(unproven),
        })
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authorization").field(&self.authorizer).finish()
    }
}
