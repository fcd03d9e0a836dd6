//! Servers that check tokens.

mod jwks;
mod protected;
mod validator;

pub use self::jwks::JwtValidator;
pub use self::protected::ProtectedResource;
pub use self::validator::{TokenError, TokenInfo, TokenValidator};
