//! Authorization with OAuth 2.1: clients that obtain tokens, and servers that check them.
//!
//! A client's [`Authorizer`] is set in its HTTP options, by `HttpOptions::authorizer`. When the server requires a
//! token, the client finds the authorization server, obtains a token there, and repeats the request. A server's
//! [`ProtectedResource`] is set by `HttpServer::protect`.
//!
//! [Specification](https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization)

#![cfg_attr(docsrs, feature(doc_cfg))]

mod address;
mod client;
mod crypto;
mod discovery;
mod dpop;
mod error;
mod fetch;
mod jwt;
mod metadata;
mod scopes;
mod secret;
mod server;

pub use self::client::*;
pub use self::error::{AuthError, BoxError};
pub use self::jwt::SigningKey;
pub use self::metadata::ResourceMetadata;
pub use self::scopes::Scopes;
pub use self::secret::Secret;
pub use self::server::{Dpop, JwtValidator, ProofStore, ProtectedResource, TokenError, TokenInfo, TokenValidator};
pub use mcp_runtime_util::BoxFuture;
