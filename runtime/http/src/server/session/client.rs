//! Which clients are told apart.

use std::net::IpAddr;

use http::Extensions;
use http::request::Parts;
use mcp_runtime_core::transport::Principal;

use super::super::extensions::ClientAddress;

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
        let address = request.extensions.get().filter(|_| principal.is_none());
        Self {
            address: address.map(|ClientAddress(address)| address.ip()),
            principal,
        }
    }

    /// What handlers find of a message, and of the HTTP request that it came with.
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
