//! The settings of an HTTP server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderName, Method, header};
use mcp_adapters::Revision;
use mcp_core::Options;
use mcp_core::mirrors::header_name;
use tokio_util::sync::CancellationToken;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use super::headers::session_headers;
use super::limits::SessionLimits;
use super::origin::is_origin_allowed;
use super::store::{MemoryStore, SessionStore};

/// The headers of authorization that pages may read.
const EXPOSED: [HeaderName; 2] = [header::WWW_AUTHENTICATE, HeaderName::from_static("dpop-nonce")];

/// The settings of a server of Streamable HTTP; [`app`](Self::app) makes an axum router of them.
///
/// ```
/// use mcp_runtime::transport::http::server::HttpServer;
///
/// let server = HttpServer::new().path("/mcp").allow_host("tools.example").json_only(true);
/// ```
#[derive(Clone)]
pub struct HttpServer {
    pub(crate) path: String,
    pub(crate) legacy: Option<(String, String)>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) principal: Option<Arc<Principal>>,
    #[cfg(feature = "auth")]
    pub(crate) protected: Option<Arc<mcp_auth::ProtectedResource>>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) max_body: usize,
    pub(crate) max_sessions: usize,
    pub(crate) max_listens: usize,
    pub(crate) max_bytes: usize,
    pub(crate) expiry: Duration,
    pub(crate) opening: Duration,
    pub(crate) json_only: bool,
    pub(crate) stateless: bool,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) shutdown: CancellationToken,
    pub(crate) grace: Duration,
    pub(crate) limits: SessionLimits,
}

/// Determines the principal of a request.
type Principal = dyn Fn(&Parts) -> Option<String> + Send + Sync;

impl Default for HttpServer {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            legacy: Some(("/sse".to_owned(), "/messages".to_owned())),
            hosts: Vec::new(),
            origins: Vec::new(),
            principal: None,
            #[cfg(feature = "auth")]
            protected: None,
            revisions: Options::default().supported,
            max_body: 4 << 20,
            max_sessions: 10_000,
            max_listens: 10_000,
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
    /// A server at `/mcp` for clients on this machine only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The path of the endpoint, which begins with a slash.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The paths of HTTP with SSE: of its stream, and of its endpoint for messages. The default is `/sse` and `/messages`.
    #[must_use]
    pub fn legacy_paths(mut self, stream: impl Into<String>, messages: impl Into<String>) -> Self {
        self.legacy = Some((stream.into(), messages.into()));
        self
    }

    /// Disables HTTP with SSE.
    #[must_use]
    pub fn without_legacy(mut self) -> Self {
        self.legacy = None;
        self
    }

