//! Clients and servers of the Model Context Protocol over HTTP.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod client;
pub mod guard;
#[cfg(feature = "server")]
pub mod server;
