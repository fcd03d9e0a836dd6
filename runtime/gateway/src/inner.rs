//! The state of a gateway, which its clones share.

use std::sync::Arc;
use std::time::Duration;

use mcp_adapters::hub;
use mcp_runtime_bridge::BridgeOptions;
use mcp_runtime_clients::Names;

use super::policy::ErasedPolicy;
use super::report::Observer;
use super::server::GatewayServer;

#[derive(Clone)]
pub struct Inner {
    pub info: hub::Implementation,
    pub instructions: Option<String>,
    pub servers: Vec<GatewayServer>,
    pub names: Names,
    pub page_size: usize,
    pub time_limit: Duration,
    pub options: BridgeOptions,
    pub policy: Option<Arc<dyn ErasedPolicy>>,
    pub drops_undeclared: bool,
    pub observer: Option<Observer>,
}
