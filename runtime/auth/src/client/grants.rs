//! The grant that requests are sent with, and its renewal.

use std::sync::Arc;

use mcp_runtime_util::Mutex;
use tokio::time::Instant;

use super::challenge::Challenge;
use super::dpop::DpopKey;
use super::flow::{GrantSource, Refresh};
use super::store::{Grant, StoreLock};
use crate::error::AuthError;
use crate::scopes::Scopes;

/// The maximum number of requests for more scopes. Beyond this, the server is considered never to be satisfied.
const MAX_STEPS: usize = 10;
/// The maximum number of new tokens in a row that a server may refuse without a request that succeeds. Beyond this, no
/// further ones are requested.
const MAX_REJECTED: usize = 3;

/// The current grant for a server.
pub struct Grants {
    source: GrantSource,
    current: Mutex<Option<Arc<ActiveGrant>>>,
    /// Held while a grant is obtained, so that the user is asked only once.
    obtaining: tokio::sync::Mutex<GrantState>,
}

/// A grant that requests are sent with.
pub struct ActiveGrant {
    pub grant: Grant,
    pub key: Option<DpopKey>,
    worth: Mutex<Worth>,
}

/// The worth of a token, as far as the server's responses have shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    Untried,
    /// The server recognizes the token, but requires another scope.
    Known,
    /// A request with the token has succeeded.
    Useful,
}

#[derive(Default)]
struct GrantState {
    has_loaded: bool,
    steps: usize,
    rejected: usize,
    /// The last failure and its time. Requests that waited for the same grant get the same failure.
    failed: Option<(Instant, Arc<AuthError>)>,
}

/// The reason why a server refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Unauthorized,
    InsufficientScope,
    /// The proof has to contain a nonce. The grant itself is good.
    Nonce,
}

/// A request that a server has refused.
pub struct Refused<'a> {
    pub reason: Reason,
    pub challenge: &'a Challenge,
    /// The time when it was sent.
    pub sent: Option<Instant>,
    pub grant: Option<&'a Arc<ActiveGrant>>,
    /// Whether the server may be one without metadata, whose authorization server is at its own origin.
    pub at_origin: bool,
}

impl Grants {
    pub fn new(source: GrantSource) -> Self {
        Self {
            source,
            current: Mutex::default(),
            obtaining: tokio::sync::Mutex::default(),
        }
    }

    /// Obtains another grant in place of the one with which a request was refused, unless that has been done meanwhile.
    pub async fn renew(&self, refused: &Refused<'_>) -> Result<(), Arc<AuthError>> {
        let mut obtaining = self.obtaining.lock().await;
        let used = refused.grant;
        let current = self.current.lock().clone();
        let is_used = match (&current, used) {
            (Some(current), Some(used)) => Arc::ptr_eq(current, used),
            (current, _) => current.is_none(),
        };
        if !is_used {
            return Ok(());
        }
        if let (Some((failed, error)), Some(sent)) = (&obtaining.failed, refused.sent)
            && *failed >= sent
        {
            return Err(Arc::clone(error));
        }
        let earlier = current.or_else(|| used.cloned());
        let can_refresh = earlier.as_ref().is_some_and(|held| held.grant.refresh_token.is_some());
        let lock = match can_refresh {
            true => Some(self.lock().await?),
            false => None,
        };
        if let Some(newer) = self.newer(refused.reason, used).await? {
            *self.current.lock() = Some(Arc::new(newer));
            return Ok(());
        }
        let renewed = self
            .reauthorize(&mut obtaining, refused, earlier.as_deref(), lock)
            .await;
        match renewed {
            Ok(held) => {
                *self.current.lock() = Some(Arc::new(held));
                Ok(())
            }
            Err(error) => {
                let error = Arc::new(error);
                obtaining.failed = Some((Instant::now(), Arc::clone(&error)));
                Err(error)
            }
        }
    }

