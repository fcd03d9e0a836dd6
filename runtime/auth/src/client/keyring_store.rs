//! A store of tokens in the keyring of the system.

use std::fmt;
use std::sync::Arc;

use keyring_core::{CredentialStore, Entry, Error};
use mcp_runtime_util::{BoxFuture, Mutex};
use sha2::{Digest as _, Sha256};

use super::store::{Grant, TokenStore, blocking};
use crate::crypto::base64url;
use crate::error::BoxError;

/// The maximum bytes of one entry. Windows allows 2560.
const PART: usize = if cfg!(windows) { 2048 } else { 64 * 1024 };
/// The maximum number of entries of one grant.
const MAX_PARTS: usize = 64;

/// A store in the keyring of the system: the Keychain of macOS, the Credential Manager of Windows, and the Secret
/// Service elsewhere. It needs the feature `keyring`.
///
/// A grant is stored as an entry whose service is the name of the program, and whose user is the URL of the server. A
/// grant that is too long for one entry has several. On a system without a keyring, such as a machine without a
/// desktop, the store fails with [`AuthError::Store`](super::super::AuthError::Store).
///
/// ```
/// use mcp_runtime::auth::{Authorizer, KeyringStore, Loopback};
///
/// fn authorizer(user: Loopback) -> Authorizer {
///     Authorizer::interactive(user).store(KeyringStore::new("notes"))
/// }
/// ```
#[derive(Clone)]
pub struct KeyringStore {
    service: Arc<str>,
    /// `None` for the keyring of the system.
    store: Option<Arc<CredentialStore>>,
    part: usize,
    writing: Arc<Mutex<()>>,
}

impl KeyringStore {
    /// Creates a store in the keyring of the system. Programs with the same service share their tokens.
    pub fn new(service: impl Into<String>) -> Self {
        Self {
            service: service.into().into(),
            store: None,
            part: PART,
            writing: Arc::default(),
        }
    }

    /// Sets another keyring of the crate `keyring-core`, such as one of a mobile system.
    #[must_use]
    pub fn keyring(mut self, store: Arc<CredentialStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// The entry with a part of a grant.
    fn entry(&self, server: &str, part: usize) -> Result<Entry, Error> {
        // This can't collide with another server, since the URL of a server has no fragment.
        let user = match part {
            0 => server.to_owned(),
            _ => format!("{server}#{part}"),
        };
        match &self.store {
            Some(store) => store.build(&self.service, &user, None),
            None => {
                let entry = keyring::Entry::new(&self.service, &user);
                let why = |error| match (error, keyring::Entry::store_status()) {
                    (Error::NoDefaultStore, Err(why)) => Error::NotSupportedByStore(why.to_string()),
                    (error, _) => error,
                };
                entry.map(|entry| entry.inner).map_err(why)
            }
        }
    }

    fn read(&self, server: &str) -> Result<Option<Grant>, BoxError> {
        let Some(first) = present(self.entry(server, 0)?.get_secret())? else {
            return Ok(None);
        };
        let Some((head, text)) = Head::split(&first) else {
            return Err("the entry in the keyring wasn't written by this store".into());
        };
        let mut text = text.to_vec();
        for part in 1..head.parts {
            text.extend(present(self.entry(server, part)?.get_secret())?.unwrap_or_default());
        }
        if head.digest != digest(&text) {
            tracing::warn!(server, "the grant in the keyring is incomplete, and is ignored");
            return Ok(None);
        }
        Ok(Some(serde_json::from_slice(&text)?))
    }

    fn write(&self, grant: &Grant) -> Result<(), BoxError> {
        let _writing = self.writing.lock();
        let text = serde_json::to_vec(grant)?;
        let mut parts = text.chunks(self.part);
        if parts.len() > MAX_PARTS {
            return Err("the grant is too long for the keyring".into());
        }
        let head = format!("{} {}\n", parts.len(), digest(&text));
        let first = [head.as_bytes(), parts.next().unwrap_or_default()].concat();
        let before = self.parts(&grant.server)?;
        let mut count = 1;
        for part in parts {
            self.entry(&grant.server, count)?.set_secret(part)?;
            count += 1;
        }
        self.entry(&grant.server, 0)?.set_secret(&first)?;
        self.delete(&grant.server, count..before)
    }

    /// The number of entries of the grant for a server.
    fn parts(&self, server: &str) -> Result<usize, Error> {
        let first = present(self.entry(server, 0)?.get_secret())?;
        let head = first.as_deref().and_then(Head::split);
        Ok(head.map_or(0, |(head, _)| head.parts))
    }

    /// Deletes entries of the grant for a server.
    fn delete(&self, server: &str, parts: std::ops::Range<usize>) -> Result<(), BoxError> {
        for part in parts {
            present(self.entry(server, part)?.delete_credential())?;
        }
        Ok(())
    }
}

impl TokenStore for KeyringStore {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<Option<Grant>, BoxError>> {
        let server = server.to_owned();
        Box::pin(blocking(self, move |store| store.read(&server)))
    }

    fn save<'a>(&'a self, grant: &'a Grant) -> BoxFuture<'a, Result<(), BoxError>> {
        let grant = grant.clone();
        Box::pin(blocking(self, move |store| store.write(&grant)))
    }

