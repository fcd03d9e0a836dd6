//! Authorization over HTTP, with servers that do as they should and others that don't.
#![cfg(all(
    feature = "auth",
    feature = "http-client",
    feature = "http-server",
    feature = "router"
))]

mod bound;
mod flow;
mod hostile;
mod issuer;
mod kept;
mod keys;
mod proof;
mod protected;
mod script;
mod signer;
mod user;
mod world;
