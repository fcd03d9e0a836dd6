//! The client side: obtaining tokens.

mod assertion;
mod authorization;
mod authorizer;
mod challenge;
mod code;
mod discovery;
mod dpop;
mod endpoint;
mod file_store;
mod flow;
mod grants;
#[cfg(feature = "keyring")]
mod keyring_store;
mod loopback;
mod registration;
mod store;
mod token;
mod user_agent;
mod waiting;

pub use self::assertion::{AssertionRequest, AssertionSource, IdentityProvider};
pub use self::authorizer::{Authorizer, Client};
pub use self::file_store::FileStore;
#[cfg(feature = "keyring")]
pub use self::keyring_store::KeyringStore;
pub use self::loopback::Loopback;
pub use self::store::{Grant, MemoryStore, Registration, StoreLock, TokenStore, TokenType};
pub use self::user_agent::UserAgent;
