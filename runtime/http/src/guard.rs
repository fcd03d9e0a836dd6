//! What a server asks before it reads a request.

use std::error::Error;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderMap, StatusCode, Uri};
use mcp_runtime_util::BoxFuture;

/// Checks the requests to a server, such as the token in each: a `ProtectedResource` of `mcp-runtime-auth`, or a check of your own.
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
    /// It takes credentials out of the headers, which handlers see, and leaves what they say in the extensions. A
    /// [`Principal`](mcp_runtime_core::transport::Principal) there is whom sessions belong to, unless `HttpServer::principal` says otherwise.
    fn check<'a>(&'a self, request: &'a mut Parts) -> GuardFuture<'a>;

    /// Checks the body of a POST whose request has passed. By default it may be anything.
    ///
    /// # Errors
    /// The response, if the client may not send this.
    fn check_body(&self, request: &Parts, json: &[u8]) -> Result<(), Refusal> {
        let _ = (request, json);
        Ok(())
    }

    /// The path of a document that needs no check, such as the metadata of a protected resource, and its JSON. A server asks for it
    /// once.
    fn document(&self) -> Option<(String, Vec<u8>)> {
        None
    }
}

/// The headers for the response to a request that has passed, or the response to one that hasn't.
pub type GuardFuture<'a> = BoxFuture<'a, Result<HeaderMap, Refusal>>;

/// The response to a request that a [`Guard`] refuses.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The status.
    pub status: StatusCode,
    /// The message of the error in its body.
    pub message: String,
    /// More headers.
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

/// The URI of a request as it came, in its extensions, if the server is part of another service that has taken off the beginning of
/// the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalUri(pub Uri);

/// Remembers which proofs that clients have their keys have been used, so that none is used again: `Dpop::store` of `mcp-runtime-auth` takes it.
pub trait ProofStore: Send + Sync + 'static {
    /// Adds a proof, which has to be remembered for this time; `false` if it is there already.
    ///
    /// `key` is the thumbprint of the key that has signed it, and `id` a digest of its id. The clients have the keys, and make as
    /// many proofs as they like, so a store needs a limit for each key.
    ///
    /// # Errors
    /// When the store can't say whether it is there, or has no room for it. The request is refused with the status 503.
    fn add<'a>(
        &'a self,
        key: &'a str,
        id: &'a str,
        lifetime: Duration,
    ) -> BoxFuture<'a, Result<bool, Box<dyn Error + Send + Sync>>>;
}
