//! The identity of clients.

use std::net::IpAddr;

use http::Extensions;
use http::request::Parts;
use mcp_runtime_core::transport::Principal;

use super::super::extensions::ClientAddress;

/// The client of a session, as far as a server can distinguish clients.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(crate) principal: Option<String>,
    /// The address of a client without a principal. Behind a proxy, all clients have the same address.
    address: Option<IpAddr>,
}

impl Client {
    /// The client that sends a request.
    pub(crate) fn new(principal: Option<String>, request: &Parts) -> Self {
        let address = request.extensions.get().filter(|_| principal.is_none());
        Self {
            address: address.map(|ClientAddress(address)| address.ip()),
            principal,
        }
    }

    /// The extensions that handlers get with a message: the HTTP request that carried it, and the principal.
    pub(crate) fn extensions(&self, request: Option<Parts>) -> Extensions {
        let mut extensions = Extensions::new();
        if let Some(request) = request {
            extensions.insert(request);
        }
        if let Some(principal) = self.principal.clone() {
            extensions.insert(Principal(principal));
        }
        extensions
    }
}
