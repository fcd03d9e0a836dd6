//! What is known of a request besides what it says. Whatever gets it first leaves that in its extensions.

use std::net::SocketAddr;

/// The address of a request's client, by which clients without a principal are told apart.
///
/// [`serve`](super::serve) adds it to the extensions of each request that comes over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub SocketAddr);
