//! Stateless requests, each of which is answered independently.
//!
//! Their headers repeat values from their bodies. A client cancels a request by closing its response.

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use mcp_adapters::mcp_wire::{self, ErrorObject, MessageHeader, error_code};
use mcp_adapters::{PeerTypes, Revision, session_messages};
use mcp_runtime_core::{Responder, mirrors};

use super::super::body::Body;
use super::super::headers::stateless_revision;
use super::super::post_body::PostBody;
use super::super::rejection::{Rejection, error_status};
use super::super::session::{CallSender, SessionKind};
use super::super::sessions::{NewSession, Responded, Sessions};
use super::super::settings::Settings;
use super::super::stream::Stream;
use super::reader::{FirstEvent, Reader};
use super::response::{ResponseFormat, events, json, responses};

/// The stateless revision whose rules apply to a body; `None` if the body is from a client with a handshake.
///
/// The revision that the body names takes precedence. A body that names none is treated as stateless if its header
/// names a stateless revision, or if the server supports no others.
pub(super) fn revision_of(settings: &Settings, headers: &HeaderMap, body: &PostBody<'_>) -> Option<Revision> {
    let stateless = settings
        .revisions
        .iter()
        .copied()
        .filter(|revision| revision.is_stateless());
    let latest = stateless.max()?;
    if body.stateless.is_some() || !settings.has_handshake() {
        return Some(body.stateless.unwrap_or(latest));
    }
    let named = stateless_revision(headers, &settings.revisions);
    named.filter(|_| body.initialize.is_none())
}

/// Accepted requests without a session, and the way in which they are answered.
pub(super) struct Accepted {
    revision: Revision,
    kind: SessionKind,
    format: ResponseFormat,
}

/// Checks a body without a session; `None` if it has no requests.
pub(super) fn accept(
    settings: &Settings,
    headers: &HeaderMap,
    body: &PostBody<'_>,
    revision: Revision,
) -> Result<Option<Accepted>, Rejection> {
    body.check_batch(revision)?;
    if body.has_responses {
        return Err(Rejection::bad_request(format!(
            "In revision {revision} clients send no responses"
        )));
    }
    if body.requests.is_empty() {
        // Notifications have no effect, since no engine outlives the response to its request.
        tracing::debug!("a notification without a session is dropped");
        return Ok(None);
    }
    let message = body.message();
    if let Some(message) = message.filter(|_| body.initialize.is_none() || body.stateless.is_some()) {
        check(revision, headers, message)?;
    }
    let format = ResponseFormat::of(headers, settings.json_only)?;
    let listens = message.is_some_and(|message| listens(revision, message));
    if listens && format == ResponseFormat::Json {
        let why = "The response to this request is a stream of events, and only JSON is possible here";
        return Err(Rejection::invalid(StatusCode::NOT_ACCEPTABLE, why));
    }
    let kind = match settings.json_only {
        true => SessionKind::JsonOnly,
        false if listens => SessionKind::Listening,
        false => SessionKind::Stateless,
    };
    Ok(Some(Accepted { revision, kind, format }))
}

impl Accepted {
    /// The responder, if the server has one and the request can be answered by it: the response needs no stream.
    pub(super) fn responder<'s>(&self, sessions: &'s Sessions, body: &PostBody<'_>) -> Option<&'s Responder> {
        let responder = sessions.responder.as_ref()?;
        let needs_stream = self.kind == SessionKind::Listening || self.format == ResponseFormat::EventStream;
        (body.stateless == Some(self.revision) && !needs_stream).then_some(responder)
    }

    /// Answers one request.
    pub(super) async fn respond(
        &self,
        sessions: &Arc<Sessions>,
        responder: &Responder,
        parts: Parts,
        request: &MessageHeader<'_>,
        body: &mut PostBody<'_>,
    ) -> Result<Response<Body>, Rejection> {
        let sender = CallSender::new(self.kind, self.format.content());
        let answering = sessions.respond(responder, sender, parts, request, body);
        match answering.await? {
            Responded::AtOnce(response) => Ok(answer(self.revision, response.into_iter().collect())),
            Responded::Later(new, stream) => Box::pin(self.wait(new, stream)).await,
        }
    }

