//! What a server says about itself, and what its sessions share of that.

use std::sync::{Arc, OnceLock};

use mcp_adapters::mcp_wire::RawJson;
use mcp_adapters::{Revision, hello, hub};
use mcp_runtime_util::Mutex;
use serde_json::Value;

use super::capabilities::{ExtraCapabilities, with_extra, without_changes};
use super::known_clients::KnownClients;
use crate::message::to_value;

/// What a server says about itself in the handshake.
#[derive(Debug, Clone)]
pub struct ServerInfo {
    /// Its name and version.
    pub implementation: hub::Implementation,
    /// What it offers.
    pub capabilities: hub::ServerCapabilities,
    /// How a model should use it.
    pub instructions: Option<String>,
    /// Capabilities that are offered for one revision.
    pub extra_capabilities: Vec<ExtraCapabilities>,
    /// How a session of one revision begins, if that is known as JSON already.
    pub agreement: Option<(Revision, RawJson)>,
}

/// A server, as its sessions share it: what it says about itself, and what is made of that only once.
pub struct Server {
    /// What it says about itself.
    pub info: ServerInfo,
    /// What it offers in any revision, as the hub has it.
    pub capabilities: Arc<Value>,
    /// What its stateless clients have said.
    pub clients: KnownClients,
    result_stamps: Mutex<Vec<(Revision, Option<ResultStamp>)>>,
    /// The same server without the capabilities to notify of changes.
    without_changes: OnceLock<Arc<Self>>,
}

/// A key in `_meta` of results, and its value.
type ResultStamp = Arc<(&'static str, RawJson)>;

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
            result_stamps: Mutex::default(),
            without_changes: OnceLock::new(),
        }
    }
}

impl Server {
    /// The same server without the capabilities to notify of changes.
    pub fn without_changes(&self) -> Arc<Self> {
        let without = || {
            Arc::new(Self::from(ServerInfo {
                capabilities: without_changes(&self.info.capabilities),
                ..self.info.clone()
            }))
        };
        Arc::clone(self.without_changes.get_or_init(without))
    }

    /// What each result in a revision says about the server, if the revision has a place for that.
    pub fn result_stamp(&self, revision: Revision) -> Option<ResultStamp> {
        let stamp = || hello::result_stamp(revision, self.info.implementation.clone()).ok()?;
        let mut stamps = self.result_stamps.lock();
        if let Some((_, known)) = stamps.iter().find(|(known, _)| *known == revision) {
            return known.clone();
        }
        let stamp = stamp().map(Arc::new);
        stamps.push((revision, stamp.clone()));
        stamp
    }
}
