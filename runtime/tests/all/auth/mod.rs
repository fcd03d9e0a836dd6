//! Authorization over HTTP, with correct and with hostile servers.

mod bound;
mod flow;
mod hostile;
mod issuer;
mod kept;
mod keys;
pub(crate) mod proof;
mod protected;
mod script;
pub(crate) mod signer;
mod user;
mod world;
