//! The HTTP client against servers that are written out by hand, byte by byte.

mod caller;
mod faults;
mod listen;
mod renewal;
mod server;
mod session;
mod stateless;
mod streams;
