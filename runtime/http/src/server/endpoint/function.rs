//! A server as a function, for platforms that call functions.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use mcp_adapters::PeerTypes;
use mcp_runtime_core::{Options, Responder, ServeClient};

use super::super::body::Body;
use super::super::headers::check_content_type;
use super::super::post_body::{PostBody, read_payload};
use super::super::rejection::Rejection;
use super::super::session::{CallSender, Client, SessionKind};
use super::super::settings::Settings;
use super::super::stream::Content;
use super::response::{method_not_allowed, with_status};
use super::stateless::{accept, answer, revision_of};

/// A server of stateless revisions as a function from an HTTP request to its response, for platforms that call
/// functions, such as edge workers and other targets of WebAssembly.
///
/// It needs no runtime, no thread, and no memory between requests. It needs a clock only for tools that request input
/// from the user, because their state has a time. If another instance may get the answer, all instances need the same
/// key in [`Options::sealing`]. Each response is one JSON value, so requests to listen for changes are refused, and
/// other notifications don't reach the client. [`HttpServer`](crate::server::HttpServer) has no such restrictions.
///
/// The platform has to check the path, the host and the origin of a request, and to limit the size of its body. The
/// extensions of the request can have the [`Principal`](mcp_runtime_core::transport::Principal) on whose behalf it is
/// sent.
///
/// ```
/// use std::sync::LazyLock;
///
/// use bytes::Bytes;
/// use mcp_runtime::Router;
/// use mcp_runtime::http::{Request, Response};
/// use mcp_runtime::transport::http::server::HttpFunction;
///
/// static WEATHER: LazyLock<HttpFunction> = LazyLock::new(|| {
///     HttpFunction::new(Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny"))
/// });
///
/// async fn handle(request: Request<Vec<u8>>) -> Response<Bytes> {
///     WEATHER.respond(request).await
/// }
/// ```
#[derive(Clone)]
pub struct HttpFunction {
    responder: Responder,
    settings: Arc<Settings>,
}

impl HttpFunction {
    /// Creates the function of a server, such as a router, for clients of all stateless revisions.
    #[must_use]
    pub fn new(server: impl ServeClient) -> Self {
        Self::with_options(server, Options::default())
    }

    /// Creates the function of a server for clients of the stateless revisions among those in `options`.
    #[must_use]
    pub fn with_options(server: impl ServeClient, mut options: Options) -> Self {
        options.supported.retain(|revision| revision.is_stateless());
        let settings = Settings {
            revisions: options.supported.clone().into(),
            json_only: true,
            ..Settings::default()
        };
        Self {
            responder: server.responder(options),
            settings: Arc::new(settings),
        }
    }

    /// Responds to a request.
    pub async fn respond(&self, request: Request<impl AsRef<[u8]>>) -> Response<Bytes> {
        let response = match *request.method() {
            Method::POST => self.answer(request).await.unwrap_or_else(Rejection::into_response),
            _ => method_not_allowed("POST"),
        };
        // The response is never a stream.
        response.map(|body| body.whole().unwrap_or_default())
    }

    async fn answer(&self, request: Request<impl AsRef<[u8]>>) -> Result<Response<Body>, Rejection> {
        check_content_type(request.headers())?;
        let (parts, json) = request.into_parts();
        let json = json.as_ref();
        let payload = read_payload(json)?;
        let body = PostBody::of(&payload, json.len(), None)?;
        let with_id = |rejection: Rejection| rejection.with_id(body.only_request().cloned());
        let revision = revision_of(&self.settings, &parts.headers, &body);
        let revision = revision.ok_or_else(|| Rejection::bad_request("The server supports no stateless revision"))?;
        let accepted = accept(&self.settings, &parts.headers, &body, revision).map_err(with_id)?;
        let Some((_, request)) = accepted.zip(body.message()) else {
            return Ok(with_status(StatusCode::ACCEPTED, Body::default()));
        };
        let client = Client::new(self.settings.principal_of(&parts), &parts);
        let sender = CallSender::new(SessionKind::JsonOnly, Content::Responses);
        let answering = self.responder.answer(request, client.extensions(Some(parts)), sender);
        Ok(answer(revision, answering.await.map(Bytes::from).into_iter().collect()))
    }
}

impl fmt::Debug for HttpFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpFunction")
            .field("revisions", &&*self.settings.revisions)
            .finish_non_exhaustive()
    }
}
