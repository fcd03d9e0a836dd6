//! As much of a client's messages as their way through the server depends on.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use mcp_adapters::mcp_wire::{
    BorrowedJson, DecodeError, DecodeErrorKind, MessageHeader, MessageKind, Notification, Payload, Request, RequestId,
    error_code,
};
use mcp_adapters::{Revision, hub};

use super::refusal::Refusal;
use crate::budget::Charge;
use crate::options::MAX_BATCH;

/// What a client has posted.
#[derive(Debug)]
pub(super) struct Posted {
    /// The body, until it is handed to the session engine.
    pub(super) json: Vec<u8>,
    /// What the body takes of the server's memory, if it came from a client.
    pub(super) held: Option<Arc<Charge>>,
    /// It is an array.
    pub(super) batch: bool,
    /// The ids of its requests, each once.
    pub(super) requests: Vec<RequestId>,
    /// The requests that it cancels.
    pub(super) cancelled: Vec<RequestId>,
    /// It is the request `initialize`; this is the revision that the client asks for, if it is known.
    pub(super) initialize: Option<Option<Revision>>,
}

impl Posted {
    pub(super) fn read(json: Vec<u8>) -> Result<Self, Refusal> {
        let mut posted = Self {
            json: Vec::new(),
            held: None,
            batch: false,
            requests: Vec::new(),
            cancelled: Vec::new(),
            initialize: None,
        };
        match Payload::from_slice(&json).map_err(|error| malformed(&error))? {
            Payload::Message(header) => posted.take(&header).map_err(|refusal| refusal.about(header.id()))?,
            Payload::Batch(elements) => {
                posted.batch = true;
                if !elements.is_longer_than(0) {
                    return Err(no_message("a batch holds at least one message"));
                }
                if elements.is_longer_than(MAX_BATCH) {
                    return Err(no_message(&format!("a batch holds {MAX_BATCH} messages at most")));
                }
                for header in elements {
                    posted.take(&header.map_err(|error| malformed(&error))?)?;
                }
                if posted.initialize.is_some() {
                    return Err(no_message("`initialize` is never part of a batch"));
                }
            }
        }
        posted.json = json;
        Ok(posted)
    }

    /// The id of the request, if there is no other.
    pub(super) fn only_request(&self) -> Option<&RequestId> {
        match self.requests.as_slice() {
            [id] => Some(id),
            _ => None,
        }
    }

    fn take(&mut self, header: &MessageHeader<'_>) -> Result<(), Refusal> {
        let kind = match header.kind() {
            Ok(kind) => kind,
            // A response that is malformed is for the session: it tells whoever waits for it.
            Err(_) if header.result().is_some() || header.error().is_some() => return Ok(()),
            Err(error) => return Err(malformed(&error)),
        };
        if matches!(kind, MessageKind::Response | MessageKind::Error) {
            return Ok(());
        }
        let method = header
            .method()
            .ok_or_else(|| no_message("a method's name is a string"))?;
        // What can't be read here is for the session engine to judge.
        let param = |name| header.param(&[name]).ok().flatten();
        if kind == MessageKind::Notification {
            if method == hub::CancelledNotification::METHOD {
                let id = param("requestId").and_then(|id| id.decode_as().ok());
                self.cancelled.extend(id);
            }
            return Ok(());
        }
        let id = header.id();
        self.requests
            .push(id.ok_or_else(|| no_message("a request's id is a string or an integer"))?);
        if method == hub::InitializeRequest::METHOD {
            self.initialize = Some(param("protocolVersion").and_then(revision));
        }
        Ok(())
    }
}

fn malformed(error: &DecodeError) -> Refusal {
    match error.kind() {
        DecodeErrorKind::Syntax => Refusal::new(
            StatusCode::BAD_REQUEST,
            error_code::PARSE_ERROR,
            format!("Parse error: {error}"),
        ),
        _ => no_message(&error.to_string()),
    }
}

fn no_message(why: &str) -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        error_code::INVALID_REQUEST,
        format!("Invalid request: {why}"),
    )
}

/// The revision that the answer to `initialize` settles on, if it succeeds.
pub(super) fn agreed_revision(json: &[u8]) -> Option<Revision> {
    let result = MessageHeader::from_slice(json).ok()?.result()?;
    result.get(&["protocolVersion"]).ok()?.and_then(revision)
}

/// The revision that this string names, if it is known.
fn revision(name: BorrowedJson<'_>) -> Option<Revision> {
    name.string().ok()?.parse().ok()
}

/// The answers to one POST as one JSON value.
pub(super) fn join_answers(batch: bool, answers: Vec<Bytes>) -> Bytes {
    if !batch {
        return answers.into_iter().next().unwrap_or_default();
    }
    let elements = answers.iter().map(|answer| match answer.trim_ascii() {
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
