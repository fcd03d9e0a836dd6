//! The messages that a session handles itself, identified by their roles in the revision.

use std::sync::Arc;

use http::Extensions;
use mcp_adapters::mcp_wire::{
    ErrorObject, ErrorResponse, Message, MessageHeader, MessageKind, RawJson, RequestId, Response, error_code,
};
use mcp_adapters::peers::read_message;
use mcp_adapters::{PeerTypes, Revision, Translated, hub, session_messages};

use super::engine::Engine;
use super::negotiated::Negotiated;
use super::response::PendingResponse;
use super::server::ServerInfo;
use super::state::is_custom;
use crate::error::invalid_params;
use crate::message::to_json;
use crate::side::{MessageIn, Side};

impl<S: Side> Engine<S> {
    /// Returns the terms for a message: those it carries if it is stateless, or else those negotiated for the session.
    pub fn terms_of(&self, header: &MessageHeader<'_>) -> Result<Arc<Negotiated>, ErrorObject> {
        let session = self.session.negotiated();
        if let Some(negotiated) = self.carried_by(header)? {
            *self.session.last_stateless.lock() = Some(negotiated.revision);
            return Ok(negotiated);
        }
        if !S::IS_SERVER || header.method().is_none() {
            return Ok(Arc::clone(session));
        }
        if self.session.revision().is_some() {
            return Ok(Arc::clone(session));
        }
        // The request that starts a session is read in the revision that it requests. A notification doesn't declare
        // its revision: it is read in that of the requests before it.
        let revision = match header.kind() {
            Ok(MessageKind::Notification) => self.revision_with(&header.method().unwrap_or_default()),
            _ => session_messages::requested_version::<Revision>(header).flatten(),
        };
        Ok(revision.map_or_else(
            || Arc::clone(session),
            |revision| Arc::new(Negotiated::unknown(revision)),
        ))
    }

    /// Returns the revision of a notification: that of the last stateless request, if it has the method or no revision
    /// declares it, or else the latest supported revision that has the method. `None` if the default revision has the
    /// method.
    fn revision_with(&self, method: &str) -> Option<Revision> {
        let has_method = |revision: &Revision| revision.method(method).is_some();
        let last = *self.session.last_stateless.lock();
        if let Some(revision) = last.filter(|revision| has_method(revision) || is_custom(method)) {
            return Some(revision);
        }
        let supported = self.session.options.supported.iter().copied();
        let latest = supported.filter(has_method).max()?;
        (!has_method(&self.session.negotiated().revision)).then_some(latest)
    }

    /// Whether a message is stateless, whether or not its revision is supported.
    pub fn is_stateless(&self, header: &MessageHeader<'_>) -> bool {
        !matches!(self.carried_by(header), Ok(None))
    }

    /// Returns the terms that a client's message carries, if it is stateless.
    fn carried_by(&self, header: &MessageHeader<'_>) -> Result<Option<Arc<Negotiated>>, ErrorObject> {
        match &self.server {
            Some(server) if header.method().is_some() => {
                server.clients.negotiated_by(header, &self.session.options.supported)
            }
            _ => Ok(None),
        }
    }

    /// Processes a message that isn't for a handler, and returns its response, if it has one. The outer option is
    /// `None` if the message is for a handler.
    pub fn take_internal(
        self: &Arc<Self>,
        method: &str,
        header: &MessageHeader<'_>,
        negotiated: &Arc<Negotiated>,
        extensions: &Arc<Extensions>,
    ) -> Option<Option<PendingResponse>> {
        let is_passed_on = self.passes_on(negotiated.revision);
        match header.kind().ok()? {
            MessageKind::Notification => {
                let is_taken = self.take_notification(method, header, negotiated);
                is_taken.then_some(None)
            }
            MessageKind::Request => {
                let id = header.id()?;
                let listens =
                    self.server.is_some() && !is_passed_on && negotiated.revision.lifecycle().listen == Some(method);
                if listens && negotiated.info.is_some() {
                    return Some(Some(self.take_listen(id, header, negotiated, extensions)));
                }
                let response = match self.take_call(method, header, negotiated, is_passed_on)? {
                    Ok(result) => to_json(&Response::new(id.clone(), result)),
                    Err(error) => {
                        tracing::debug!(code = error.code, message = error.message, "refused");
                        to_json(&ErrorResponse::new(Some(id.clone()), error))
                    }
                };
                Some(Some(PendingResponse::ready(Some(id), response)))
            }
            MessageKind::Response | MessageKind::Error => None,
        }
    }

