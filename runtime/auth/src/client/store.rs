//! The store of tokens.

use std::collections::HashMap;
use std::fmt;

use mcp_runtime_util::{BoxFuture, Mutex};
use serde::{Deserialize, Serialize};

use crate::crypto::now;
use crate::error::BoxError;
use crate::scopes::Scopes;
use crate::secret::Secret;

/// The time before its expiry from which a token is considered expired, in seconds.
const LEEWAY: u64 = 10;

/// The tokens that an authorization server has issued to a client for one server.
///
/// The access token is only sent to that server, and the refresh token only to that authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The URL of the server.
    pub server: String,
    /// The issuer of the tokens.
    pub issuer: String,
    /// The resource that the tokens are for, as named in its metadata.
    #[serde(default)]
    pub resource: Option<String>,
    /// The scopes that were granted.
    #[serde(default)]
    pub scopes: Scopes,
    /// The client's registration, if it was registered dynamically.
    #[serde(default)]
    pub registration: Option<Registration>,
    /// The access token.
    pub access_token: Secret,
    /// The type of the access token.
    pub token_type: TokenType,
    /// The expiry of the access token, in seconds since the epoch.
    #[serde(default)]
    pub expires_at: Option<u64>,
    /// The refresh token.
    #[serde(default)]
    pub refresh_token: Option<Secret>,
    /// The private key that the tokens are bound to: the base64 of a PKCS #8.
    #[serde(default)]
    pub dpop_key: Option<Secret>,
}

impl Grant {
    /// Whether the access token has expired, or will do so within seconds.
    #[must_use]
    pub fn has_expired(&self) -> bool {
        self.expires_at.is_some_and(|end| end <= now() + LEEWAY)
    }
}

/// The type of an access token, which determines how it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenType {
    /// Everyone who has the token can use it.
    Bearer,
    /// The token is sent with a proof, for each request, that the client has the key to which the token is bound.
    Dpop,
}

/// A client that an authorization server has registered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Registration {
    /// The client id.
    pub id: String,
    /// The client's secret.
    #[serde(default)]
    pub secret: Option<Secret>,
    /// The method by which the client authenticates at the token endpoint, if the authorization server has set one.
    #[serde(default)]
    pub auth_method: Option<String>,
    /// The redirect URI that was registered.
    pub redirect_uri: String,
    /// The expiry of the secret, in seconds since the epoch.
    #[serde(default)]
    pub expires_at: Option<u64>,
}

/// Stores tokens, one grant for each server. Everyone who can read the store can act as the user.
pub trait TokenStore: Send + Sync + 'static {
    /// Loads the grant for the server at this URL.
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>>;

    /// Saves a grant, and replaces the previous one for the same server.
    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Removes the grant for the server at this URL.
    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Waits until no other client of the store refreshes the grant for the server at this URL, and makes others wait
    /// until the lock is dropped. If two clients use the same refresh token, an authorization server may treat the
    /// second one as a thief, and revoke the grant. With the lock, the second client loads the grant that the first one
    /// has saved. By default, clients don't wait.
    fn lock<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<StoreLock, BoxError>> {
        let _ = server;
        Box::pin(async { Ok(StoreLock::default()) })
    }
}

/// A lock that prevents other clients of a [`TokenStore`] from refreshing a grant until it is dropped.
#[derive(Default)]
pub struct StoreLock {
    _guard: Option<Box<dyn Send>>,
}

impl StoreLock {
    /// Creates a lock that is released when `guard` is dropped, which happens when the lock is dropped.
    pub fn new(guard: impl Send + 'static) -> Self {
        Self {
            _guard: Some(Box::new(guard)),
        }
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreLock").finish_non_exhaustive()
    }
}

/// Runs an operation of a store in a thread that may block.
pub async fn blocking<S: Clone + Send + 'static, T: Send + 'static>(
    store: &S,
    work: impl FnOnce(&S) -> Result<T, BoxError> + Send + 'static,
) -> Result<T, BoxError> {
    let store = store.clone();
    tokio::task::spawn_blocking(move || work(&store)).await?
}

/// A store in memory.
#[derive(Default)]
pub struct MemoryStore(Mutex<HashMap<String, Grant>>);

impl TokenStore for MemoryStore {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>> {
        Box::pin(async move { Ok(self.0.lock().get(server).cloned()) })
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.0.lock().insert(grant.server.clone(), grant.clone());
            Ok(())
        })
    }

    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.0.lock().remove(server);
            Ok(())
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore").finish_non_exhaustive()
    }
}
