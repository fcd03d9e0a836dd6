//! The kinds of sessions.

/// The way in which the messages of a session reach its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionKind {
    /// On one stream for each POST, and on the standalone stream.
    Streamable,
    /// In the response to the only POST.
    Stateless,
    /// In the response to the only POST, which is open until the client or the server ends it.
    Listening,
    /// In the response to the only POST, which can contain only JSON-RPC responses.
    JsonOnly,
    /// On one stream, in HTTP with SSE.
    Legacy,
}

impl SessionKind {
    /// Whether other messages than responses reach the client.
    pub(crate) fn notifies(self) -> bool {
        self != Self::JsonOnly
    }

    /// Whether the session ends with the response to its only POST.
    pub(crate) fn is_stateless(self) -> bool {
        matches!(self, Self::Stateless | Self::Listening | Self::JsonOnly)
    }
}
