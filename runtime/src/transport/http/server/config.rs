//! What a server of HTTP can be told.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderName, Method, header};
use mcp_adapters::Revision;
use tokio_util::sync::CancellationToken;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::headers::SESSION_ID;
use super::limits::SessionLimits;
use super::origin::is_origin_allowed;
use super::store::{MemoryStore, SessionStore};
use crate::options::Options;

/// The settings of a server of Streamable HTTP; [`router`](super::router) makes an axum router of them.
///
/// ```
/// use mcp_runtime::transport::http::server::HttpServer;
///
/// let server = HttpServer::new().path("/mcp").allow_host("tools.example").json_only(true);
/// ```
#[derive(Clone)]
pub struct HttpServer {
    pub(super) path: String,
    pub(super) legacy: Option<(String, String)>,
    pub(super) hosts: Vec<String>,
    pub(super) origins: Vec<String>,
    pub(super) principal: Option<Arc<Principal>>,
    pub(super) revisions: Vec<Revision>,
    pub(super) max_body: usize,
    pub(super) max_sessions: usize,
    pub(super) max_bytes: usize,
    pub(super) expiry: Duration,
    pub(super) opening: Duration,
    pub(super) json_only: bool,
    pub(super) stateless: bool,
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) shutdown: CancellationToken,
    pub(super) grace: Duration,
    pub(super) limits: SessionLimits,
}

/// Says who sent a request.
type Principal = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Default for HttpServer {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            legacy: Some(("/sse".to_owned(), "/messages".to_owned())),
            hosts: Vec::new(),
            origins: Vec::new(),
            principal: None,
            revisions: Options::default().negotiable().supported,
            max_body: 4 << 20,
            max_sessions: 10_000,
            max_bytes: 512 << 20,
            expiry: Duration::from_secs(30 * 60),
            opening: Duration::from_secs(60),
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
                stall: Duration::from_secs(30),
            },
        }
    }
}

impl HttpServer {
    /// A server at `/mcp` that only this machine may talk to.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where the server is; it begins with a slash.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Where peers find the older transport, HTTP with SSE: its stream and where they post to. `/sse` and `/messages`
    /// unless told otherwise.
    #[must_use]
    pub fn legacy_paths(mut self, stream: impl Into<String>, messages: impl Into<String>) -> Self {
        self.legacy = Some((stream.into(), messages.into()));
        self
    }

    /// Without the older transport, HTTP with SSE.
    #[must_use]
    pub fn without_legacy(mut self) -> Self {
        self.legacy = None;
        self
    }

