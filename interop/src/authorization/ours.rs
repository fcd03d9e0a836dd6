//! Our server, which accepts the tokens of an issuer.

use std::io;
use std::sync::{Arc, Mutex};

use mcp_runtime::auth::{BoxFuture, Dpop, JwtValidator, ProtectedResource, TokenError, TokenInfo, TokenValidator};
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Options, Router};
use tokio::net::TcpListener;

/// Our server. It runs until this program ends.
pub struct Ours {
    pub url: String,
    revoked: Arc<Mutex<Vec<String>>>,
}

impl Ours {
    /// Refuses a token from now on.
    pub fn revoke(&self, token: &str) {
        self.revoked
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push(token.to_owned());
    }
}

/// A validator that accepts the tokens of an issuer except revoked ones.
struct Revocable {
    inner: JwtValidator,
    revoked: Arc<Mutex<Vec<String>>>,
}

impl TokenValidator for Revocable {
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<TokenInfo, TokenError>> {
        let revoked = self.revoked.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match revoked.iter().any(|its| its == token) {
            true => Box::pin(std::future::ready(Err(TokenError::Invalid("the token was revoked")))),
            false => self.inner.validate(token),
        }
    }
}

/// Starts the server.
pub async fn start(issuer: &str) -> io::Result<Ours> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let revoked: Arc<Mutex<Vec<String>>> = Arc::default();
    let validator = Revocable {
        inner: JwtValidator::new(issuer, &url),
        revoked: revoked.clone(),
    };
    let resource = ProtectedResource::new(&url, issuer, validator)
        .dpop(Dpop::new())
        .required_scopes("basic")
        .tool_scopes("write", "write");
    let app = HttpServer::from_fn(|transport, _| {
        let server = Router::new("protected", "1.0")
            .tool("hello", "Greets", || "hello")
            .tool("write", "Needs another scope", || "written");
        server.serve(Options::default(), transport);
    })
    .protect(resource);
    tokio::spawn(serve(listener, app).into_future());
    Ok(Ours { url, revoked })
}
