//! Servers that check tokens.

mod algorithms;
mod dpop;
mod jwks;
mod nonces;
mod protected;
mod replay;
mod validator;

pub use self::dpop::Dpop;
pub(crate) use self::dpop::{ProofError, ProvenRequest};
pub use self::jwks::JwtValidator;
pub use self::protected::ProtectedResource;
pub use self::validator::{TokenError, TokenInfo, TokenValidator};
