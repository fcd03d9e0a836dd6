//! Authorization of the requests to a server.

use std::error::Error;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};
use mcp_runtime_util::BoxFuture;

/// Checks the requests to a server, such as their tokens: a `ProtectedResource` of `mcp-runtime-auth`, or a check of
/// your own.
///
/// ```
/// use mcp_runtime::Router;
/// use mcp_runtime::transport::Principal;
/// use mcp_runtime::transport::http::server::{Guard, GuardFuture, HttpServer, Refusal};
/// use mcp_runtime::http::{HeaderMap, StatusCode, request::Parts};
///
/// /// Clients have a key in a header.
/// struct Keys;
///
/// impl Guard for Keys {
///     fn check<'a>(&'a self, request: &'a mut Parts) -> GuardFuture<'a> {
///         Box::pin(async {
///             let key = request.headers.remove("x-api-key");
///             if key.is_none_or(|key| key != "a secret") {
///                 return Err(Refusal::new(StatusCode::UNAUTHORIZED, "A key is required"));
///             }
///             request.extensions.insert(Principal("the owner of the key".to_owned()));
///             Ok(HeaderMap::new())
///         })
///     }
/// }
///
/// let server = HttpServer::new(Router::new("notes", "1.0")).protect(Keys);
/// # let _ = server;
/// ```
pub trait Guard: Send + Sync + 'static {
    /// Checks a request, and returns headers for the response.
    ///
    /// It removes credentials from the headers, which handlers see, and puts the identity that they prove into the
    /// extensions. Sessions belong to the [`Principal`](mcp_runtime_core::transport::Principal) there, unless
    /// `HttpServer::principal` determines another one.
    fn check<'a>(&'a self, request: &'a mut Parts) -> GuardFuture<'a>;

    /// Checks the body of a POST whose head has passed [`check`](Self::check). By default every body is accepted.
    ///
    /// # Errors
    /// The response, if the client isn't allowed to send this body.
    fn check_body(&self, request: &Parts, json: &[u8]) -> Result<(), Refusal> {
        let _ = (request, json);
        Ok(())
    }

    /// The path and the JSON of a document that is served without a check, such as the metadata of a protected
    /// resource. A server calls this once.
    fn document(&self) -> Option<(String, Vec<u8>)> {
        None
    }
}

/// The result of a check: headers for the response if the request has passed, or else the response that refuses it.
pub type GuardFuture<'a> = BoxFuture<'a, Result<HeaderMap, Refusal>>;

/// The response to a request that a [`Guard`] refuses.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The message of the error in its body.
    pub message: String,
    /// Additional headers.
    pub headers: Box<HeaderMap>,
}

impl Refusal {
    /// A response with this status, and a message for the log of the client.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            headers: Box::default(),
        }
    }

    /// Adds headers, such as a challenge.
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.headers.extend(headers);
        self
    }
}

/// The original URI of a request, in its extensions, if the server is nested in another service that has removed a
/// prefix from the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalUri(pub Uri);

/// Remembers the DPoP proofs (proofs that clients possess their keys) that have been used, so that none is accepted
/// twice. It is set by `Dpop::store` of `mcp-runtime-auth`.
pub trait ProofStore: Send + Sync + 'static {
    /// Adds a proof, which has to be remembered for this time; `false` if it is already in the store.
    ///
    /// `key` is the thumbprint of the key that has signed it, and `id` a digest of its id. Clients can make any number
    /// of proofs with a key, so a store needs a limit for each key.
    ///
    /// # Errors
    /// When the store can't determine whether it has the proof, or is full. The request is refused with the status 503.
    fn add<'a>(
        &'a self,
        key: &'a str,
        id: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>>;
}
