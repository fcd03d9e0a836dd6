//! The parts of a POST's messages that the server needs.

use bytes::Bytes;
use http::StatusCode;
use mcp_adapters::mcp_wire::{
    DecodeError, DecodeErrorKind, MessageHeader, MessageKind, Payload, RawJson, RequestId, error_code,
};
use mcp_adapters::{Revision, session_messages};
use mcp_runtime_core::internal::MAX_BATCH;
use mcp_runtime_util::Charge;

use super::rejection::Rejection;

/// Reads the body of a POST.
pub(crate) fn read_payload(json: &[u8]) -> Result<Payload<'_>, Rejection> {
    Payload::from_slice(json).map_err(|error| match json.trim_ascii().is_empty() {
        true => Rejection::new(
            StatusCode::BAD_REQUEST,
            error_code::PARSE_ERROR,
            "Parse error: the body is empty",
        ),
        false => malformed(&error),
    })
}

/// The body of a POST. It is parsed only once: the session engine gets the parsed payload.
#[derive(Debug)]
pub(crate) struct PostBody<'a> {
    /// Its message, or its batch of messages.
    pub(crate) payload: &'a Payload<'a>,
    /// Its length in bytes.
    pub(crate) bytes: usize,
    /// The charge for the body in the server's memory budget, if the body came from a client. Registering its requests
    /// takes it.
    pub(crate) charge: Option<Charge>,
    /// The ids of its requests.
    pub(crate) requests: Vec<RequestId>,
    /// The requests that it cancels.
    pub(crate) cancelled: Vec<RequestId>,
    /// Set for `initialize`: the revision that the client requests, if it is known.
    pub(crate) initialize: Option<Option<Revision>>,
    /// Set if a message is stateless: the revision that it names.
    pub(crate) stateless: Option<Revision>,
    /// Whether it contains responses to requests of the server.
    pub(crate) has_responses: bool,
}

impl<'a> PostBody<'a> {
    /// Collects the parts of a parsed body with this length.
    pub(crate) fn of(payload: &'a Payload<'a>, bytes: usize, charge: Option<Charge>) -> Result<Self, Rejection> {
        let mut body = Self {
            payload,
            bytes,
            charge,
            requests: Vec::new(),
            cancelled: Vec::new(),
            initialize: None,
            stateless: None,
            has_responses: false,
        };
        match payload {
            Payload::Message(header) => body.take(header).map_err(|refusal| refusal.with_id(header.id()))?,
            Payload::Batch(elements) => {
                if !elements.is_longer_than(0) {
                    return Err(not_a_message("a batch holds at least one message"));
                }
                if elements.is_longer_than(MAX_BATCH) {
                    return Err(not_a_message(&format!("a batch holds {MAX_BATCH} messages at most")));
                }
                for header in elements.clone() {
                    body.take(&header.map_err(|error| malformed(&error))?)?;
                }
                if body.initialize.is_some() {
                    return Err(not_a_message(
                        "the request that starts a session can't be part of a batch",
                    ));
                }
            }
        }
        Ok(body)
    }

    /// Whether it is a batch.
    pub(crate) fn is_batch(&self) -> bool {
        matches!(self.payload, Payload::Batch(_))
    }

    /// Its message, if it isn't a batch.
    pub(crate) fn message(&self) -> Option<&'a MessageHeader<'a>> {
        match self.payload {
            Payload::Message(message) => Some(message),
            Payload::Batch(_) => None,
        }
    }

    /// The id of the request, if there is only one.
    pub(crate) fn only_request(&self) -> Option<&RequestId> {
        match self.requests.as_slice() {
            [id] => Some(id),
            _ => None,
        }
    }

    /// Refuses a batch if the revision has no batches.
    pub(crate) fn check_batch(&self, revision: Revision) -> Result<(), Rejection> {
        match self.is_batch() && !revision.facts().batches {
            true => Err(Rejection::bad_request(format!("Revision {revision} has no batches"))),
            false => Ok(()),
        }
    }

    fn take(&mut self, header: &MessageHeader<'_>) -> Result<(), Rejection> {
        let kind = match header.kind() {
            Ok(kind) => kind,
            // The session reports malformed responses to the callers that wait for them.
            Err(_) if header.result().is_some() || header.error().is_some() => MessageKind::Response,
            Err(error) => return Err(malformed(&error)),
        };
        if matches!(kind, MessageKind::Response | MessageKind::Error) {
            self.has_responses = true;
            return Ok(());
        }
        if header.method().is_none() {
            return Err(not_a_message("a method's name is a string"));
        }
        header.check_version().map_err(|error| malformed(&error))?;
        let named = session_messages::version_in_meta(header).ok().flatten();
        self.stateless = self.stateless.or(named.map(|(revision, _)| revision));
        // The session engine refuses parameters that can't be decoded.
        if kind == MessageKind::Notification {
            self.cancelled
                .extend(session_messages::cancelled_request::<Revision>(header));
            return Ok(());
        }
        let id = header.id();
        self.requests
            .push(id.ok_or_else(|| not_a_message("a request's id is a string or an integer"))?);
        self.initialize = self.initialize.or(session_messages::requested_version(header));
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
    session_messages::negotiated_version(&result)
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
