//! Authorization with OAuth 2.1: clients that get tokens, and servers that check them.
//!
//! A client's [`Authorizer`] is in
//! [`HttpOptions::authorizer`](crate::transport::http::client::HttpOptions::authorizer). When the server asks for a token, the
//! client finds the authorization server, gets a token there, and repeats the request.
//!
//! [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)

mod address;
#[cfg(feature = "http-client")]
mod client;
mod crypto;
mod discovery;
mod dpop;
mod error;
mod fetch;
#[cfg(feature = "http-client")]
mod jwt;
mod metadata;
mod scopes;
#[cfg(feature = "http-client")]
mod secret;
#[cfg(feature = "http-server")]
mod server;

#[cfg(feature = "keyring")]
pub use self::client::KeyringStore;
#[cfg(feature = "http-client")]
pub use self::client::{
    AssertionRequest, AssertionSource, Authorizer, Client, FileStore, Grant, IdentityProvider, Loopback, MemoryStore,
    Registration, TokenStore, TokenType, UserAgent,
};
pub use self::error::{AuthError, BoxError};
#[cfg(feature = "http-client")]
pub use self::jwt::SigningKey;
pub use self::metadata::ResourceMetadata;
pub use self::scopes::Scopes;
#[cfg(feature = "http-client")]
pub use self::secret::Secret;
#[cfg(feature = "http-server")]
pub use self::server::{Dpop, JwtValidator, ProofStore, ProtectedResource, TokenError, TokenInfo, TokenValidator};
pub use crate::future::BoxFuture;

#[cfg(feature = "http-client")]
pub(crate) use self::client::{Attempts, Authorization};
#[cfg(feature = "http-server")]
pub(crate) use self::dpop::{DPOP, DPOP_NONCE, USE_DPOP_NONCE};
#[cfg(feature = "http-server")]
pub(crate) use self::server::{ProofError, ProvenRequest};
