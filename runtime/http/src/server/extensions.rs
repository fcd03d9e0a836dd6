//! What is known of a request besides what it says. Whatever gets it first leaves that in its extensions.

use std::net::SocketAddr;

use http::Uri;

/// The address of a request's client, by which clients without a principal are told apart.
///
/// [`serve`](super::serve) adds it to the extensions of each request that comes over TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(pub SocketAddr);

/// The URI of a request as it came, if the server is part of another service that has taken off the beginning of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalUri(pub Uri);
