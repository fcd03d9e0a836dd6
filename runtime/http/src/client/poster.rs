//! The interface that sends POST requests, and the settings of all of them.

use std::time::Duration;

use http::HeaderMap;
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{Extension, MessageHeader};
use mcp_runtime_core::mirrors::{encode, header_name, mirrored, of_extension};
use mcp_runtime_util::Mutex;

use super::body::Response;
use super::error::HttpError;
use super::pending_response::PendingResponse;
use super::tools::KnownTools;

/// Sends stateless requests by POST, and receives their responses.
pub(super) trait Poster: Send + Sync {
    /// POSTs a message with these headers.
    fn post_with(&self, mirrors: HeaderMap, json: Vec<u8>) -> impl Future<Output = Result<Response, HttpError>> + Send;

    /// Hands a message to the session.
    fn deliver(&self, json: Vec<u8>) -> impl Future<Output = ()> + Send;

    /// Delivers the messages of a stream, up to the pending response.
    fn follow(
        &self,
        response: Response,
        pending: &PendingResponse<'_>,
    ) -> impl Future<Output = Result<(), HttpError>> + Send;

    /// The settings of all requests.
    fn terms(&self) -> Terms<'_>;
}

/// The settings and shared state of all requests of a client.
pub(super) struct Terms<'t> {
    pub(super) extensions: &'t [Extension],
    /// The headers that the server's lists of tools declare.
    pub(super) tools: &'t Mutex<KnownTools>,
    pub(super) message_bytes: usize,
    /// The timeout of a request that the transport itself sends; `None` on platforms without timers.
    pub(super) timeout: Option<Duration>,
}

impl Terms<'_> {
    /// The headers that repeat values of a message.
    pub(super) fn mirrors(&self, revision: Revision, json: &[u8]) -> HeaderMap {
        let Ok(message) = MessageHeader::from_slice(json) else {
            return HeaderMap::new();
        };
        let extensions = self.extensions.iter();
        let of_extensions = extensions.flat_map(|extension| of_extension(extension, revision, &message));
        let headers = mirrored(revision, &message).into_iter().chain(of_extensions);
        let mut headers: HeaderMap = headers
            .filter_map(|(name, text)| Some((header_name(name)?, encode(&text))))
            .collect();
        if let Some(rule) = revision.facts().mirrors.arguments {
            headers.extend(self.tools.lock().headers(&rule, &message));
        }
        headers
    }
}
