//! The Streamable HTTP server over real sockets, mostly with an engine that only echoes.

mod answers;
mod budgets;
mod client;
mod client_streams;
mod connections;
mod cross_site;
mod engine;
mod function;
mod guards;
mod listen;
mod principals;
mod requests;
mod sessions;
mod stateless;
mod streams;