    /// Returns the response to a request that the session answers itself or refuses; `None` for other requests.
    fn take_call(
        self: &Arc<Self>,
        method: &str,
        header: &MessageHeader<'_>,
        negotiated: &Negotiated,
        is_passed_on: bool,
    ) -> Option<Result<RawJson, ErrorObject>> {
        let (revision, lifecycle) = (negotiated.revision, negotiated.revision.lifecycle());
        let is_stateless = S::IS_SERVER && negotiated.is_stateless() && negotiated.info.is_some();
        if lifecycle.ping == Some(method) && !is_passed_on {
            return Some(Ok(session_messages::empty_result(revision, method)));
        }
        if let Some(server) = self.server.as_ref().map(|server| &server.info) {
            if lifecycle.begin == Some(method) {
                return Some(self.begin(header, revision, server));
            }
            // A stateless request that doesn't describe its client is refused below.
            let is_complete = is_stateless || !negotiated.is_stateless();
            if is_complete && lifecycle.discover == Some(method) {
                let json = header.message().text().as_bytes();
                let checked = self.session.validate_call(revision, method, json);
                return Some(checked.and_then(|()| self.session.discovery(revision, server)));
            }
        }
        if is_stateless && !is_passed_on {
            let lacks = revision.method(method).is_none() && !is_custom(method);
            return lacks.then(|| {
                let reason = format!("revision {revision} has no method {method}");
                Err(ErrorObject::new(error_code::METHOD_NOT_FOUND, reason))
            });
        }
        if !is_stateless && self.session.revision().is_none() {
            return Some(Err(self.not_begun()));
        }
        self.server
            .as_ref()
            .filter(|_| !is_passed_on)
            .and_then(|_| self.take_setting(method, header, negotiated))
    }

    fn begin(
        self: &Arc<Self>,
        header: &MessageHeader<'_>,
        revision: Revision,
        server: &ServerInfo,
    ) -> Result<RawJson, ErrorObject> {
        let method = header.method().unwrap_or_default();
        let limit = self.session.options.limits.initialize_bytes;
        let params = header.params();
        if params.is_some_and(|params| params.text().len() > limit) {
            let reason = format!("the parameters of `{method}` may have {limit} bytes at most");
            return Err(invalid_params(reason));
        }
        let json = header.message().text().as_bytes();
        self.session.validate_call(revision, &method, json)?;
        let params = params.and_then(|params| params.decode_as().ok());
        let params: RawJson = params.ok_or_else(|| invalid_params("`params` is required"))?;
        let agreed = self.session.accept_handshake(revision, &params, server)?;
        self.listen_in_session();
        Ok(agreed)
    }

    /// Returns the error for a request that is neither stateless nor part of a session.
    pub fn not_begun(&self) -> ErrorObject {
        let supported = &self.session.options.supported;
        let key = supported.iter().find_map(|revision| revision.lifecycle().meta_version);
        if let Some(key) = key.filter(|_| S::IS_SERVER) {
            let reason = format!("`_meta` of the request has no `{key}`, and no session has begun");
            return invalid_params(reason);
        }
        let begin = supported.iter().find_map(|revision| revision.lifecycle().begin);
        let reason = format!("the session has not begun: send `{}` first", begin.unwrap_or_default());
        ErrorObject::new(error_code::INVALID_REQUEST, reason)
    }

    /// Processes a notification; `false` if it is for a handler.
    fn take_notification(&self, method: &str, header: &MessageHeader<'_>, negotiated: &Negotiated) -> bool {
        let lifecycle = negotiated.revision.lifecycle();
        if lifecycle.cancel == Some(method) {
            let id: Option<RequestId> = session_messages::cancelled_request::<Revision>(header);
            let token = id.and_then(|id| self.token(&id));
            if let Some(token) = token {
                token.cancel();
            }
            return true;
        }
        if lifecycle.begun == Some(method) {
            self.session.begun.cancel();
            return true;
        }
        if self.passes_on(negotiated.revision) && self.is_passed_on(header, negotiated.revision) {
            return false;
        }
        if lifecycle.progress == Some(method) {
            if let Some(params) = progress_of::<S>(header, negotiated) {
                self.session.pending.report_progress(params);
            }
            return true;
        }
        !S::IS_SERVER && self.session.take_acknowledgement(method, header, negotiated)
    }

    /// Whether messages of a revision are passed on unchanged instead of being handled.
    fn passes_on(&self, revision: Revision) -> bool {
        self.handler.relay(revision).is_some()
    }

    /// Returns the error response to a request that can't be handled; `None` for other messages.
    pub fn refuse_call(&self, header: &MessageHeader<'_>, error: ErrorObject) -> Option<PendingResponse> {
        let id = header.id().filter(|_| header.kind() == Ok(MessageKind::Request))?;
        Some(PendingResponse::refused(Some(id), error))
    }
}

/// Returns the parameters of a progress notification. Those of clients aren't converted, because servers send no
/// requests in the hub's revision.
fn progress_of<S: Side>(
    header: &MessageHeader<'_>,
    negotiated: &Negotiated,
) -> Option<hub::ProgressNotificationParams> {
    let message: Translated<MessageIn<S>> =
        read_message(negotiated.revision, S::PEER, header, negotiated.conversion()).ok()?;
    match message {
        Translated::Message {
            message: Message::Notification(notice),
            ..
        } => S::progress_in(*notice.notification).or_else(|| header.params()?.decode_as().ok()),
        _ => header.params()?.decode_as().ok(),
    }
}