    /// Answers requests to this host too, with or without a port: without one, any port will do. `*` is any host.
    ///
    /// Without this only `localhost`, `127.0.0.1` and `[::1]` are answered, so that no web page can reach a local
    /// server by rebinding a name of its own.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Answers web pages of this origin too, such as `https://app.example`. `*` is any origin.
    ///
    /// Without this only pages from this machine are answered. Requests that aren't a page's have no origin. Browsers let
    /// pages of these origins read the answers, and the session's id, by the CORS headers of the router.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// The layer that lets pages of the allowed origins read answers, and answers the requests by which browsers ask
    /// beforehand (CORS preflight). [`router`](super::router) has it already.
    ///
    /// A layer around the router that refuses requests hides them from that, and browsers never authenticate a preflight.
    /// So put this around an authentication layer: `app.layer(from_fn(authenticate)).layer(server.cors())`.
    pub fn cors(&self) -> CorsLayer {
        let origins = self.origins.clone();
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(move |origin, _| {
                is_origin_allowed(origin, &origins)
            }))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers([HeaderName::from_static(SESSION_ID), header::WWW_AUTHENTICATE])
            .max_age(Duration::from_secs(60 * 60))
    }

    /// Says who sent a request, so that a session is only for whoever began it: with a session's id alone, anybody else
    /// is told that there is no such session (404). `None` is a principal too: all those whom nobody knows.
    ///
    /// It has to be the same for every request of a session, so rather the subject of a token than the token, which
    /// clients renew. It stands in [`SessionRecord`](super::SessionRecord), so it mustn't be a secret.
    ///
    /// Unless told, the server doesn't tell its clients apart, and whoever knows a session's id may use the session.
    /// Set it wherever clients authenticate. The server itself authenticates nobody; a layer around the router does:
    ///
    /// ```
    /// use axum::extract::Request;
    /// use axum::http::StatusCode;
    /// use axum::middleware::{Next, from_fn};
    /// use axum::response::Response;
    /// use mcp_runtime::transport::http::server::{HttpServer, router};
    /// use mcp_runtime::{Options, Router};
    ///
    /// #[derive(Clone)]
    /// struct User(String);
    ///
    /// async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    ///     let token = request.headers().get("authorization").ok_or(StatusCode::UNAUTHORIZED)?;
    ///     let user = match token.as_bytes() {
    ///         b"Bearer of-alice" => "alice", // Verify a real token here.
    ///         _ => return Err(StatusCode::UNAUTHORIZED),
    ///     };
    ///     request.extensions_mut().insert(User(user.to_owned()));
    ///     Ok(next.run(request).await)
    /// }
    ///
    /// let server = HttpServer::new().principal(|request| Some(request.extensions.get::<User>()?.0.clone()));
    /// let cors = server.cors();
    /// let app = router(server, |transport, _| {
    ///     Router::new("weather", "1.0").serve(Options::default(), transport);
    /// });
    /// let app = app.layer(from_fn(authenticate)).layer(cors);
    /// # let _ = app;
    /// ```
    ///
    /// Handlers find the request that carried a call in [`Context::extensions`](crate::Context::extensions).
    #[must_use]
    pub fn principal(mut self, principal: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.principal = Some(Arc::new(principal));
        self
    }

    /// Who sent a request.
    pub(super) fn principal_of(&self, request: &Parts) -> Option<String> {
        self.principal.as_ref().and_then(|principal| principal(request))
    }

    /// The revisions that requests may name in their header: what the session engine supports. Unless told
    /// otherwise, those of [`Options::default`].
    #[must_use]
    pub fn revisions(mut self, revisions: impl Into<Vec<Revision>>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// The longest body that is read; 4 MiB unless told otherwise.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// How many sessions there may be at once; 10,000 unless told otherwise. One more takes the place of the session that
    /// has been idle longest, and gets a 503 if none is idle.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// How many bytes the bodies of requests that are in flight may have, together with what the streams of all sessions
    /// keep; 512 MiB unless told otherwise. Beyond them, idle sessions that keep much end, and then requests get a 503.
    /// How sessions began, which is kept as long as they last, may have a quarter of this number of bytes besides.
    ///
    /// Here and in [`session_bytes`](HttpServer::session_bytes), 512 bytes are added for each body and each event.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How many bytes the requests of one session that are in flight may have, together with what its streams keep; 32 MiB
    /// unless told otherwise. Beyond them its requests get a 503 until the client has read its answers.
    #[must_use]
    pub fn session_bytes(mut self, bytes: usize) -> Self {
        self.limits.session_bytes = bytes;
        self
    }

    /// How long a session lasts whose client says nothing after `initialize`; a minute unless told otherwise.
    #[must_use]
    pub fn opening(mut self, patience: Duration) -> Self {
        self.opening = patience;
        self
    }

    /// After how long a session ends that nobody posts to and nobody reads from; 30 minutes unless told otherwise.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        // Far enough away that a clock can still count to it.
        self.expiry = expiry.min(Duration::from_secs(365 * 24 * 60 * 60));
        self
    }

    /// Answers each POST by one JSON value, and never by a stream of events. What else the server has to say while it
    /// works goes to the session's GET stream. A single POST is also answered this way if its client accepts JSON only.
    #[must_use]
    pub fn json_only(mut self, json_only: bool) -> Self {
        self.json_only = json_only;
        self
    }

    /// Has no sessions: each POST is served by an engine of its own and answered by one JSON value, so that any machine
    /// can answer any request. There is no GET, no DELETE, and the server can't ask its clients anything.
    #[must_use]
    pub fn stateless(mut self, stateless: bool) -> Self {
        self.stateless = stateless;
        self
    }

    /// Where it is written down which sessions there are; in memory unless told otherwise.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Ends all sessions once the token is cancelled, so that no stream keeps the server from shutting down. New requests
    /// get a 503; those that are in flight are answered first, for which they have the time that
    /// [`HttpServer::grace`] gives them, and the client may still answer what it is asked. Then the streams end.
    ///
    /// [`Serve::shutdown`](super::Serve::shutdown) takes the same token.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// How long requests that are in flight may take once the server shuts down; 5 seconds unless told otherwise.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How many messages may wait on their way to a session engine; 64 unless told otherwise.
    #[must_use]
    pub fn capacity(mut self, messages: usize) -> Self {
        self.limits.capacity = messages.max(1);
        self
    }

    /// How many requests of one session may be unanswered or unread; 2,048 unless told otherwise. Those who come later
    /// get a 503.
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.limits.max_in_flight = requests.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// How much of each stream is kept for a client that doesn't read or comes back after its connection was cut: 1,024
    /// events and 1 MiB unless told otherwise. Answers are kept beyond that.
    #[must_use]
    pub fn replay(mut self, events: usize, bytes: usize) -> Self {
        (self.limits.replay_events, self.limits.replay_bytes) = (events.max(1), bytes);
        self
    }

    /// How often something is sent on a quiet stream, so that nobody on the way takes it for dead; 15 seconds unless
    /// told otherwise.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.limits.keep_alive = interval.max(Duration::from_millis(1));
        self
    }

    /// How long clients are asked to wait before they reconnect; a second unless told otherwise.
    #[must_use]
    pub fn retry(mut self, delay: Duration) -> Self {
        self.limits.retry = delay;
        self
    }

    /// How long the answer to a POST is waited for before a stream of events is opened for it; 100 milliseconds unless
    /// told otherwise.
    ///
    /// An answer that comes sooner, with nothing before it, is sent as one JSON value. A stream costs more, but its
    /// client sees that the server is there, and can resume it after its connection was cut.
    #[must_use]
    pub fn stream_after(mut self, delay: Duration) -> Self {
        self.limits.stream_after = delay;
        self
    }

    /// How long a message waits for a client that reads nothing while the buffer of its stream is full; 30 seconds unless told
    /// otherwise. Then the connection is cut, and what has no room is lost, answers excepted.
    #[must_use]
    pub fn stall(mut self, patience: Duration) -> Self {
        self.limits.stall = patience;
        self
    }

    /// The settings with each in the range that the others give it.
    pub(super) fn settled(mut self) -> Self {
        // A stream that is read keeps its session alive, and quiet ones are read by their keep-alives.
        let longest = (self.expiry / 3).max(Duration::from_millis(1));
        self.limits.keep_alive = self.limits.keep_alive.min(longest);
        self.opening = self.opening.min(self.expiry);
        self.json_only |= self.stateless;
        self
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("path", &self.path)
            .field("legacy", &self.legacy)
            .field("hosts", &self.hosts)
            .field("origins", &self.origins)
            .field("max_body", &self.max_body)
            .field("max_sessions", &self.max_sessions)
            .field("expiry", &self.expiry)
            .field("json_only", &self.json_only)
            .field("stateless", &self.stateless)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
