//! What a message is, and the unions of messages: names that are the protocol's conventions.

use mcp_wire::Direction::{self, ClientToServer, ServerToClient};
use serde::Serialize;

/// What a method is, and so what is around it on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MessageKind {
    /// An answer is expected: `jsonrpc` and an `id`.
    Request,
    /// `jsonrpc` alone.
    Notification,
}

/// The unions that say who sends what. They are of methods, and have no envelope either.
pub(crate) const DIRECTIONS: [(&str, MessageKind, Direction); 4] = [
    ("ClientRequest", MessageKind::Request, ClientToServer),
    ("ServerRequest", MessageKind::Request, ServerToClient),
    ("ClientNotification", MessageKind::Notification, ClientToServer),
    ("ServerNotification", MessageKind::Notification, ServerToClient),
];

/// The unions of results, and the direction of the requests.
pub(crate) const RESULTS: [(&str, Direction); 2] = [("ServerResult", ClientToServer), ("ClientResult", ServerToClient)];

/// The names of the unions of a schema's own messages, which other schemas have for theirs.
pub(crate) fn message_unions() -> impl Iterator<Item = &'static str> {
    let results = RESULTS.iter().map(|(name, _)| *name);
    DIRECTIONS.iter().map(|(name, ..)| *name).chain(results)
}
