//! Two instances of one server, which share a store. They need `redis-server` and `haproxy`, which Debian has, and are run with
//! `-- --ignored`.
#![cfg(all(feature = "auth", feature = "http-client", feature = "redis", feature = "router"))]

mod balanced;
mod changes;
mod client;
mod crossing;
mod kills;
mod programs;
#[path = "../auth/proof.rs"]
mod proof;
mod proofs;
mod server;
#[path = "../auth/signer.rs"]
mod signer;
mod standalone;
mod states;
mod store;
mod tasks;