    async fn reauthorize(
        &self,
        obtaining: &mut GrantState,
        refused: &Refused<'_>,
        earlier: Option<&ActiveGrant>,
        lock: Option<StoreLock>,
    ) -> Result<ActiveGrant, AuthError> {
        let Refused { reason, challenge, .. } = *refused;
        let grant = earlier.map(|held| &held.grant);
        let worth = earlier.map_or(Worth::Useful, |held| *held.worth.lock());
        match (worth, reason) {
            (Worth::Useful, _) => obtaining.rejected = 0,
            // Requests for more scopes are counted below.
            (Worth::Known, Reason::InsufficientScope) => {}
            // A server that alternately recognizes and doesn't recognize a token counts as refusing it.
            (Worth::Known | Worth::Untried, _) => obtaining.rejected += 1,
        }
        if obtaining.rejected > MAX_REJECTED {
            return Err(AuthError::Rejected);
        }
        let target = self.source.discover(challenge, refused.at_origin).await?;
        let same = earlier.filter(|held| held.grant.issuer == target.issuer);
        let mut registered = grant;
        if let Some(held) = same.filter(|_| reason == Reason::Unauthorized && worth > Worth::Untried) {
            match self.source.refresh(&target, &held.grant).await? {
                Refresh::Renewed(refreshed) => return self.keep(*refreshed).await,
                Refresh::Refused => {}
                Refresh::UnknownClient => registered = None,
            }
        }
        // Other clients of the store shouldn't wait for the user of this one.
        drop(lock);
        let before = same.map(|held| held.grant.scopes.clone()).unwrap_or_default();
        let supported = || target.scopes.iter().flatten().cloned().collect::<Scopes>();
        let wanted = challenge.scopes().unwrap_or_else(supported);
        let scopes = wanted.union(&before).union(&self.source.config().scopes);
        if reason == Reason::InsufficientScope {
            obtaining.steps += 1;
            if before.includes(&scopes) || obtaining.steps > MAX_STEPS {
                return Err(AuthError::InsufficientScope);
            }
        }
        let obtained = self.source.obtain(&target, scopes, registered).await?;
        self.keep(obtained).await
    }

    /// Waits until no other client of the store refreshes the grant, and locks it.
    async fn lock(&self) -> Result<StoreLock, AuthError> {
        let locked = self.source.config().store.lock(self.source.server.as_str()).await;
        locked.map_err(AuthError::Store)
    }

    /// The grant that another client of the same store has obtained meanwhile.
    async fn newer(&self, reason: Reason, used: Option<&Arc<ActiveGrant>>) -> Result<Option<ActiveGrant>, AuthError> {
        let stored = self.stored().await?.filter(|_| reason == Reason::Unauthorized);
        let is_used = |grant: &Grant| used.is_some_and(|used| used.grant.access_token == grant.access_token);
        let newer = stored.filter(|grant| !is_used(grant) && !grant.has_expired());
        newer.map(|grant| ActiveGrant::new(grant, Worth::Useful)).transpose()
    }

    /// The grant in the store. It is checked to be for this server, so that a store that mixes up grants can't send a
    /// token to another server.
    async fn stored(&self) -> Result<Option<Grant>, AuthError> {
        let stored = self.source.config().store.load(self.source.server.as_str()).await;
        Ok(stored
            .map_err(AuthError::Store)?
            .filter(|grant| grant.server == self.source.server.as_str()))
    }

    async fn keep(&self, grant: Grant) -> Result<ActiveGrant, AuthError> {
        self.source
            .config()
            .store
            .save(&grant)
            .await
            .map_err(AuthError::Store)?;
        ActiveGrant::new(grant, Worth::Untried)
    }

    /// The grant that requests are sent with. The first time, it is loaded from the store.
    pub async fn current(&self) -> Result<Option<Arc<ActiveGrant>>, AuthError> {
        let current = self.current.lock().clone();
        if let Some(held) = current.filter(|held| !held.grant.has_expired()) {
            return Ok(Some(held));
        }
        let mut obtaining = self.obtaining.lock().await;
        if !std::mem::replace(&mut obtaining.has_loaded, true) {
            let stored = self.stored().await?;
            *self.current.lock() = stored
                .map(|grant| ActiveGrant::new(grant, Worth::Useful))
                .transpose()?
                .map(Arc::new);
        }
        // Even an expired token is sent: the server refuses it with its requirements, and then it is refreshed.
        Ok(self.current.lock().clone())
    }
}

impl ActiveGrant {
    fn new(grant: Grant, worth: Worth) -> Result<Self, AuthError> {
        Ok(Self {
            key: grant.dpop_key.as_ref().map(DpopKey::stored).transpose()?,
            grant,
            worth: Mutex::new(worth),
        })
    }

    /// Records what the server's response has shown about the token.
    pub fn prove(&self, worth: Worth) {
        let mut known = self.worth.lock();
        *known = worth.max(*known);
    }
}
