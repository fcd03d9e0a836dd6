//! The start of a session: the handshake, or the discovery of stateless revisions.

use std::sync::Arc;

use mcp_adapters::mcp_wire::{ErrorObject, Notice, RawJson, UnknownMethod, error_code};
use mcp_adapters::{
    ClientDescription, Loss, Mismatch, PeerTypes, Revision, ServerDescription, SessionError, accept, hub, negotiate,
    session_messages,
};

use super::capabilities::with_extra;
use super::era_detection::{Finding, classify};
use super::negotiated::Negotiated;
use super::server::ServerInfo;
use super::state::SessionState;
use super::tolerance::tolerate;
use crate::era::{Era, with_era};
use crate::error::{CallError, ConnectError, internal_error, invalid_params};
use crate::message::{Purpose, to_json};
use crate::side::{ClientSide, Side};

impl ServerInfo {
    /// Returns the server's description of itself for clients of a revision.
    fn description(&self, revision: Revision, versions: Vec<String>) -> ServerDescription {
        let extra = self.extra_capabilities.iter();
        let extra = extra.filter(|(of_revision, _)| *of_revision == revision);
        ServerDescription {
            versions,
            capabilities: with_extra(&self.capabilities, extra.map(|(_, capabilities)| capabilities.clone())),
            implementation: Some(self.implementation.clone()),
            instructions: self.instructions.clone(),
        }
    }
}

impl<S: Side> SessionState<S> {
    /// Answers the request that starts a session: negotiates the revision, and describes this server.
    pub fn accept_handshake(
        &self,
        revision: Revision,
        params: &RawJson,
        server: &ServerInfo,
    ) -> Result<RawJson, ErrorObject> {
        let read = session_messages::read_initialize_params(revision, params);
        let read = read.map_err(|error| invalid_params(format!("params: {error}")))?;
        let supported = &self.options.supported;
        let Some(revision) = negotiate(&read.result.version, supported) else {
            let (requested, supported) = (read.result.version, supported.clone());
            let latest = supported.iter().max().copied().unwrap_or(revision);
            return Err(session_messages::unsupported(
                latest,
                &Mismatch { requested, supported },
            ));
        };
        let agreement = server.agreement.as_ref().filter(|(of, _)| *of == revision);
        if agreement.is_none() {
            self.report_losses(revision.lifecycle().begin.unwrap_or_default(), &read.losses);
        }
        if !self.agree(Negotiated::with_client(revision, read.result)?) {
            return Err(ErrorObject::new(
                error_code::INVALID_REQUEST,
                "the session has already started",
            ));
        }
        if let Some((_, agreed)) = agreement {
            return Ok(agreed.clone());
        }
        let agreed = session_messages::initialize_result(
            revision,
            server.description(revision, vec![revision.as_str().to_owned()]),
        );
        self.written(revision.lifecycle().begin, agreed)
    }

    /// Answers the discovery request.
    pub fn discovery(&self, revision: Revision, server: &ServerInfo) -> Result<RawJson, ErrorObject> {
        let versions = self.options.supported.iter().rev();
        let versions = versions.map(|revision| revision.as_str().to_owned()).collect();
        let discovery = session_messages::discovery(revision, server.description(revision, versions));
        self.written(revision.lifecycle().discover, discovery)
    }

    fn written(
        &self,
        method: Option<&str>,
        written: Result<(RawJson, Vec<Loss>), SessionError>,
    ) -> Result<RawJson, ErrorObject> {
        let (json, losses) = written.map_err(|error| {
            tracing::error!(%error, "the client's revision can't represent the server's description of itself");
            internal_error(error)
        })?;
        self.report_losses(method.unwrap_or_default(), &losses);
        Ok(json)
    }
}

/// Creates a message with only the parameters that its revision presets.
fn preset_message(revision: Revision, method: &str) -> UnknownMethod {
    let message = UnknownMethod::new(method);
    match session_messages::params(revision, method) {
        Some(params) => message.with_params(params),
        None => message,
    }
}

/// A client's description of itself.
#[derive(Debug, Clone)]
pub struct ClientInfo {
    /// Its name and version.
    pub implementation: hub::Implementation,
    /// Its capabilities.
    pub capabilities: hub::ClientCapabilities,
    /// The parameters of the handshake in one revision, if they are already available as JSON.
    pub begin: Option<(Revision, RawJson)>,
    /// The lowest level of log messages that it wants from a stateless server.
    pub log_level: Option<hub::LoggingLevel>,
}

impl<S: Side> SessionState<S> {
    /// Sets the server's log level to that of the options.
    pub async fn restore_log_level(self: &Arc<Self>) {
        if let Some(level) = &self.options.log_level {
            self.set_log_level(level).await;
        }
    }

    /// Sets the log level of a server; `None` if its revision has no such request, or it doesn't declare the logging
    /// capability.
    pub async fn set_log_level(self: &Arc<Self>, level: &hub::LoggingLevel) -> Option<Result<(), CallError>> {
        let negotiated = self.negotiated();
        let (method, params) = session_messages::set_level(negotiated.revision, level.as_str())?;
        self.check_call(negotiated, method).ok()?;
        let request = UnknownMethod::new(method).with_params(params);
        let set = self.call_json(negotiated, method, request).await;
        let set = set.inspect_err(|error| tracing::warn!(%error, "the server's log level wasn't set"));
        Some(set.map(drop))
    }
}

