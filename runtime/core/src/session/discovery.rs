//! The discovery of a server, kept for later connections.

use mcp_adapters::{Revision, ServerDescription, hub};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::negotiated::{Negotiated, PeerInfo};

/// The knowledge of a client about a server after connecting: the negotiated revision and, if the server has no
/// handshake, its discovery result. With [`Options::discovery`](crate::Options::discovery), the next connection reuses
/// it instead of probing the server. It can be stored as JSON.
///
/// If the server no longer supports this revision, the calls of such a connection fail: then connect without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    revision: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
}

/// The discovery result of a server without a handshake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Server {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    implementation: Option<hub::Implementation>,
    capabilities: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
}

impl Discovery {
    pub(super) fn of(negotiated: &Negotiated) -> Self {
        let PeerInfo {
            implementation,
            capabilities,
            instructions,
        } = negotiated.info.clone().unwrap_or(PeerInfo {
            implementation: None,
            capabilities: Value::Null,
            instructions: None,
        });
        let server = Server {
            implementation,
            capabilities,
            instructions,
        };
        Self {
            revision: negotiated.revision.as_str().to_owned(),
            server: negotiated.is_stateless().then_some(server),
        }
    }

    /// Returns the revision, if this version of the library knows it.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.revision.parse().ok()
    }

    /// Returns the discovery result, if the server has no handshake.
    pub(super) fn description(&self) -> Option<ServerDescription> {
        let server = self.server.as_ref()?;
        Some(ServerDescription {
            versions: vec![self.revision.clone()],
            capabilities: hub::ServerCapabilities::deserialize(&server.capabilities).unwrap_or_default(),
            implementation: server.implementation.clone(),
            instructions: server.instructions.clone(),
        })
    }
}
