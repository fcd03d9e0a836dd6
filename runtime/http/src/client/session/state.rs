//! The session of a client, and its handshake.

use mcp_adapters::Revision;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{StatusCode, Url};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::body::Response;

/// The current session and its handshake.
#[derive(Debug)]
pub(super) struct ClientState {
    pub(super) session: RemoteSession,
    pub(super) version: Option<(HeaderName, HeaderValue)>,
    /// The negotiated revision.
    pub(super) revision: Option<Revision>,
    /// The URL to POST to, if the server only supports HTTP with SSE.
    pub(super) legacy: Option<Url>,
    /// The handshake, unless it can't be repeated.
    pub(super) handshake: Option<Handshake>,
    /// The time when the session replaced a lost one.
    pub(super) renewed: Option<Instant>,
}

/// The header with a session's id.
pub(super) type SessionId = (HeaderName, HeaderValue);

/// A session of the server.
#[derive(Debug, Clone)]
pub(super) struct RemoteSession {
    /// `None` if the server is stateless.
    pub(super) id: Option<SessionId>,
    /// Cancelled when the session has ended.
    pub(super) ended: CancellationToken,
}

/// The messages of a handshake, and its result.
#[derive(Debug, Clone)]
pub(super) struct Handshake {
    pub(super) initialize: Vec<u8>,
    pub(super) initialized: Option<Vec<u8>>,
    pub(super) revision: Option<Revision>,
}

impl RemoteSession {
    /// The id of the session, if this response reports that the server has lost it.
    pub(super) fn lost_id(&self, response: &Response) -> Option<SessionId> {
        self.id.clone().filter(|_| response.status() == StatusCode::NOT_FOUND)
    }
}

impl ClientState {
    pub(super) fn new(closing: &CancellationToken) -> Self {
        Self {
            session: RemoteSession {
                id: None,
                ended: closing.child_token(),
            },
            version: None,
            revision: None,
            legacy: None,
            handshake: None,
            renewed: None,
        }
    }
}

/// The session of an HTTP request.
#[derive(Clone)]
pub(super) enum SessionScope {
    /// No session, because the request starts one.
    None,
    Current,
    /// A session that isn't the current one yet.
    Next(RemoteSession),
    /// No session, because the message is stateless; these headers repeat values of the message.
    Mirrored(HeaderMap),
}