impl SessionState<ClientSide> {
    fn description(revision: Revision, info: &ClientInfo) -> ClientDescription {
        let level = info.log_level.as_ref();
        ClientDescription {
            version: revision.as_str().to_owned(),
            capabilities: info.capabilities.clone(),
            implementation: Some(info.implementation.clone()),
            log_level: level.map(|level| level.as_str().to_owned()),
        }
    }

    /// Sends the request that starts a session, and accepts the revision that the server responds with if it is
    /// supported.
    pub async fn handshake(self: &Arc<Self>, revision: Revision, info: &ClientInfo) -> Result<(), ConnectError> {
        let unwritable = |error: SessionError| CallError::Unrepresentable(error.to_string());
        let (params, losses) = match &info.begin {
            Some((of, params)) if *of == revision => (params.clone(), Vec::new()),
            _ => {
                session_messages::initialize_params(revision, Self::description(revision, info)).map_err(unwritable)?
            }
        };
        let method = revision.lifecycle().begin.ok_or(ConnectError::NoRevision)?;
        self.report_losses(method, &losses);
        let negotiated = Negotiated::unknown(revision);
        let request = UnknownMethod::new(method).with_params(params);
        let (result, violations) = self.call_json(&negotiated, method, request).await?;
        let answered = session_messages::negotiated_version::<Revision>(&result).unwrap_or(revision);
        let (corrected, violations) = match tolerate(answered.tolerances(method), &result) {
            Some((corrected, more)) => (corrected, violations.into_iter().chain(more).collect()),
            None => (result.clone(), violations),
        };
        self.validate_result(answered, method, &result, violations)?;
        let read = session_messages::read_initialize_result(answered, &corrected);
        let read = read.map_err(|error| CallError::InvalidResult(error.to_string()))?;
        if info.begin.is_none() {
            self.report_losses(method, &read.losses);
        }
        let handshakes = with_era(&self.options.supported, Era::Handshake);
        let named = read.result.versions.first().map_or("", String::as_str);
        let agreed = accept(named, &handshakes)?;
        let _ = self.agreement.set(corrected);
        self.agree(Negotiated::with_server(agreed, read.result));
        if let Some(begun) = agreed.lifecycle().begun {
            let json = to_json(&Notice {
                notification: preset_message(agreed, begun),
            });
            self.send(json, Purpose::Unsolicited)
                .await
                .map_err(|error| self.send_error(error))?;
        }
        self.restore_log_level().await;
        Ok(())
    }

    /// Sends the discovery request, and determines the server's era from the response.
    pub async fn probe(self: &Arc<Self>, revision: Revision, info: &ClientInfo) -> Finding {
        let supported = self.options.supported.clone();
        let mut asked = revision;
        // Limited, because a server could keep refusing revisions that it has itself named.
        for _ in 0..2 {
            let answer = self.discover(asked, info).await;
            match classify(asked, &supported, answer) {
                Finding::AskAgain(revision) => asked = revision,
                finding => return finding,
            }
        }
        Finding::Failed(ConnectError::Mismatch(Mismatch {
            requested: asked.as_str().to_owned(),
            supported,
        }))
    }

    async fn discover(self: &Arc<Self>, revision: Revision, info: &ClientInfo) -> Result<RawJson, CallError> {
        let negotiated = Self::stateless_negotiated(revision, info, Negotiated::unknown(revision))?;
        let method = revision.lifecycle().discover;
        let method = method.ok_or_else(|| CallError::Unrepresentable("the revision has no discovery".to_owned()))?;
        let call = self.call_json(&negotiated, method, preset_message(revision, method));
        if self.options.latest(Era::Handshake).is_none() {
            // There is no handshake to try instead, so the timeout is that of any other call.
            return call.await.map(|(result, _)| result);
        }
        let patience = self.options.limits.probe_timeout;
        let clock = self.clock();
        tokio::select! {
            biased;
            answer = call => answer.map(|(result, _)| result),
            () = clock.wait_until(patience) => Err(CallError::TimedOut(patience)),
        }
    }

    /// Starts a session with a server of the stateless era.
    pub fn agree_stateless(
        &self,
        revision: Revision,
        info: &ClientInfo,
        description: ServerDescription,
    ) -> Result<(), ConnectError> {
        let negotiated = Negotiated::with_server(revision, description);
        self.agree(Self::stateless_negotiated(revision, info, negotiated)?);
        Ok(())
    }

    /// Adds the client's description of itself to the terms of calls to a stateless server.
    pub fn stateless_negotiated(
        revision: Revision,
        info: &ClientInfo,
        negotiated: Negotiated,
    ) -> Result<Negotiated, CallError> {
        let meta = session_messages::request_meta(revision, Self::description(revision, info));
        let meta = meta.map_err(|error| CallError::Unrepresentable(error.to_string()))?;
        Ok(negotiated.with_request_meta(meta))
    }
}
