//! As much of a message as its way through HTTP depends on.

use mcp_adapters::hub;
use mcp_adapters::mcp_wire::{MessageHeader, MessageKind, Notification, Payload, Request, RequestId};

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

/// What this message is.
pub(super) fn kind(json: &[u8]) -> Kind {
    let Ok(header) = MessageHeader::from_slice(json) else {
        return Kind::Other;
    };
    let (Ok(kind), Some(method)) = (header.kind(), header.method()) else {
        return Kind::Other;
    };
    match (kind, header.id()) {
        (MessageKind::Request, Some(id)) if method == hub::InitializeRequest::METHOD => Kind::Initialize(id),
        (MessageKind::Request, Some(id)) => Kind::Request(id),
        (MessageKind::Notification, _) if method == hub::InitializedNotification::METHOD => Kind::Initialized,
        (MessageKind::Notification, _) if method == hub::CancelledNotification::METHOD => {
            let id = header.param(&["requestId"]).ok().flatten();
            let id = id.and_then(|id| id.decode_as().ok());
            id.map_or(Kind::Notification, Kind::Cancelled)
        }
        (MessageKind::Notification, _) => Kind::Notification,
        _ => Kind::Other,
    }
}

/// Whether this message, or one of this batch, is the response to the request `id`.
pub(super) fn answers(json: &[u8], id: &RequestId) -> bool {
    match Payload::from_slice(json) {
        Ok(Payload::Message(header)) => is_answer(&header, id),
        Ok(Payload::Batch(elements)) => elements.flatten().any(|header| is_answer(&header, id)),
        Err(_) => false,
    }
}

/// A response that is malformed answers as well: the session says so to whoever waits for it.
fn is_answer(header: &MessageHeader<'_>, id: &RequestId) -> bool {
    let is_call = matches!(header.kind(), Ok(MessageKind::Request | MessageKind::Notification));
    let has_outcome = header.result().is_some() || header.error().is_some();
    has_outcome && !is_call && header.id().as_ref() == Some(id)
}
