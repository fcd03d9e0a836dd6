//! Two instances of one server, which share a store. They need `redis-server` and `haproxy`, which Debian has, and are run with
//! `-- --ignored`.
#![cfg(all(feature = "http-client", feature = "redis", feature = "router"))]

mod balanced;
mod client;
mod crossing;
mod kills;
mod programs;
mod server;
mod standalone;
mod store;
