//! The parts of body messages that the server needs.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use mcp_adapters::mcp_wire::{
    DecodeError, DecodeErrorKind, MessageHeader, MessageKind, Payload, RawJson, RequestId, error_code,
};
use mcp_adapters::{Revision, hello};
use mcp_runtime_core::internal::{Charge, MAX_BATCH};
use mcp_runtime_core::mirrors::mirrored;

use super::rejection::Rejection;

/// The body of a POST.
#[derive(Debug)]
pub(crate) struct PostBody {
    /// The body, until it is handed to the session engine.
    pub(crate) json: Vec<u8>,
    /// The charge for the server's memory, if the body came from a client.
    pub(crate) charge: Option<Arc<Charge>>,
    /// Whether it is an array.
    pub(crate) is_batch: bool,
    /// The ids of its requests, each once.
    pub(crate) requests: Vec<RequestId>,
    /// The requests that it cancels.
    pub(crate) cancelled: Vec<RequestId>,
    /// The method of its last request.
    pub(crate) method: Option<String>,
    /// Set for `initialize`: the revision that the client requests, if it is known.
    pub(crate) initialize: Option<Option<Revision>>,
    /// Set if a message is stateless: the revision by whose rules.
    pub(crate) stateless: Option<Revision>,
    /// What its last stateless request says by these rules.
    stamp: Option<Stamp>,
    /// Whether it has responses to requests of the server.
    pub(crate) has_responses: bool,
}

/// What a stateless request says of itself.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    /// A required key that its `_meta` lacks.
    pub(crate) missing_key: Option<&'static str>,
    /// The headers that repeat what it says.
    pub(crate) mirrored: Vec<(&'static str, String)>,
}

impl Stamp {
    fn read(revision: Revision, message: &MessageHeader<'_>) -> Self {
        Self {
            missing_key: hello::missing_key(revision, message),
            mirrored: mirrored(revision, message),
        }
    }
}

impl PostBody {
    pub(crate) fn parse(json: Vec<u8>) -> Result<Self, Rejection> {
        let mut body = Self {
            json: Vec::new(),
            charge: None,
            is_batch: false,
            requests: Vec::new(),
            cancelled: Vec::new(),
            method: None,
            initialize: None,
            stateless: None,
            stamp: None,
            has_responses: false,
        };
        match Payload::from_slice(&json).map_err(|error| malformed(&error))? {
            Payload::Message(header) => body.take(&header).map_err(|refusal| refusal.with_id(header.id()))?,
            Payload::Batch(elements) => {
                body.is_batch = true;
                if !elements.is_longer_than(0) {
                    return Err(not_a_message("a batch holds at least one message"));
                }
                if elements.is_longer_than(MAX_BATCH) {
                    return Err(not_a_message(&format!("a batch holds {MAX_BATCH} messages at most")));
                }
                for header in elements {
                    body.take(&header.map_err(|error| malformed(&error))?)?;
                }
                if body.initialize.is_some() {
                    return Err(not_a_message(
                        "the request that begins a session is never part of a batch",
                    ));
                }
            }
        }
        body.json = json;
        Ok(body)
    }

    /// The id of the request, if there is only one.
    pub(crate) fn only_request(&self) -> Option<&RequestId> {
        match self.requests.as_slice() {
            [id] => Some(id),
            _ => None,
        }
    }

    /// Refuses a batch if the revision has none.
    pub(crate) fn check_batch(&self, revision: Revision) -> Result<(), Rejection> {
        match self.is_batch && !revision.facts().batches {
            true => Err(Rejection::bad_request(format!("Revision {revision} has no batches"))),
            false => Ok(()),
        }
    }

    /// What the body says of itself by the rules of a revision.
    pub(crate) fn stamp(&self, revision: Revision) -> Result<Cow<'_, Stamp>, Rejection> {
        match &self.stamp {
            Some(stamp) if self.stateless == Some(revision) => Ok(Cow::Borrowed(stamp)),
            _ => {
                let message = MessageHeader::from_slice(&self.json).map_err(|_| Rejection::internal())?;
                Ok(Cow::Owned(Stamp::read(revision, &message)))
            }
        }
    }

    fn take(&mut self, header: &MessageHeader<'_>) -> Result<(), Rejection> {
        let kind = match header.kind() {
            Ok(kind) => kind,
            // The session gives malformed responses to the callers that wait for them.
            Err(_) if header.result().is_some() || header.error().is_some() => MessageKind::Response,
            Err(error) => return Err(malformed(&error)),
        };
        if matches!(kind, MessageKind::Response | MessageKind::Error) {
            self.has_responses = true;
            return Ok(());
        }
        let method = header.method();
        let method = method.ok_or_else(|| not_a_message("a method's name is a string"))?;
        let stamped = hello::stamped_version(header).ok().flatten();
        self.stateless = self.stateless.or(stamped.map(|(revision, _)| revision));
        // The session engine refuses parameters that can't be decoded.
        if kind == MessageKind::Notification {
            self.cancelled.extend(hello::cancelled_request::<Revision>(header));
            return Ok(());
        }
        let id = header.id();
        self.requests
            .push(id.ok_or_else(|| not_a_message("a request's id is a string or an integer"))?);
        self.method = Some(method.into_owned());
        self.stamp = self.stateless.map(|revision| Stamp::read(revision, header));
        self.initialize = self.initialize.or(hello::requested_version(header));
        Ok(())
    }
}

fn malformed(error: &DecodeError) -> Rejection {
    match error.kind() {
        DecodeErrorKind::Syntax => Rejection::new(
            StatusCode::BAD_REQUEST,
            error_code::PARSE_ERROR,
            format!("Parse error: {error}"),
        ),
        _ => not_a_message(&error.to_string()),
    }
}

fn not_a_message(why: &str) -> Rejection {
    Rejection::new(
        StatusCode::BAD_REQUEST,
        error_code::INVALID_REQUEST,
        format!("Invalid request: {why}"),
    )
}

/// The revision in the result of `initialize`, if the response has one.
pub(crate) fn negotiated_revision(json: &[u8]) -> Option<Revision> {
    let result: RawJson = MessageHeader::from_slice(json).ok()?.result()?.decode_as().ok()?;
    hello::agreed_version(&result)
}

/// The responses to one POST as one JSON value.
pub(crate) fn join_responses(is_batch: bool, responses: Vec<Bytes>) -> Bytes {
    if !is_batch {
        return responses.into_iter().next().unwrap_or_default();
    }
    let elements = responses.iter().map(|response| match response.trim_ascii() {
        [b'[', elements @ .., b']'] => elements,
        element => element,
    });
    let mut joined = b"[".to_vec();
    for (index, element) in elements.enumerate() {
        if index > 0 {
            joined.push(b',');
        }
        joined.extend_from_slice(element);
    }
    joined.push(b']');
    joined.into()
}
