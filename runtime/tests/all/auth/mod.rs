//! Authorization over HTTP, with servers that do as they should and others that don't.

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
