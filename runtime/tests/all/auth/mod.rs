//! Authorization over HTTP, with correct and with hostile servers.

mod bound;
mod flow;
mod hostile;
mod issuer;
mod keys;
pub(crate) mod proof;
mod protected;
mod script;
pub(crate) mod signer;
mod stores;
mod test_servers;
mod user;
