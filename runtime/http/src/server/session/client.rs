//! Which clients are told apart.

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::request::Parts;

/// Who has a session, as far as a server knows that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(crate) principal: Option<String>,
    /// The address of a client without a principal. Behind a proxy, all have the same.
    address: Option<IpAddr>,
}

impl Client {
    /// The client that sends a request.
    pub(crate) fn new(principal: Option<String>, request: &Parts) -> Self {
        let connection = request.extensions.get::<ConnectInfo<SocketAddr>>();
        let connection = connection.filter(|_| principal.is_none());
        Self {
            address: connection.map(|connection| connection.0.ip()),
            principal,
        }
    }
}
