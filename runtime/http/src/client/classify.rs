//! The kinds of outgoing messages, by how they are posted.

use mcp_adapters::mcp_wire::{MessageHeader, MessageKind, Payload, RequestId};
use mcp_adapters::{PeerTypes, Revision, session_messages};

/// An outgoing message, by how it is posted.
#[cfg_attr(
    not(feature = "client"),
    expect(dead_code, reason = "only sessions distinguish all of them")
)]
pub(super) enum PostKind {
    /// The request that starts a session.
    Initialize(RequestId),
    /// A stateless request of this revision.
    Stateless(RequestId, Revision),
    /// A stateless request whose response is a long-lived stream of notifications.
    Listen(RequestId, Revision),
    /// Another request.
    Request(RequestId),
    /// The notification that completes the handshake.
    Initialized,
    /// The cancellation of this request.
    Cancelled(RequestId),
    /// Another notification.
    Notification,
    /// A response, or JSON that is not a message.
    Other,
}

/// The kind of a message.
pub(super) fn classify(json: &[u8]) -> PostKind {
    let Ok(header) = MessageHeader::from_slice(json) else {
        return PostKind::Other;
    };
    let (Ok(kind), Some(method)) = (header.kind(), header.method()) else {
        return PostKind::Other;
    };
    match (kind, header.id()) {
        (MessageKind::Request, Some(id)) => match session_messages::requested_version::<Revision>(&header) {
            Some(_) => PostKind::Initialize(id),
            None => match stamped_revision(&header) {
                Some(revision) if revision.lifecycle().listen == Some(&*method) => PostKind::Listen(id, revision),
                Some(revision) => PostKind::Stateless(id, revision),
                None => PostKind::Request(id),
            },
        },
        (MessageKind::Notification, _) if session_messages::completes_handshake::<Revision>(&method) => {
            PostKind::Initialized
        }
        (MessageKind::Notification, _) => match session_messages::cancelled_request::<Revision>(&header) {
            Some(id) => PostKind::Cancelled(id),
            None => PostKind::Notification,
        },
        _ => PostKind::Other,
    }
}

/// The revision that the request itself names, if this build has it.
fn stamped_revision(request: &MessageHeader<'_>) -> Option<Revision> {
    let (revision, named) = session_messages::version_in_meta::<Revision>(request).ok()??;
    (revision.as_str() == named).then_some(revision)
}

/// Whether this message, or one of this batch, is the response to the request `id`.
pub(super) fn answers(json: &[u8], id: &RequestId) -> bool {
    match Payload::from_slice(json) {
        Ok(Payload::Message(header)) => is_response_to(&header, id),
        Ok(Payload::Batch(elements)) => elements.flatten().any(|header| is_response_to(&header, id)),
        Err(_) => false,
    }
}

/// Malformed responses count too, because the session reports them to the waiting caller.
fn is_response_to(header: &MessageHeader<'_>, id: &RequestId) -> bool {
    let is_call = matches!(header.kind(), Ok(MessageKind::Request | MessageKind::Notification));
    let has_outcome = header.result().is_some() || header.error().is_some();
    has_outcome && !is_call && header.id().as_ref() == Some(id)
}
