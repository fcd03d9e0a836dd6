//! Information about a request that isn't part of it. The code that receives the request puts it into the extensions.

use std::net::SocketAddr;

/// The address of a request's client, which distinguishes clients without a principal.
///
/// [`serve`](super::serve) adds it to the extensions of each request that comes over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub SocketAddr);