    /// Allows requests to this host. Without a port, any port is allowed. `*` is any host.
    ///
    /// By default only `localhost`, `127.0.0.1` and `[::1]` are allowed, so that no web page can reach a local server by
    /// DNS rebinding.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Allows requests from web pages of this origin, such as `https://app.example`. `*` is any origin.
    ///
    /// By default only pages from this machine are allowed. Requests that don't come from a page have no origin. The CORS
    /// headers of the router let pages of these origins read the responses and the session id.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// The CORS layer: it lets pages of the allowed origins read responses, and answers preflight requests.
    /// [`router`](super::router) already has it.
    ///
    /// Browsers never authenticate a preflight request, so an authentication layer around the router would refuse it. Put
    /// this layer around the authentication layer: `app.layer(from_fn(authenticate)).layer(server.cors())`.
    pub fn cors(&self) -> CorsLayer {
        let origins = self.origins.clone();
        let session_ids = session_headers(&self.revisions).into_iter();
        let session_ids = session_ids.filter_map(header_name);
        CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(move |origin, _| {
                is_origin_allowed(origin, &origins)
            }))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .expose_headers(session_ids.chain(EXPOSED).collect::<Vec<_>>())
            .max_age(Duration::from_secs(60 * 60))
    }

    /// Determines the principal of a request. Only the principal that has started a session may use it; others get a 404.
    /// `None` stands for all clients without a principal.
    ///
    /// The principal must be the same for every request of a session: use the subject of a token rather than the token,
    /// which clients renew. It is stored in [`SessionRecord`](super::SessionRecord), so it must not be a secret.
    ///
    /// By default the server doesn't distinguish its clients, and a client that knows a session id may use the session.
    /// Set this if clients authenticate. The server itself authenticates nobody; a layer around the router does:
    ///
    /// ```
    /// use axum::extract::Request;
    /// use axum::http::StatusCode;
    /// use axum::middleware::{Next, from_fn};
    /// use axum::response::Response;
    /// use mcp_runtime::transport::http::server::HttpServer;
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
    /// let app = server.app(Router::new("weather", "1.0"), Options::default());
    /// let app = app.layer(from_fn(authenticate)).layer(cors);
    /// # let _ = app;
    /// ```
    ///
    /// Handlers find the request that carried a call in [`Context::extensions`](mcp_core::Context::extensions).
    #[must_use]
    pub fn principal(mut self, principal: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.principal = Some(Arc::new(principal));
        self
    }

    /// Answers only clients that send a token, and says where they get one: requests without one get a 401, and those whose token
    /// doesn't permit them a 403. The metadata of the resource have a route of their own.
    ///
    /// Sessions belong to the subject of the token, unless [`principal`](Self::principal) says otherwise. Handlers find the
    /// subject in [`Context::principal`](mcp_core::Context::principal) and what else the token says in the extensions of the HTTP
    /// request, as a [`TokenInfo`](mcp_auth::TokenInfo); they never get the token itself.
    #[cfg(feature = "auth")]
    #[must_use]
    pub fn protect(mut self, resource: mcp_auth::ProtectedResource) -> Self {
        self.protected = Some(Arc::new(resource));
        self
    }

    /// The principal of a request.
    pub(crate) fn principal_of(&self, request: &Parts) -> Option<String> {
        match &self.principal {
            Some(principal) => principal(request),
            #[cfg(feature = "auth")]
            None => request.extensions.get().map(mcp_auth::TokenInfo::principal),
            #[cfg(not(feature = "auth"))]
            None => None,
        }
    }

    /// The revisions of the clients, which must be those that the session engine supports. The default is those of
    /// [`Options::default`].
    ///
    /// Revisions of both eras may share the endpoint, since each message names its own. A request of a stateless revision
    /// never has a session: it has an engine of its own, which ends with the response, and when the client closes it.
    #[must_use]
    pub fn revisions(mut self, revisions: impl Into<Vec<Revision>>) -> Self {
        self.revisions = revisions.into();
        self
    }

    /// The maximum size of a body in bytes; the default is 4 MiB.
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// The maximum number of sessions, together with the stateless calls in flight; the default is 10,000.
    ///
    /// One more replaces an idle session: of the client that has the most sessions and calls, the one that has been idle longest.
    /// Clients are told apart by their [principal](Self::principal), or else by their address
    /// ([`ConnectInfo`](axum::extract::ConnectInfo)). If only clients with fewer sessions and calls than its own have idle sessions,
    /// or if none is idle, it gets a 503.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// The maximum number of open streams of stateless clients that listen for changes; the default is 10,000. One more gets
    /// a 503.
    #[must_use]
    pub fn max_listens(mut self, listens: usize) -> Self {
        self.max_listens = listens.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// How many bytes the requests in flight may take, together with the responses that clients haven't read and what the streams
    /// of all sessions keep; the default is 512 MiB. Beyond this limit, idle sessions that keep much end, first those of the
    /// client that keeps most, and then requests get a 503. How sessions began, which is kept as long as they last, may have a
    /// quarter of this number of bytes besides.
    ///
    /// Here and in [`session_bytes`](HttpServer::session_bytes), a request counts four times the bytes of its body, since it is
    /// held as it came, decoded, and as a handler's arguments. 512 bytes are added for each body and each event. What a handler
    /// makes of its arguments isn't counted until it is sent.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// The maximum bytes of the requests in flight of one session, together with the messages that its streams keep. The
    /// default is 32 MiB. Beyond this limit its requests get a 503 until the client has read its responses.
    #[must_use]
    pub fn session_bytes(mut self, bytes: usize) -> Self {
        self.limits.session_bytes = bytes;
        self
    }

    /// The timeout of a session whose client sends nothing after `initialize`; the default is a minute.
    #[must_use]
    pub fn opening(mut self, patience: Duration) -> Self {
        self.opening = patience;
        self
    }

    /// The timeout of a session without POSTs and without open streams; the default is 30 minutes.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        // Bounded, so that adding it to an instant doesn't overflow.
        self.expiry = expiry.min(Duration::from_secs(365 * 24 * 60 * 60));
        self
    }

    /// Responds to each POST with one JSON value, and never with a stream of events. Other messages related to the request
    /// go to the session's GET stream; without a session they are dropped. A POST whose client accepts only JSON always
    /// gets JSON.
    #[must_use]
    pub fn json_only(mut self, json_only: bool) -> Self {
        self.json_only = json_only;
        self
    }

    /// Disables sessions for clients of revisions that have them: each of their POSTs has an engine of its own and gets one
    /// JSON value, so that any machine can handle any request. There is no GET and no DELETE, and the server can't send
    /// requests to its clients. Requests of stateless revisions are always handled so, and may get a stream of events.
    #[must_use]
    pub fn stateless(mut self, stateless: bool) -> Self {
        self.stateless = stateless;
        self
    }

    /// The session store; the default is in memory.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Ends all sessions when the token is cancelled, so that no stream keeps the server from shutting down. New requests
    /// get a 503. Requests in flight have the time of [`HttpServer::grace`] to finish, and clients may still send
    /// responses. Then the streams end.
    ///
    /// [`Serve::shutdown`](super::Serve::shutdown) takes the same token.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// The time that requests in flight have when the server shuts down; the default is 5 seconds.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The capacity of the channel to a session engine, in messages; the default is 64.
    #[must_use]
    pub fn capacity(mut self, messages: usize) -> Self {
        self.limits.capacity = messages.max(1);
        self
    }

    /// The maximum number of requests of one session that are in flight or unread; the default is 2,048. Further
    /// ones get a 503.
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.limits.max_in_flight = requests.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// The events and bytes of each stream that are kept for a client that doesn't read, or that resumes. The
    /// default is 1,024 events and 1 MiB. Responses are kept beyond that.
    #[must_use]
    pub fn replay(mut self, events: usize, bytes: usize) -> Self {
        (self.limits.replay_events, self.limits.replay_bytes) = (events.max(1), bytes);
        self
    }

    /// The interval of keep-alive comments on a quiet stream; the default is 15 seconds.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.limits.keep_alive = interval.max(Duration::from_millis(1));
        self
    }

    /// The reconnection time that clients are sent; the default is a second.
    #[must_use]
    pub fn retry(mut self, delay: Duration) -> Self {
        self.limits.retry = delay;
        self
    }

    /// The time after which a POST without a response gets a stream of events; the default is 100 milliseconds.
    ///
    /// A response that is ready sooner, with no message before it, is sent as one JSON value. A stream costs more, but the
    /// client sees that the server is alive, and can resume the stream.
    #[must_use]
    pub fn stream_after(mut self, delay: Duration) -> Self {
        self.limits.stream_after = delay;
        self
    }

    /// How long a message waits while the buffer of its stream is full and the client reads nothing; the default is 30
    /// seconds. Then the connection is closed, and messages without room are dropped, except responses.
    #[must_use]
    pub fn stall(mut self, patience: Duration) -> Self {
        self.limits.stall = patience;
        self
    }

    /// Whether a client with a handshake is served.
    pub(crate) fn has_handshake(&self) -> bool {
        self.revisions.iter().any(|revision| revision.facts().initializes)
    }

    /// Whether there are sessions.
    pub(crate) fn has_sessions(&self) -> bool {
        !self.stateless && self.session_header().is_some()
    }

    /// Whether a session has a stream for what is related to no request.
    pub(crate) fn listens(&self) -> bool {
        !self.stateless && self.revisions.iter().any(|revision| revision.facts().listening)
    }

    /// The header with a session's id, as the latest revision that has it calls it.
    pub(crate) fn session_header(&self) -> Option<&'static str> {
        let with_header = self
            .revisions
            .iter()
            .filter(|revision| revision.facts().session_header.is_some());
        with_header.max()?.facts().session_header
    }

    /// The settings, each within the range that the others allow.
    pub(crate) fn settled(mut self) -> Self {
        // A stream that is read keeps its session alive, and quiet ones are read by their keep-alives.
        let longest = (self.expiry / 3).max(Duration::from_millis(1));
        self.limits.keep_alive = self.limits.keep_alive.min(longest);
        self.opening = self.opening.min(self.expiry);
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
            .field("max_listens", &self.max_listens)
            .field("expiry", &self.expiry)
            .field("json_only", &self.json_only)
            .field("stateless", &self.stateless)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
