//! The server side: checking tokens.

mod algorithms;
mod challenge;
mod dpop;
mod guard;
mod jwks;
mod keys;
mod nonces;
mod proofs;
mod protected;
mod validator;

pub use self::dpop::Dpop;
pub use self::jwks::JwtValidator;
pub use self::protected::ProtectedResource;
pub use self::validator::{TokenError, TokenInfo, TokenValidator};
pub use mcp_runtime_http::guard::ProofStore;
