//! A server's description of itself, and data derived from it that its sessions share.

use std::sync::{Arc, OnceLock};

use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Revision, hub, session_messages};
use mcp_runtime_util::Mutex;
use serde_json::Value;

use super::capabilities::{ExtraCapabilities, with_extra, without_changes};
use super::known_clients::KnownClients;
use crate::message::to_value;

/// A server's description of itself in the handshake.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its name and version.
    pub implementation: hub::Implementation,
    /// Its capabilities.
    pub capabilities: hub::ServerCapabilities,
    /// Instructions for a model that uses it.
    pub instructions: Option<String>,
    /// Capabilities that are declared only in one revision.
    pub extra_capabilities: Vec<ExtraCapabilities>,
    /// The result of the handshake in one revision, if it is already available as JSON.
    pub agreement: Option<(Revision, RawJson)>,
}

/// The state that all sessions of a server share: its description of itself, and data that is derived from it only
/// once.
pub struct Server {
    /// Its description of itself.
    pub info: ServerInfo,
    /// Its capabilities in all revisions together, in the form of the hub.
    pub capabilities: Arc<Value>,
    /// The latest stateless clients.
    pub clients: KnownClients,
    result_metas: Mutex<Vec<(Revision, Option<ResultMeta>)>>,
    /// The same server without the capabilities for change notifications.
    without_changes: OnceLock<Arc<Self>>,
}

/// A key in `_meta` of results, and its value.
type ResultMeta = Arc<(&'static str, RawJson)>;

impl From<ServerInfo> for Server {
    fn from(info: ServerInfo) -> Self {
        let extra = info
            .extra_capabilities
            .iter()
            .map(|(_, capabilities)| capabilities.clone());
        let capabilities = to_value(&with_extra(&info.capabilities, extra));
        Self {
            info,
            capabilities: Arc::new(capabilities),
            clients: KnownClients::default(),
            result_metas: Mutex::default(),
            without_changes: OnceLock::new(),
        }
    }
}

impl Server {
    /// The same server without the capabilities for change notifications.
    pub fn without_changes(&self) -> Arc<Self> {
        let without = || {
            Arc::new(Self::from(ServerInfo {
                capabilities: without_changes(&self.info.capabilities),
                ..self.info.clone()
            }))
        };
        Arc::clone(self.without_changes.get_or_init(without))
    }

    /// Returns the server's description for the `_meta` of each result in a revision, if the revision has a key for it.
    pub fn result_meta(&self, revision: Revision) -> Option<ResultMeta> {
        let mut metas = self.result_metas.lock();
        if let Some((_, known)) = metas.iter().find(|(known, _)| *known == revision) {
            return known.clone();
        }
        let meta = session_messages::result_meta(revision, self.info.implementation.clone());
        let meta = meta.ok().flatten().map(Arc::new);
        metas.push((revision, meta.clone()));
        meta
    }
}
