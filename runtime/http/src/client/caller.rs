//! A client of stateless revisions that sends its requests by a given function.

use std::fmt;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Request, Uri};
use mcp_adapters::mcp_wire::Extension;
use mcp_runtime_core::CallError;
use mcp_runtime_core::transport::{Exchange, Inbox};
use mcp_runtime_util::{BoxFuture, Mutex};

use super::body::{Body, Response};
use super::classify::{PostKind, answers, classify};
use super::error::{BoxError, HttpError};
use super::events::{Events, is_message};
use super::pending_response::PendingResponse;
use super::poster::{Poster, Terms};
use super::response::{EVENT_STREAM, JSON, failure};
use super::stateless;
use super::tools::KnownTools;

/// Sends a request.
type SendRequest = dyn Fn(Request<Vec<u8>>) -> BoxFuture<'static, Result<Response, HttpError>> + Send + Sync;

/// A client's connection to a server of stateless revisions over HTTP, for platforms without sockets, timers and tasks:
/// a given function sends each request. In WebAssembly, `HttpCaller::fetch` of the feature `fetch` uses the `fetch` of
/// browsers, Node and workers.
///
/// [`Client::connect_by`](mcp_runtime_core::Client::connect_by) makes a session of it. The headers of each request
/// repeat values from its body, including arguments of tools that the server's latest list of tools declares for that;
/// tools with invalid declarations are removed from the list. If the server reports that the headers of a call are
/// wrong, the tools are listed again, and the call is repeated once.
///
/// A call whose POST gets an error status fails with [`CallError::Http`], which contains the server's authorization
/// challenges. Other failures are [`CallError::Transport`] with an [`HttpError`], or [`CallError::Cut`] if the response
/// breaks off.
///
/// The function adds anything else that its requests need, such as a token. If it follows redirects, it mustn't send
/// the token to another origin. When the future of a call is dropped, the future of its request or the body of its
/// response is dropped too. That has to abort the HTTP request: it is how the server learns that the call is cancelled.
///
/// ```
/// use std::convert::Infallible;
///
/// use mcp_runtime::http::Request;
/// use mcp_runtime::transport::http::client::HttpCaller;
/// use mcp_runtime::transport::http::server::HttpFunction;
/// use mcp_runtime::{Client, Router};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let weather = Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny");
/// let server = HttpFunction::new(weather);
///
/// let caller = HttpCaller::new("https://weather.example/mcp", move |request: Request<Vec<u8>>| {
///     let server = server.clone();
///     async move {
///         let response = server.respond(request).await;
///         Ok::<_, Infallible>(response.map(|body| String::from_utf8_lossy(&body).into_owned()))
///     }
/// })?;
/// let session = Client::new("app", "1.0").connect_by(caller).await?;
/// assert_eq!(session.list_tools().await?[0].name, "weather");
/// # Ok(())
/// # }
/// ```
pub struct HttpCaller {
    url: Uri,
    send: Box<SendRequest>,
    message_bytes: usize,
    extensions: Vec<Extension>,
    tools: Mutex<KnownTools>,
}

impl HttpCaller {
    /// Creates a caller of the server at this URL. Nothing is sent yet.
    ///
    /// # Errors
    /// When it isn't an HTTP or HTTPS URL.
    pub fn new<F, R, B, E>(url: &str, send: F) -> Result<Self, HttpError>
    where
        F: Fn(Request<Vec<u8>>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<http::Response<B>, E>> + Send + 'static,
        B: http_body::Body<Error: Into<BoxError>> + Send + 'static,
        E: Into<BoxError>,
    {
        let address = || HttpError::Address(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| address())?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(address());
        }
        Ok(Self {
            url: uri,
            send: Box::new(move |request| {
                let sent = send(request);
                Box::pin(async move {
                    let response = sent.await.map_err(|error| HttpError::Send(error.into()))?;
                    Ok(response.map(|body| Body::new(body, |error| HttpError::Body(error.into()))))
                })
            }),
            message_bytes: 16 << 20,
            extensions: Vec::new(),
            tools: Mutex::default(),
        })
    }

    /// Sets the maximum bytes of a message. A call with a larger response fails. The default is 16 MiB.
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Adds an extension of the protocol, whose requests have headers that repeat their parameters.
    #[must_use]
    pub fn extension(mut self, extension: Extension) -> Self {
        self.extensions.push(extension);
        self
    }
}

impl Exchange for HttpCaller {
    async fn exchange(&self, message: Vec<u8>, inbox: Inbox) -> Result<(), CallError> {
        let call = Call { caller: self, inbox };
        match classify(&message) {
            PostKind::Stateless(id, revision) | PostKind::Listen(id, revision) => {
                Ok(stateless::exchange(&call, &id, revision, message).await?)
            }
            kind => Ok(call.notify(&kind, message).await?),
        }
    }
}

/// A message that is being sent.
struct Call<'c> {
    caller: &'c HttpCaller,
    inbox: Inbox,
}

impl Call<'_> {
    /// Sends a message that has no response.
    async fn notify(&self, kind: &PostKind, json: Vec<u8>) -> Result<(), HttpError> {
        let revision = self.inbox.revision();
        let cancels_by_closing = revision.is_some_and(|revision| revision.facts().cancels_by_closing);
        if matches!(kind, PostKind::Cancelled(_)) && cancels_by_closing {
            // The HTTP request has already been aborted, when the future of the call was dropped.
            return Ok(());
        }
        let mirrors = revision.map(|revision| self.terms().mirrors(revision, &json));
        let response = self.post_with(mirrors.unwrap_or_default(), json).await?;
        match response.status().is_success() {
            true => Ok(()),
            false => Err(failure(response, false).await.into()),
        }
    }
}

impl Poster for Call<'_> {
    async fn post_with(&self, mirrors: HeaderMap, json: Vec<u8>) -> Result<Response, HttpError> {
        let mut request = Request::post(&self.caller.url)
            .header(CONTENT_TYPE, JSON)
            .header(ACCEPT, format!("{JSON}, {EVENT_STREAM}"))
            .body(json)
            .map_err(|_| HttpError::Address(self.caller.url.to_string()))?;
        request.headers_mut().extend(mirrors);
        (self.caller.send)(request).await
    }

    async fn deliver(&self, json: Vec<u8>) {
        self.inbox.deliver(&json).await;
    }

    async fn follow(&self, response: Response, pending: &PendingResponse<'_>) -> Result<(), HttpError> {
        let limit = self.caller.message_bytes;
        let mut events = Events::new(response, limit);
        while let Some(event) = events.next().await {
            if event.oversized {
                return Err(HttpError::TooLarge(limit));
            }
            if !is_message(&event) {
                continue;
            }
            if answers(&event.data, pending.id) {
                self.deliver(pending.take(&self.caller.tools, event.data)).await;
                return Ok(());
            }
            self.deliver(event.data).await;
        }
        Err(HttpError::MissingResponse)
    }

    fn terms(&self) -> Terms<'_> {
        Terms {
            extensions: &self.caller.extensions,
            tools: &self.caller.tools,
            message_bytes: self.caller.message_bytes,
            timeout: None,
        }
    }
}

impl fmt::Debug for HttpCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCaller")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}
