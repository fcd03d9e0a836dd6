//! The server of Streamable HTTP, over real sockets, with an engine that only echoes.

mod answers;
mod budgets;
mod client;
mod client_streams;
mod connections;
mod cross_site;
mod engine;
mod function;
#[cfg(feature = "router")]
mod guards;
#[cfg(feature = "router")]
mod listen;
mod principals;
mod requests;
mod sessions;
#[cfg(feature = "router")]
mod stateless;
mod streams;
