//! The public type of the server: its settings, and the service.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use http::request::Parts;
use http::{Request, Response};
use mcp_adapters::Revision;
use mcp_runtime_core::{Options, Responder, ServeClient};
use mcp_runtime_util::FOREVER;
use tokio_util::sync::CancellationToken;
use tower_http::cors::CorsLayer;
use tower_service::Service;

use super::body::Body;
use super::endpoint::{Endpoint, RequestBody};
use super::session::SessionTransport;
use super::sessions::{FirstRequest, SessionInfo, StartEngine};
use super::settings::{Guarded, Settings};
use super::store::SessionStore;
use crate::guard::Guard;

/// A server of Streamable HTTP, and also of HTTP with SSE.
///
/// It is a [`Service`] of HTTP requests, which [`serve`](super::serve), hyper, axum and others can serve. Its clones
/// share their sessions, which end when the last clone is dropped. A clone whose settings are changed has its own
/// sessions.
///
/// ```
/// use mcp_runtime::Router;
/// use mcp_runtime::transport::http::server::HttpServer;
///
/// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
/// let server = HttpServer::new(weather).path("/mcp").allow_host("tools.example").json_only(true);
/// # let _ = server;
/// ```
#[derive(Clone)]
pub struct HttpServer {
    settings: Arc<Settings>,
    start_engine: Arc<StartEngine>,
    /// Answers stateless requests, if they don't each need a separate engine.
    responder: Option<Responder>,
    /// The part that responds to requests, created by the first one.
    endpoint: Arc<OnceLock<Arc<Endpoint>>>,
}

impl HttpServer {
    /// Creates a server at `/mcp`, for example of a router with tools, resources and prompts, for clients of every
    /// revision, but only on this machine.
    ///
    /// Each session, and each request of a stateless revision, gets a clone of `server`. The clones of a router share
    /// its routes, so cloning is cheap, and all clients see the same routes.
    #[must_use]
    pub fn new(server: impl ServeClient) -> Self {
        Self::with_options(server, Options::default())
    }

    /// Creates a server with these options, for clients of the revisions in them.
    #[must_use]
    pub fn with_options(server: impl ServeClient, options: Options) -> Self {
        let revisions = options.supported.clone();
        let responder = server.clone().responder(options.clone());
        let serve = move |transport, _: FirstRequest<'_>| drop(server.clone().serve_client(options.clone(), transport));
        let server = Self {
            responder: Some(responder),
            ..Self::starting(serve)
        };
        server.revisions(revisions)
    }

    /// Creates a server at `/mcp` with your own session engine.
    ///
    /// `start` is called once for each session, and for each request without a session, within the tokio runtime. It
    /// starts the session's engine, and shouldn't block. The session ends when the engine drops its transport. If the
    /// session ends first, the engine receives no more messages. Each request stays in flight until the engine has sent
    /// its response, or has called [`Sender::unanswered`](mcp_runtime_core::transport::Sender::unanswered).
    ///
    /// ```
    /// use mcp_runtime::transport::http::server::{HttpServer, SessionInfo, SessionTransport};
    ///
    /// # fn start_engine(transport: SessionTransport) {}
    /// let server = HttpServer::from_fn(|transport: SessionTransport, _: SessionInfo| start_engine(transport));
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn from_fn(start: impl Fn(SessionTransport, SessionInfo) + Send + Sync + 'static) -> Self {
        Self::starting(move |transport, first| start(transport, first.into()))
    }

    /// Creates a server with a function that starts engines, which is given the first request by reference.
    pub(super) fn starting(start: impl Fn(SessionTransport, FirstRequest<'_>) + Send + Sync + 'static) -> Self {
        Self {
            settings: Arc::default(),
            start_engine: Arc::new(start),
            responder: None,
            endpoint: Arc::default(),
        }
    }

    /// Sets the path of the endpoint, which starts with a slash.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.change().path = path.into();
        self
    }

