//! Where tokens are kept.

use std::collections::HashMap;
use std::fmt;

use mcp_runtime_util::{BoxFuture, Mutex};
use serde::{Deserialize, Serialize};

use crate::crypto::now;
use crate::error::BoxError;
use crate::scopes::Scopes;
use crate::secret::Secret;

/// How long before its end a token isn't used any more, in seconds.
const LEEWAY: u64 = 10;

/// What an authorization server has given a client for one server.
///
/// Its tokens go to nobody else: the access token to that server, and the refresh token to that authorization server.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The URL of the server.
    pub server: String,
    /// The issuer of the tokens.
    pub issuer: String,
    /// The resource that the tokens are for, as its metadata name it.
    #[serde(default)]
    pub resource: Option<String>,
    /// The scopes that were requested.
    #[serde(default)]
    pub scopes: Scopes,
    /// The client, if it was registered for this.
    #[serde(default)]
    pub registration: Option<Registration>,
    /// The access token.
    pub access_token: Secret,
    /// How the access token is sent.
    pub token_type: TokenType,
    /// When the access token expires, in seconds since the epoch.
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

/// How an access token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenType {
    /// Everyone who has it may use it.
    Bearer,
    /// With a proof for each request that the client has the key to which the token is bound.
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
    /// How the client authenticates at the token endpoint, if the authorization server says so.
    #[serde(default)]
    pub auth_method: Option<String>,
    /// The redirect URI that was registered.
    pub redirect_uri: String,
    /// When the secret expires, in seconds since the epoch.
    #[serde(default)]
    pub expires_at: Option<u64>,
}

/// Keeps tokens, one grant for each server. Everyone who can read it can act as the user.
pub trait TokenStore: Send + Sync + 'static {
    /// The grant for the server at this URL.
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>>;

    /// Keeps a grant in place of the one for the same server.
    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Removes the grant for the server at this URL.
    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Waits until no other client of the store refreshes the grant for the server at this URL, and lets others wait until the lock is
    /// dropped. Of two clients that use one refresh token, an authorization server may take the second for a thief, and revoke the
    /// grant. With the lock, the second one loads what the first has saved. By default, nobody waits.
    fn lock<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<StoreLock, BoxError>> {
        let _ = server;
        Box::pin(async { Ok(StoreLock::default()) })
    }
}

/// Keeps other clients of a [`TokenStore`] from refreshing a grant until it is dropped.
#[derive(Default)]
pub struct StoreLock {
    _guard: Option<Box<dyn Send>>,
}

impl StoreLock {
    /// A lock that is given up when `guard` is dropped.
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

/// Runs what a store does in a thread that may block.
pub async fn blocking<S: Clone + Send + 'static, T: Send + 'static>(
    store: &S,
    work: impl FnOnce(&S) -> Result<T, BoxError> + Send + 'static,
) -> Result<T, BoxError> {
    let store = store.clone();
    tokio::task::spawn_blocking(move || work(&store)).await?
}

/// A store that ends with the program.
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
