//! The handling of HTTP requests.

mod body;
mod function;
mod guarded;
mod legacy;
mod reader;
mod response;
mod source;
mod stateless;
mod streamable;

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Method, Request, Response, StatusCode, header};
use mcp_runtime_core::Responder;
use mcp_runtime_util::BoxFuture;
use tower_http::cors::Cors;
use tower_layer::Layer as _;
use tower_service::Service;

use super::body::Body;
use super::rejection::Rejection;
use super::sessions::{Sessions, StartEngine};
use super::settings::Settings;

pub use self::body::RequestBody;
pub use self::function::HttpFunction;

/// Responds to the HTTP requests to a server.
pub(crate) struct Endpoint {
    sessions: Arc<Sessions>,
    /// The routes within the CORS layer, for requests from web pages.
    for_pages: Cors<Routes>,
}

impl Endpoint {
    pub(crate) fn new(settings: Settings, start_engine: Arc<StartEngine>, responder: Option<Responder>) -> Self {
        let cors = settings.cors();
        let sessions = Arc::new(Sessions::new(settings, start_engine, responder));
        let for_pages = cors.layer(Routes(Arc::clone(&sessions)));
        Self { sessions, for_pages }
    }

    /// The paths at which it responds.
    pub(crate) fn paths(&self) -> Vec<String> {
        let settings = &self.sessions.settings;
        let mut paths = vec![settings.path.clone()];
        if let Some((stream, messages)) = &settings.legacy {
            paths.extend([stream.clone(), messages.clone()]);
        }
        let document = settings.guarded.as_ref().and_then(|guarded| guarded.document.as_ref());
        paths.extend(document.map(|(path, _)| path.clone()));
        paths
    }

    /// Responds to a request.
    pub(crate) fn respond<B: RequestBody>(&self, request: Request<B>) -> Responding {
        let settings = &self.sessions.settings;
        if let Err(rejection) = source::check_source(request.headers(), request.uri(), settings) {
            return at_once(rejection.into_response());
        }
        if request.headers().contains_key(header::ORIGIN) {
            return Box::pin(self.for_pages.clone().call(request));
        }
        route(&self.sessions, request)
    }
}

/// The future of a response. It is boxed as soon as the handler is known: otherwise, the future of each function on the
/// way to the handler would contain the request.
pub(crate) type Responding = BoxFuture<'static, Result<Response<Body>, Infallible>>;

/// The future of a response that is ready.
fn at_once(response: Response<Body>) -> Responding {
    Box::pin(ready(Ok(response)))
}

/// The routes as a service.
#[derive(Clone)]
struct Routes(Arc<Sessions>);

impl<B: RequestBody> Service<Request<B>> for Routes {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Responding;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        route(&self.0, request)
    }
}

/// A path of the server.
#[derive(Clone, Copy)]
enum Route {
    /// Streamable HTTP.
    Streamable,
    /// The stream of HTTP with SSE.
    LegacyStream,
    /// The message endpoint of HTTP with SSE.
    LegacyMessages,
}

impl Route {
    fn find(settings: &Settings, path: &str) -> Option<Self> {
        if path == settings.path {
            return Some(Self::Streamable);
        }
        let (stream, messages) = settings.legacy.as_ref()?;
        let is_messages = || (path == messages).then_some(Self::LegacyMessages);
        (path == stream).then_some(Self::LegacyStream).or_else(is_messages)
    }

    fn respond<B: RequestBody>(self, sessions: &Arc<Sessions>, request: Request<B>) -> Responding {
        let of = Arc::clone(sessions);
        match (self, request.method()) {
            (Self::Streamable, _) => streamable::handle(sessions, request),
            (Self::LegacyStream, &Method::GET) => {
                Box::pin(async move { Ok(legacy::open(&of, &request.into_parts().0).await) })
            }
            (Self::LegacyMessages, &Method::POST) => Box::pin(async move { Ok(legacy::post(&of, request).await) }),
            (Self::LegacyStream, _) => at_once(response::method_not_allowed("GET")),
            (Self::LegacyMessages, _) => at_once(response::method_not_allowed("POST")),
        }
    }
}

/// Responds to a request by its path.
fn route<B: RequestBody>(sessions: &Arc<Sessions>, request: Request<B>) -> Responding {
    if sessions.settings.guarded.is_none() {
        return respond_at(sessions, request);
    }
    let sessions = Arc::clone(sessions);
    Box::pin(async move {
        match &sessions.settings.guarded {
            Some(guarded) => guarded::respond(guarded, request, |request| respond_at(&sessions, request)).await,
            None => respond_at(&sessions, request).await,
        }
    })
}

fn respond_at<B: RequestBody>(sessions: &Arc<Sessions>, request: Request<B>) -> Responding {
    match Route::find(&sessions.settings, request.uri().path()) {
        Some(route) => route.respond(sessions, request),
        None => at_once(Rejection::invalid(StatusCode::NOT_FOUND, "Not found").into_response()),
    }
}
