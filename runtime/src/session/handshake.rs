//! The handshake that starts a session: `initialize`, its result, and `notifications/initialized`.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, error_code};
use mcp_adapters::{Revision, accept, hub, negotiate};

use super::engine::ServerInfo;
use super::info::PeerInfo;
use super::state::SessionState;
use crate::error::{CallError, ConnectError};
use crate::message::Purpose;
use crate::side::{ClientSide, Side};

impl<S: Side> SessionState<S> {
    /// Answers `initialize`: negotiates the revision, and says what this server is.
    pub fn accept_initialize(
        &self,
        params: &hub::InitializeRequestParams,
        server: &ServerInfo,
    ) -> Result<S::Result, ErrorObject> {
        let Some(revision) = negotiate(&params.protocol_version, &self.options.supported) else {
            return Err(ErrorObject::new(
                error_code::INTERNAL_ERROR,
                "the server supports no revision",
            ));
        };
        let info = PeerInfo {
            implementation: params.client_info.clone(),
            capabilities: serde_json::to_value(&params.capabilities).unwrap_or_default(),
            instructions: None,
        };
        if !self.negotiated(revision, info) {
            return Err(ErrorObject::new(
                error_code::INVALID_REQUEST,
                "the session has begun before",
            ));
        }
        let mut result = hub::InitializeResult::new(
            revision.as_str(),
            server.capabilities.clone(),
            server.implementation.clone(),
        );
        result.instructions = server.instructions.clone();
        S::initialize_result(result)
            .ok_or_else(|| ErrorObject::new(error_code::METHOD_NOT_FOUND, "this side is not a server"))
    }
}

impl SessionState<ClientSide> {
    /// Sends `initialize`, and accepts the revision that the server answers with.
    pub async fn initialize(
        self: &Arc<Self>,
        info: hub::Implementation,
        capabilities: hub::ClientCapabilities,
        supported: &[Revision],
    ) -> Result<(), ConnectError> {
        let params = hub::InitializeRequestParams::new(self.current_revision().as_str(), capabilities, info);
        let request = hub::InitializeRequest::new(params);
        let result = match self.call(request.into(), Purpose::Unsolicited, None).await? {
            hub::ServerResult::Initialize(result) => result,
            _ => return Err(CallError::InvalidResult("no answer to `initialize`".to_owned()).into()),
        };
        let revision = accept(&result.protocol_version, supported)?;
        let info = PeerInfo {
            implementation: result.server_info,
            capabilities: serde_json::to_value(&result.capabilities).unwrap_or_default(),
            instructions: result.instructions,
        };
        self.negotiated(revision, info);
        let initialized = hub::InitializedNotification::default();
        self.notify(initialized.into(), Purpose::Unsolicited).await?;
        Ok(())
    }
}