    /// Sets the paths of HTTP with SSE: of its stream, and of its endpoint for messages. The default is `/sse` and
    /// `/messages`.
    #[must_use]
    pub fn legacy_paths(mut self, stream: impl Into<String>, messages: impl Into<String>) -> Self {
        self.change().legacy = Some((stream.into(), messages.into()));
        self
    }

    /// Disables HTTP with SSE.
    #[must_use]
    pub fn without_legacy(mut self) -> Self {
        self.change().legacy = None;
        self
    }

    /// Allows requests to this host. Without a port, any port is allowed. `*` allows any host.
    ///
    /// By default only `localhost`, `127.0.0.1` and `[::1]` are allowed, so that no web page can reach a local server
    /// by DNS rebinding.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.change().hosts.push(host.into());
        self
    }

    /// Allows requests from web pages of this origin, such as `https://app.example`. `*` allows any origin.
    ///
    /// By default only pages from this machine are allowed. Requests that don't come from a page have no origin. The
    /// CORS headers of the server let pages of these origins read the responses and the session id.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.change().origins.push(origin.into());
        self
    }

    /// Returns the CORS layer, which lets pages of the allowed origins read responses, and answers preflight requests.
    /// The server already has it.
    ///
    /// Browsers never authenticate a preflight request, so an authentication layer around the server would refuse it.
    /// Put this layer around the authentication layer: `app.layer(from_fn(authenticate)).layer(server.cors())`.
    pub fn cors(&self) -> CorsLayer {
        self.settings.cors()
    }

    /// Sets the function that determines the principal of a request. Only the principal that has started a session may
    /// use it; others get a 404. All clients for which the function returns `None` count as one principal, also for the
    /// state of requests with several rounds: see [`Sealing`](mcp_runtime_core::Sealing).
    ///
    /// The principal must be the same for every request of a session: use the subject of a token rather than the token,
    /// which clients renew. It is stored in [`SessionRecord`](super::SessionRecord), so it must not be a secret.
    ///
    /// By default the server doesn't distinguish its clients, and a client that knows a session id can use the session.
    /// Set this if clients authenticate. The server itself authenticates no clients; a layer around it does:
    ///
    /// ```
    /// use axum::extract::Request;
    /// use axum::http::StatusCode;
    /// use axum::middleware::{Next, from_fn};
    /// use axum::response::Response;
    /// use mcp_runtime::transport::http::server::HttpServer;
    /// use mcp_runtime::Router;
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
    /// let server = HttpServer::new(Router::new("weather", "1.0"));
    /// let server = server.principal(|request| Some(request.extensions.get::<User>()?.0.clone()));
    /// let cors = server.cors();
    /// let app = server.app().layer(from_fn(authenticate)).layer(cors);
    /// # let _ = app;
    /// ```
    ///
    /// Handlers find the request that carried a call in [`Context::extensions`](mcp_runtime_core::Context::extensions).
    #[must_use]
    pub fn principal(mut self, principal: impl Fn(&Parts) -> Option<String> + Send + Sync + 'static) -> Self {
        self.change().principal = Some(Arc::new(principal));
        self
    }

    /// Protects the server by a guard: only requests that pass it are answered. With the `ProtectedResource` of
    /// `mcp-runtime-auth`, those are the requests with a valid token. Others get a 401 that names the metadata, which
    /// name the authorization servers, and requests that their token doesn't permit get a 403. The metadata are served
    /// at a separate path.
    ///
    /// Sessions belong to the principal that the guard determines, which is the subject of the token, unless
    /// [`principal`](Self::principal) determines another one. Handlers get it from
    /// [`Context::principal`](mcp_runtime_core::Context::principal), and the other claims of the token from the
    /// extensions of the HTTP request, as a `TokenInfo`. They never get the token itself.
    #[must_use]
    pub fn protect(mut self, guard: impl Guard) -> Self {
        let document = guard.document();
        let guard = Arc::new(guard);
        self.change().guarded = Some(Guarded { guard, document });
        self
    }

    /// Sets the revisions of the clients, which must be those that the session engine supports. The default is those of
    /// [`Options::default`](mcp_runtime_core::Options::default).
    ///
    /// Revisions of both eras can share the endpoint, since each message identifies its revision. A request of a
    /// stateless revision never has a session: it has its own engine, which ends with the response, or when the client
    /// closes the response.
    #[must_use]
    pub fn revisions(mut self, revisions: impl Into<Vec<Revision>>) -> Self {
        self.change().revisions = revisions.into().into();
        self
    }

    /// Sets the maximum size of a body in bytes; the default is 4 MiB.
    ///
    /// Larger bodies also have to fit into [`max_bytes`](HttpServer::max_bytes),
    /// [`session_bytes`](HttpServer::session_bytes), which allows 8 MiB by default, and
    /// [`Limits::request_bytes`](mcp_runtime_core::Limits::request_bytes).
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.change().max_body = bytes;
        self
    }

    /// Sets the maximum number of sessions, together with the stateless calls in flight; the default is 10,000.
    ///
    /// Beyond this limit, a new session replaces an idle one: of the client that has the most sessions and calls, the
    /// one that has been idle longest. Clients are distinguished by their [principal](Self::principal), or else by
    /// their address ([`ClientAddress`](super::ClientAddress)). If no session is idle, or only those of clients that
    /// have fewer sessions and calls than the new session's client, the request gets a 503.
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.change().max_sessions = sessions.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum number of open streams of stateless clients that listen for changes; the default is 10,000.
    /// Further ones get a 503.
    #[must_use]
    pub fn max_listens(mut self, listens: usize) -> Self {
        self.change().max_listens = listens.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum bytes of the requests in flight, the responses that clients haven't read, and the messages that
    /// the streams of all sessions keep; the default is 512 MiB. Beyond this limit, idle sessions that keep many bytes
    /// are ended, first those of the client that keeps the most, and then requests get a 503. The `initialize` requests
    /// of all sessions, which are kept as long as the sessions, have a separate limit of a quarter of this number.
    ///
    /// Here and in [`session_bytes`](HttpServer::session_bytes), a request counts four times the bytes of its body,
    /// since it is held in its original form, decoded, and as a handler's arguments. 512 bytes are added for each body
    /// and each event. Memory that a handler allocates isn't counted; its messages are counted when they are sent.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.change().max_bytes = bytes;
        self
    }

    /// Sets the maximum bytes of the requests in flight of one session, together with the messages that its streams
    /// keep. The default is 32 MiB. Beyond this limit, its requests get a 503 until the client has read its responses.
    #[must_use]
    pub fn session_bytes(mut self, bytes: usize) -> Self {
        self.change().limits.session_bytes = bytes;
        self
    }

    /// Sets the timeout of a session whose client sends nothing after `initialize`; the default is a minute.
    #[must_use]
    pub fn initialize_timeout(mut self, timeout: Duration) -> Self {
        self.change().initialize_timeout = timeout.min(FOREVER);
        self
    }

    /// Sets the timeout of a session without POSTs and without open streams; the default is 30 minutes.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        self.change().expiry = expiry.min(FOREVER);
        self
    }

    /// Responds to each POST with one JSON value, and never with a stream of events. Other messages related to the
    /// request are sent on the session's GET stream; without a session they are dropped. A client that accepts only
    /// JSON always gets JSON.
    #[must_use]
    pub fn json_only(mut self, json_only: bool) -> Self {
        self.change().json_only = json_only;
        self
    }

    /// Disables sessions for clients of revisions that have them: each of their POSTs has its own engine and gets one
    /// JSON value, so that any machine can handle any request. There is no GET and no DELETE, and the server can't send
    /// requests to its clients: a tool that requests input from such a client fails. Requests of stateless revisions
    /// never have sessions, and can get a stream of events.
    #[must_use]
    pub fn stateless(mut self, stateless: bool) -> Self {
        self.change().stateless = stateless;
        self
    }

    /// Sets the session store; the default is in memory.
    #[must_use]
    pub fn store(mut self, store: impl SessionStore) -> Self {
        self.change().store = Arc::new(store);
        self
    }

    /// Ends all sessions when the token is cancelled, so that no stream prevents the server from shutting down. New
    /// requests get a 503. Requests in flight have the time of [`HttpServer::grace`] to finish, and clients can still
    /// send responses. Then the streams end.
    ///
    /// [`Serve::shutdown`](super::Serve::shutdown) takes the same token.
    #[must_use]
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.change().shutdown = token;
        self
    }

    /// Sets the time that requests in flight have when the server shuts down; the default is 5 seconds.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.change().grace = grace;
        self
    }

    /// Sets the capacity, in messages, of the channel to an engine that
    /// [receives](mcp_runtime_core::transport::Receiver::receive) its messages; the default is 64. The engines of this
    /// library take messages without a channel.
    #[must_use]
    pub fn capacity(mut self, messages: usize) -> Self {
        self.change().limits.capacity = messages.max(1);
        self
    }

    /// Sets the maximum number of requests of one session that are in flight or whose responses are unread; the default
    /// is 2,048. Further ones get a 503.
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.change().limits.max_in_flight = requests.min(tokio::sync::Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum events and bytes of each stream that are kept for a client that doesn't read, or that resumes.
    /// The default is 1,024 events and 1 MiB. Responses are kept even beyond that.
    #[must_use]
    pub fn replay(mut self, events: usize, bytes: usize) -> Self {
        let limits = &mut self.change().limits;
        (limits.replay_events, limits.replay_bytes) = (events.max(1), bytes);
        self
    }

    /// Sets the interval of keep-alive comments on a quiet stream; the default is 15 seconds.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.change().limits.keep_alive = interval.clamp(Duration::from_millis(1), FOREVER);
        self
    }

    /// Sets the reconnection time that is sent to clients; the default is a second.
    #[must_use]
    pub fn retry(mut self, delay: Duration) -> Self {
        self.change().limits.retry = delay;
        self
    }

    /// Sets the time after which a POST that has no response yet gets a stream of events; the default is 100
    /// milliseconds.
    ///
    /// A response that is ready sooner, with no message before it, is sent as one JSON value. A stream costs more, but
    /// the client sees that the server is alive, and can resume the stream.
    #[must_use]
    pub fn stream_after(mut self, delay: Duration) -> Self {
        self.change().limits.stream_after = delay;
        self
    }

    /// Sets how long a message waits while the buffer of its stream is full and the client reads nothing; the default
    /// is 30 seconds. Then the connection is closed, and messages beyond the limits of the buffer are dropped, except
    /// responses.
    #[must_use]
    pub fn stall_timeout(mut self, timeout: Duration) -> Self {
        self.change().limits.stall_timeout = timeout;
        self
    }
}

