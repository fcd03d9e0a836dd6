//! Servers and clients of the Model Context Protocol, written once for peers of every revision.

pub mod transport;
