//! As much of a client's messages as their way through the server depends on.

use std::borrow::Cow;

use axum::body::Bytes;
use axum::http::StatusCode;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{RequestId, error_code};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::refusal::Refusal;

/// What a client has posted.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) json: Bytes,
    /// It is an array.
    pub(super) batch: bool,
    /// The ids of its requests, each once.
    pub(super) requests: Vec<RequestId>,
    /// The requests that it cancels.
    pub(super) cancelled: Vec<RequestId>,
    /// It is the request `initialize`; this is the revision that the client asks for, if it is known.
    pub(super) initialize: Option<Option<Revision>>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// A member that is there even if it is `null`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Params {
    request_id: Option<RequestId>,
    protocol_version: Option<String>,
}

impl Posted {
    pub(super) fn read(json: Bytes) -> Result<Self, Refusal> {
        let text = std::str::from_utf8(&json).map_err(|_| not_json("the body isn't UTF-8"))?;
        let whole: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error.to_string()))?;
        let batch = whole.get().starts_with('[');
        let messages = match batch {
            true => serde_json::from_str(whole.get()).map_err(|error| not_json(&error.to_string()))?,
            false => vec![whole],
        };
        if messages.is_empty() {
            return Err(no_message("a batch holds at least one message"));
        }
        let (mut requests, mut cancelled, mut initialize) = (Vec::new(), Vec::new(), None);
        for message in messages {
            let envelope: Envelope<'_> =
                serde_json::from_str(message.get()).map_err(|error| no_message(&error.to_string()))?;
            // What isn't read here is for the session engine to judge.
            let params = || {
                envelope
                    .params
                    .and_then(|params| serde_json::from_str(params.get()).ok())
            };
            match (envelope.method.as_deref(), envelope.id) {
                (Some(method), Some(id)) => {
                    let id = serde_json::from_str(id.get())
                        .map_err(|_| no_message("a request's id is a string or an integer"))?;
                    requests.push(id);
                    if method == "initialize" {
                        let params: Params = params().unwrap_or_default();
                        initialize = Some(params.protocol_version.and_then(|name| name.parse().ok()));
                    }
                }
                (Some(method), None) => {
                    if method == "notifications/cancelled" {
                        let params: Params = params().unwrap_or_default();
                        cancelled.extend(params.request_id);
                    }
                }
                (None, _) if envelope.result.is_some() || envelope.error.is_some() => {}
                (None, _) => return Err(no_message("neither a request nor a notification nor a response")),
            }
        }
        if batch && initialize.is_some() {
            return Err(no_message("`initialize` is never part of a batch"));
        }
        Ok(Self {
            json,
            batch,
            requests,
            cancelled,
            initialize,
        })
    }
}

fn not_json(why: &str) -> Refusal {
    Refusal::new(
        StatusCode::BAD_REQUEST,
        error_code::PARSE_ERROR,
        format!("Parse error: {why}"),
    )
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
    #[derive(Deserialize)]
    struct Answer {
        result: Params,
    }
    let answer: Answer = serde_json::from_slice(json).ok()?;
    answer.result.protocol_version?.parse().ok()
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
