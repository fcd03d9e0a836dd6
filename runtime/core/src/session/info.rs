//! What a peer says about itself and about its progress.

use mcp_adapters::hub;
use serde::Deserialize;
use serde_json::Value;

/// The progress of a call, as the peer reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// The progress so far, in a unit of the peer's choice.
    pub progress: f64,
    /// The progress at the end, if the peer knows it.
    pub total: Option<f64>,
    /// A message for people.
    pub message: Option<String>,
}

/// What a peer says about itself: in the handshake, in a discovery, or with a stateless request.
#[derive(Debug, Clone)]
pub struct PeerInfo {
    /// Its name and version, if it says so.
    pub implementation: Option<hub::Implementation>,
    /// Its capabilities, as the hub has them.
    pub capabilities: Value,
    /// A server's instructions for its use.
    pub instructions: Option<String>,
}

impl PeerInfo {
    /// The capabilities of a server; none if they aren't of this type.
    #[must_use]
    pub fn server_capabilities(&self) -> hub::ServerCapabilities {
        hub::ServerCapabilities::deserialize(&self.capabilities).unwrap_or_default()
    }

    /// The capabilities of a client; none if they aren't of this type.
    #[must_use]
    pub fn client_capabilities(&self) -> hub::ClientCapabilities {
        hub::ClientCapabilities::deserialize(&self.capabilities).unwrap_or_default()
    }
}