impl HttpServer {
    /// Returns the settings to change them, and detaches this server from the sessions of its clones.
    fn change(&mut self) -> &mut Settings {
        self.endpoint = Arc::default();
        Arc::make_mut(&mut self.settings)
    }

    /// The paths at which the server responds.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.endpoint().paths()
    }

    fn endpoint(&self) -> &Arc<Endpoint> {
        self.endpoint.get_or_init(|| {
            let settings = Settings::clone(&self.settings).settled();
            Arc::new(Endpoint::new(
                settings,
                Arc::clone(&self.start_engine),
                self.responder.clone(),
            ))
        })
    }
}

/// The service is always ready, never fails, and has to run within a tokio runtime.
impl<B: RequestBody> Service<Request<B>> for HttpServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.endpoint().respond(request)
    }
}

impl fmt::Debug for HttpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("path", &self.settings.path)
            .field("legacy", &self.settings.legacy)
            .field("hosts", &self.settings.hosts)
            .field("origins", &self.settings.origins)
            .field("max_body", &self.settings.max_body)
            .field("max_sessions", &self.settings.max_sessions)
            .field("max_listens", &self.settings.max_listens)
            .field("expiry", &self.settings.expiry)
            .field("json_only", &self.settings.json_only)
            .field("stateless", &self.settings.stateless)
            .field("limits", &self.settings.limits)
            .finish_non_exhaustive()
    }
}
