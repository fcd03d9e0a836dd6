//! The settings of a server.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, Method, header};
use mcp_runtime_core::Options;
use mcp_runtime_core::transport::Principal;
use tokio_util::sync::CancellationToken;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::headers::SupportedRevisions;
use super::limits::SessionLimits;
use super::origin::is_origin_allowed;
use super::store::{MemoryStore, SessionStore};
use crate::guard::Guard;

/// The headers of authorization that web pages may read.
const EXPOSED: [HeaderName; 2] = [header::WWW_AUTHENTICATE, HeaderName::from_static("dpop-nonce")];

/// The settings of a server. [`HttpServer`](super::HttpServer) documents each.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) path: String,
    pub(crate) legacy: Option<(String, String)>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) principal: Option<Arc<FindPrincipal>>,
    pub(crate) guarded: Option<Guarded>,
    pub(crate) revisions: SupportedRevisions,
    pub(crate) max_body: usize,
    pub(crate) max_sessions: usize,
    pub(crate) max_listens: usize,
    pub(crate) max_bytes: usize,
    pub(crate) expiry: Duration,
    pub(crate) initialize_timeout: Duration,
    pub(crate) json_only: bool,
    pub(crate) stateless: bool,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) grace: Duration,
    pub(crate) limits: SessionLimits,
}

/// A guard, and its document.
#[derive(Clone)]
pub(crate) struct Guarded {
    pub(crate) guard: Arc<dyn Guard>,
    pub(crate) document: Option<(String, Vec<u8>)>,
}

/// Determines the principal of a request.
pub(crate) type FindPrincipal = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Default for Settings {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            legacy: Some(("/sse".to_owned(), "/messages".to_owned())),
            hosts: Vec::new(),
            origins: Vec::new(),
            principal: None,
            guarded: None,
            revisions: Options::default().supported.into(),
            max_body: 4 << 20,
            max_sessions: 10_000,
            max_listens: 10_000,
            max_bytes: 512 << 20,
            expiry: Duration::from_secs(30 * 60),
            initialize_timeout: Duration::from_secs(60),
            json_only: false,
            stateless: false,
            store: Arc::new(MemoryStore::default()),
            shutdown: CancellationToken::new(),
            grace: Duration::from_secs(5),
            limits: SessionLimits {
                capacity: 64,
                max_in_flight: 2048,
                session_bytes: 32 << 20,
                replay_events: 1024,
                replay_bytes: 1 << 20,
                keep_alive: Duration::from_secs(15),
                retry: Duration::from_secs(1),
                stream_after: Duration::from_millis(100),
                stall_timeout: Duration::from_secs(30),
            },
        }
    }
}

impl Settings {
    /// The CORS layer.
    pub(crate) fn cors(&self) -> CorsLayer {
        let origins = self.origins.clone();
        let session_ids = self.revisions.session_headers.iter().cloned();
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(move |origin, _| {
                is_origin_allowed(origin, &origins)
            }))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(session_ids.chain(EXPOSED).collect::<Vec<_>>())
            .max_age(Duration::from_secs(60 * 60))
    }

    /// The principal of a request.
    pub(crate) fn principal_of(&self, request: &Parts) -> Option<String> {
        match &self.principal {
            Some(principal) => principal(request),
            None => request.extensions.get().map(|Principal(principal)| principal.clone()),
        }
    }

    /// Whether clients of revisions with a handshake are supported.
    pub(crate) fn has_handshake(&self) -> bool {
        self.revisions.iter().any(|revision| revision.facts().initializes)
    }

    /// Whether there are sessions.
    pub(crate) fn has_sessions(&self) -> bool {
        !self.stateless && self.session_header().is_some()
    }

    /// Whether sessions have a stream for messages that are related to no request.
    pub(crate) fn listens(&self) -> bool {
        !self.stateless && self.revisions.iter().any(|revision| revision.facts().listening)
    }

    /// The name of the header with a session's id, in the latest revision that has such a header.
    pub(crate) fn session_header(&self) -> Option<&'static str> {
        let with_header = self
            .revisions
            .iter()
            .filter(|revision| revision.facts().session_header.is_some());
        with_header.max()?.facts().session_header
    }

    /// Restricts each setting to the range that the others allow.
    pub(crate) fn settled(mut self) -> Self {
        // A stream that is read keeps its session alive. For quiet streams, the keep-alive comments have to come often
        // enough for that.
        let longest = (self.expiry / 3).max(Duration::from_millis(1));
        self.limits.keep_alive = self.limits.keep_alive.min(longest);
        self.initialize_timeout = self.initialize_timeout.min(self.expiry);
        self.legacy = self
            .legacy
            .filter(|_| !self.stateless && self.revisions.iter().any(|revision| revision.facts().initializes));
        self
    }
}