    fn remove<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), BoxError>> {
        let server = server.to_owned();
        Box::pin(blocking(self, move |store| {
            let _writing = store.writing.lock();
            let parts = store.parts(&server)?.max(1);
            store.delete(&server, 0..parts)
        }))
    }
}

/// The first line of a grant's first entry. Its digest detects entries that were written at different times.
struct Head<'a> {
    parts: usize,
    digest: &'a str,
}

impl<'a> Head<'a> {
    /// Splits an entry into the first line and the rest.
    fn split(entry: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut lines = entry.splitn(2, |byte| *byte == b'\n');
        let (head, rest) = (lines.next()?, lines.next()?);
        let (parts, digest) = std::str::from_utf8(head).ok()?.split_once(' ')?;
        let parts = parts.parse().ok().filter(|parts| (1..=MAX_PARTS).contains(parts))?;
        Some((Self { parts, digest }, rest))
    }
}

fn digest(text: &[u8]) -> String {
    base64url(&Sha256::digest(text))
}

/// Converts the error for a missing entry to `None`.
fn present<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Err(Error::NoEntry) => Ok(None),
        result => result.map(Some),
    }
}

impl fmt::Debug for KeyringStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyringStore")
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use keyring_core::mock;
    use serde_json::json;

    use super::*;

    const SERVER: &str = "https://mcp.example/mcp";

    fn grant(token: &str) -> Grant {
        let grant =
            json!({"server": SERVER, "issuer": "https://login.example", "access_token": token, "token_type": "bearer"});
        serde_json::from_value(grant).unwrap()
    }

    /// A store with entries of at most this many bytes, plus the head.
    fn store(keyring: &Arc<mock::Store>, part: usize) -> KeyringStore {
        let store = KeyringStore::new("tests").keyring(keyring.clone());
        KeyringStore { part, ..store }
    }

    /// The entries that have a secret.
    fn entries(keyring: &mock::Store) -> Vec<String> {
        let mut credentials = keyring.inner.lock().unwrap();
        let credentials = credentials.get_mut().iter();
        let kept = credentials.filter(|it| it.inner.lock().unwrap().get_mut().secret.is_some());
        kept.map(|it| it.specifiers.1.clone()).collect()
    }

    #[tokio::test]
    async fn long_grants_are_split_into_several_entries() {
        let keyring = mock::Store::new().unwrap();
        let store = store(&keyring, 100);
        assert!(store.load(SERVER).await.unwrap().is_none());
        for (length, parts) in [(10, 3), (1000, 13), (1, 3), (100, 4)] {
            let token = "x".repeat(length);
            store.save(&grant(&token)).await.unwrap();
            let loaded = store.load(SERVER).await.unwrap().unwrap();
            assert_eq!(loaded.access_token.expose(), token);
            assert_eq!(entries(&keyring).len(), parts, "{length}");
        }
        assert!(store.save(&grant(&"x".repeat(100 * MAX_PARTS))).await.is_err());
        assert!(store.load("https://other.example/mcp").await.unwrap().is_none());
        for _ in 0..2 {
            store.remove(SERVER).await.unwrap();
            assert!(entries(&keyring).is_empty());
        }
    }

    #[tokio::test]
    async fn entries_of_different_grants_are_not_mixed() {
        let keyring = mock::Store::new().unwrap();
        let store = store(&keyring, 100);
        store.save(&grant(&"x".repeat(300))).await.unwrap();
        // As if a killed program had written only a part of another grant.
        store.entry(SERVER, 2).unwrap().set_secret(&[b'y'; 100]).unwrap();
        assert!(store.load(SERVER).await.unwrap().is_none());
        store.save(&grant("new")).await.unwrap();
        assert_eq!(store.load(SERVER).await.unwrap().unwrap().access_token.expose(), "new");
        store.entry(SERVER, 1).unwrap().delete_credential().unwrap();
        assert!(store.load(SERVER).await.unwrap().is_none());
        for foreign in [&b"a password"[..], b"", b"0 x\n{}", b"9999999 x\n{}", b"\xff \n"] {
            store.entry(SERVER, 0).unwrap().set_secret(foreign).unwrap();
            assert!(store.load(SERVER).await.is_err());
        }
    }

    #[tokio::test]
    async fn errors_of_the_keyring_are_reported() {
        let keyring = mock::Store::new().unwrap();
        let store = store(&keyring, PART);
        store.save(&grant("old")).await.unwrap();
        let fail = || {
            let entry = store.entry(SERVER, 0).unwrap();
            let credential: &mock::Cred = entry.as_any().downcast_ref().unwrap();
            credential.set_error(Error::NoStorageAccess("it is locked".into()));
        };
        fail();
        let error = store.load(SERVER).await.unwrap_err().to_string();
        assert!(error.contains("it is locked"), "{error}");
        fail();
        assert!(store.save(&grant("new")).await.is_err());
        fail();
        assert!(store.remove(SERVER).await.is_err());
        assert_eq!(store.load(SERVER).await.unwrap().unwrap().access_token.expose(), "old");
    }
}
