//! The traits of requests and notifications, and the table of methods.

use serde_core::{Serialize, Serializer};

use crate::decode::Decode;
use crate::object::Object;

/// The direction of a request or notification, which determines who may send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The client sends it.
    ClientToServer,
    /// The server sends it.
    ServerToClient,
    /// Either side sends it.
    Both,
    /// It isn't sent as a message: the request is part of a result, and its response is part of the next request.
    InResult,
}

impl Direction {
    /// Whether a client may send the message.
    #[must_use]
    pub fn from_client(self) -> bool {
        self.includes(Self::ClientToServer)
    }

    /// Whether a server may send the message.
    #[must_use]
    pub fn from_server(self) -> bool {
        self.includes(Self::ServerToClient)
    }

    /// Whether the direction is `other` or both.
    #[must_use]
    pub fn includes(self, other: Self) -> bool {
        self == Self::Both || self == other
    }
}

impl Serialize for Direction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::ClientToServer => "client-to-server",
            Self::ServerToClient => "server-to-client",
            Self::Both => "both",
            Self::InResult => "in-result",
        })
    }
}

/// A request: a method with its parameters and its result.
pub trait Request: Object + Decode {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The direction, which determines who may send it.
    const DIRECTION: Direction;
    /// The type of the parameters, an `Option` if they are optional.
    type Params;
    /// The type of the result.
    type Result: Decode;
}

/// A notification: a method with its parameters.
pub trait Notification: Object + Decode {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The direction, which determines who may send it.
    const DIRECTION: Direction;
    /// The type of the parameters, an `Option` if they are optional.
    type Params;
}

/// A row of a revision's table of methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The method's name on the wire.
    pub name: &'static str,
    /// The direction, which determines who may send it.
    pub direction: Direction,
    /// The capability that the method needs, as a path in the capabilities, such as `tools.listChanged`. The receiver
    /// of a request or the sender of a notification must declare it.
    pub capability: Option<&'static str>,
    /// The JSON Pointer of the definition of the request or notification, such as `#/$defs/CallToolRequest`.
    pub definition: &'static str,
    /// The JSON Pointers of the definitions of its results, the usual one first. Empty for a notification, and for a
    /// request whose result can be any object.
    pub results: &'static [&'static str],
    is_request: bool,
}

impl Method {
    /// Creates the row of a request.
    #[must_use]
    pub const fn request(
        name: &'static str,
        direction: Direction,
        definition: &'static str,
        results: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            direction,
            capability: None,
            definition,
            results,
            is_request: true,
        }
    }

    /// Creates the row of a notification.
    #[must_use]
    pub const fn notification(name: &'static str, direction: Direction, definition: &'static str) -> Self {
        let mut method = Self::request(name, direction, definition, &[]);
        method.is_request = false;
        method
    }

    /// Sets the capability that the method needs.
    #[must_use]
    pub const fn needs(mut self, capability: &'static str) -> Self {
        self.capability = Some(capability);
        self
    }

    /// Whether the method is a request, and not a notification.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.is_request
    }
}

/// The error codes of [JSON-RPC](https://www.jsonrpc.org/specification#error_object), the same in every revision.
pub mod error_code {
    /// The text isn't JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON isn't a request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The receiver doesn't have the method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters aren't those of the method.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver has an internal error.
    pub const INTERNAL_ERROR: i64 = -32603;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_peer_sends_a_method_that_occurs_only_in_results() {
        assert!(!Direction::InResult.from_client() && !Direction::InResult.from_server());
        assert!(Direction::Both.from_client() && Direction::Both.from_server());
    }

    #[test]
    fn a_request_without_declared_results_is_still_a_request() {
        let direction = Direction::Both;
        assert!(Method::request("ask", direction, "#/$defs/AskRequest", &[]).is_request());
        assert!(!Method::notification("tell", direction, "#/$defs/TellNotification").is_request());
    }
}
