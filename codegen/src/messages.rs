//! The kinds of messages, and the unions of messages by their conventional names in the protocol's schemas.

use mcp_wire::Direction::{self, ClientToServer, ServerToClient};
use serde::Serialize;

/// The kind of a method, which determines its envelope on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MessageKind {
    /// A request, which gets a response: the envelope is `jsonrpc` and `id`.
    Request,
    /// A notification: the envelope is only `jsonrpc`.
    Notification,
}

/// The unions that define which side sends which messages, with the kind and the direction of their members. Their
/// members are methods, without the envelope.
pub(crate) const DIRECTIONS: [(&str, MessageKind, Direction); 4] = [
    ("ClientRequest", MessageKind::Request, ClientToServer),
    ("ServerRequest", MessageKind::Request, ServerToClient),
    ("ClientNotification", MessageKind::Notification, ClientToServer),
    ("ServerNotification", MessageKind::Notification, ServerToClient),
];

/// The unions of results, and the direction of the requests that they answer.
pub(crate) const RESULTS: [(&str, Direction); 2] = [("ServerResult", ClientToServer), ("ClientResult", ServerToClient)];

/// The ends of the names of the definitions of responses.
pub(crate) const RESPONSES: [&str; 2] = ["ResultResponse", "Response"];

/// Returns the names of the unions of messages. Each schema uses these names for the unions of its own messages.
pub(crate) fn message_unions() -> impl Iterator<Item = &'static str> {
    let results = RESULTS.iter().map(|(name, _)| *name);
    DIRECTIONS.iter().map(|(name, ..)| *name).chain(results)
}
