//! Two instances of one server, which share a store. The tests need `redis-server` and `haproxy`, which Debian has,
//! and run with `-- --ignored`.

mod balanced;
mod changes;
mod client;
mod crossing;
mod kills;
mod programs;
mod proofs;
mod server;
mod standalone;
mod states;
mod store;
mod tasks;
