//! What is known of a server from an earlier connection.

use mcp_adapters::{Revision, ServerHello, hub};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::negotiated::{Negotiated, PeerInfo};

/// What a client knows of a server once it is connected: the revision that they speak, and, if the server has no handshake, what it
/// said about itself. [`Options::discovery`](crate::Options::discovery) gives it to the next connection, which asks nothing that it
/// says. It can be kept as JSON.
///
/// A server that speaks this revision no more answers the calls of such a connection with errors: connect without it then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Discovery {
    revision: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<Server>,
}

/// What a server without a handshake says about itself.
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

    /// The revision, if this program knows it.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.revision.parse().ok()
    }

    /// What the server said, if it has no handshake.
    pub(super) fn hello(&self) -> Option<ServerHello> {
        let server = self.server.as_ref()?;
        Some(ServerHello {
            versions: vec![self.revision.clone()],
            capabilities: hub::ServerCapabilities::deserialize(&server.capabilities).unwrap_or_default(),
            implementation: server.implementation.clone(),
            instructions: server.instructions.clone(),
        })
    }
}