    /// Starts a separate engine that answers a body.
    pub(super) async fn post(
        &self,
        sessions: &Arc<Sessions>,
        parts: Parts,
        body: &mut PostBody<'_>,
    ) -> Result<Response<Body>, Rejection> {
        let new = sessions.start(String::new(), self.kind, 0, &parts, 0).await?;
        let stream = new.session.post(body, parts, self.format.content()).await?;
        self.wait(new, stream.ok_or_else(Rejection::internal)?).await
    }

    /// Waits for the responses, or returns a stream on which they are sent.
    async fn wait(&self, new: NewSession, stream: Arc<Stream>) -> Result<Response<Body>, Rejection> {
        match responses(&new.session, &stream, self.format).await {
            Some(responses) => Ok(answer(self.revision, responses)),
            // The reader ends the session.
            None => {
                let reader = Reader::open(&new.keep(), stream, FirstEvent::Comment, None).await;
                Ok(events(reader))
            }
        }
    }
}

/// Whether the request is long-lived, with notifications until the client or the server ends it.
fn listens(revision: Revision, message: &MessageHeader<'_>) -> bool {
    let listen = revision.lifecycle().listen;
    listen.is_some() && message.method().as_deref() == listen
}

/// Refuses a request whose `_meta` lacks a required key, or whose headers don't match its body.
fn check(revision: Revision, headers: &HeaderMap, message: &MessageHeader<'_>) -> Result<(), Rejection> {
    if let Some(key) = session_messages::missing_key(revision, message) {
        let why = format!("`_meta` of the request has no `{key}`");
        return Err(Rejection::new(StatusCode::BAD_REQUEST, error_code::INVALID_PARAMS, why));
    }
    let mut mirrored = mirrors::mirrored(revision, message);
    let is_version = |header: &str| revision.facts().version_header == Some(header);
    if mirrored
        .iter()
        .any(|(header, text)| is_version(header) && text != revision.as_str())
    {
        // The session engine refuses this unknown version. Its other headers aren't known, so they can't be checked.
        mirrored.retain(|(header, _)| is_version(header));
    }
    mirrors::check(&mirrored, headers).map_err(|why| Rejection::header_mismatch(revision, why))
}

/// The responses as JSON. If the first one is an error, the HTTP status is that of the error.
pub(super) fn answer(revision: Revision, responses: Vec<Bytes>) -> Response<Body> {
    // A long result isn't parsed only to find out that it isn't an error.
    let may_fail = |response: &&Bytes| !begins_with_result(response);
    let error = responses.first().filter(may_fail).and_then(|response| {
        let error = MessageHeader::from_slice(response).ok()?.error()?;
        error.decode_as::<ErrorObject>().ok()
    });
    let mut response = json(false, responses);
    if let Some(status) = error.and_then(|error| error_status(revision, error.code)) {
        *response.status_mut() = status;
    }
    response
}

/// Whether the first bytes of a response show that it has a result.
fn begins_with_result(response: &[u8]) -> bool {
    const BEGINNING: usize = 128;
    let beginning = response.get(..BEGINNING).unwrap_or(response);
    // The cut may be within a character.
    let text = str::from_utf8(beginning).or_else(|error| str::from_utf8(&beginning[..error.valid_up_to()]));
    let member = mcp_wire::Reader::new(text.unwrap_or_default()).peek_member(&["result", "error"]);
    matches!(member, Ok(Some("result")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_http_status_even_with_escaped_member_names() {
        for (response, status) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}"#,
                StatusCode::NOT_FOUND,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"\u0065rror":{"code":-32601,"message":""}}"#,
                StatusCode::NOT_FOUND,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"\u0065rror":{"code":-32601,"message":""}}}"#,
                StatusCode::OK,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"äääääääääääääääääääääääääääääääääääääääääääääääääääääääää","error":{"code":-32601,"message":""}}"#,
                StatusCode::NOT_FOUND,
            ),
            (
                r#"{"id":"\"result\":1","error":{"code":-32601,"message":""}}"#,
                StatusCode::NOT_FOUND,
            ),
        ] {
            let answered = answer(Revision::HUB, vec![Bytes::from_static(response.as_bytes())]);
            assert_eq!(answered.status(), status, "{response}");
        }
    }
}
