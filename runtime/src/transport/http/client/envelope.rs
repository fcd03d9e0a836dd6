//! As much of a message as its way through HTTP depends on.

use mcp_adapters::mcp_wire::RequestId;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What a message of ours is.
pub(super) enum Kind {
    /// The request that begins a session.
    Initialize(RequestId),
    /// Another request.
    Request(RequestId),
    /// The notification after which the server may send of its own accord.
    Initialized,
    /// The notification that this request's answer is of no interest any more.
    Cancelled(RequestId),
    /// Another notification.
    Notification,
    /// Anything else, such as an answer.
    Other,
}

#[derive(Deserialize)]
struct Sent {
    id: Option<RequestId>,
    method: Option<String>,
    params: Option<Params>,
}

#[derive(Deserialize)]
struct Params {
    #[serde(rename = "requestId")]
    request_id: Option<RequestId>,
}

/// What this message is.
pub(super) fn kind(json: &[u8]) -> Kind {
    // Parameters that the second form can't be read with are those of a request: nobody else's `requestId` matters.
    let Ok(sent) = serde_json::from_slice::<Sent>(json).or_else(|_| {
        serde_json::from_slice::<Received>(json).map(|Received { id, method, .. }| Sent {
            id,
            method,
            params: None,
        })
    }) else {
        return Kind::Other;
    };
    match (sent.id, sent.method.as_deref()) {
        (Some(id), Some("initialize")) => Kind::Initialize(id),
        (Some(id), Some(_)) => Kind::Request(id),
        (None, Some("notifications/initialized")) => Kind::Initialized,
        (None, Some("notifications/cancelled")) => match sent.params.and_then(|params| params.request_id) {
            Some(id) => Kind::Cancelled(id),
            None => Kind::Notification,
        },
        (None, Some(_)) => Kind::Notification,
        _ => Kind::Other,
    }
}

#[derive(Deserialize)]
struct Received {
    id: Option<RequestId>,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl Received {
    fn answers(&self, id: &RequestId) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some()) && self.id.as_ref() == Some(id)
    }
}

/// Whether this message, or one of this batch, is the response to the request `id`.
pub(super) fn answers(json: &[u8], id: &RequestId) -> bool {
    if json.trim_ascii_start().starts_with(b"[") {
        let batch = serde_json::from_slice::<Vec<Received>>(json);
        return batch.is_ok_and(|batch| batch.iter().any(|message| message.answers(id)));
    }
    serde_json::from_slice::<Received>(json).is_ok_and(|message| message.answers(id))
}
