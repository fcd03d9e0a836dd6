//! An MCP server that requires tokens, and the authorization server that it names.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use axum::{Json, Router as App};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_runtime::auth::{AuthError, Authorizer};
use mcp_runtime::transport::http::client::{HttpClient, HttpError, HttpOptions};
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{CallError, ClientSession, ConnectError, Options, Router, hub};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::auth::script::{Reply, Seen, Server, json as reply, status, with_headers};
use crate::auth::user::Browser;

/// An MCP server and its authorization server.
pub struct TestServers {
    pub mcp: Server,
    pub auth: Server,
    pub issued: Arc<Issued>,
}

/// The tokens that the authorization server issues and the MCP server accepts.
#[derive(Default)]
pub struct Issued {
    /// The valid tokens, each with its scopes.
    pub tokens: Mutex<Vec<(String, String)>>,
    challenge: Mutex<String>,
    scope: Mutex<String>,
    count: AtomicUsize,
}

impl Issued {
    /// Issues a token with these scopes.
    fn token(&self, scope: String) -> String {
        let token = format!("token-{}", self.count.fetch_add(1, Ordering::SeqCst));
        self.tokens.lock().unwrap().push((token.clone(), scope));
        token
    }

    /// The scopes of the token of a request, if it is valid.
    pub fn scopes(&self, request: &Seen) -> Option<String> {
        let token = request.header("authorization")?.strip_prefix("Bearer ")?;
        let tokens = self.tokens.lock().unwrap();
        let found = tokens.iter().find(|(good, _)| good == token);
        found.map(|(_, scopes)| scopes.clone())
    }

    /// Revokes every token.
    pub fn revoke(&self) {
        self.tokens.lock().unwrap().clear();
    }
}

/// An application with a tool.
fn app() -> App {
    HttpServer::from_fn(|transport, _| {
        let server = Router::new("protected", "1.0").tool("hello", "Greets", || "hello");
        server.serve(Options::default(), transport);
    })
    .app()
}

impl TestServers {
    /// Starts two servers that behave correctly.
    pub async fn new() -> Self {
        let world = Self {
            mcp: Server::with(app()).await,
            auth: Server::start().await,
            issued: Arc::default(),
        };
        world
            .mcp
            .document("/.well-known/oauth-protected-resource/mcp", world.resource());
        world
            .auth
            .document("/.well-known/oauth-authorization-server", world.metadata());
        let (issued, challenge) = (world.issued.clone(), world.challenge());
        world.on_mcp(move |request| match issued.scopes(request) {
            Some(_) => Reply::Next,
            None => with_headers(401, &[("www-authenticate", challenge.clone())]),
        });
        world.authorize();
        world
    }

    /// Sets the handler of requests to the MCP endpoint.
    pub fn on_mcp(&self, handler: impl Fn(&Seen) -> Reply + Clone + Send + Sync + 'static) {
        for method in ["POST", "GET", "DELETE"] {
            self.mcp.on(&format!("{method} /mcp"), handler.clone());
        }
    }

    /// The metadata of the resource.
    pub fn resource(&self) -> Value {
        json!({"resource": self.endpoint(), "authorization_servers": [self.auth.url], "scopes_supported": ["basic"]})
    }

    /// The metadata of the authorization server.
    pub fn metadata(&self) -> Value {
        let url = &self.auth.url;
        json!({
            "issuer": url,
            "authorization_endpoint": format!("{url}/authorize"),
            "token_endpoint": format!("{url}/token"),
            "registration_endpoint": format!("{url}/register"),
            "code_challenge_methods_supported": ["plain", "S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    /// Changes the metadata of the authorization server.
    pub fn with_metadata(&self, name: &str, value: Value) {
        let mut metadata = self.metadata();
        metadata[name] = value;
        self.auth.document("/.well-known/oauth-authorization-server", metadata);
    }

    pub fn challenge(&self) -> String {
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp", self.mcp.url);
        format!("Bearer resource_metadata=\"{metadata}\"")
    }

    pub fn endpoint(&self) -> String {
        format!("{}/mcp", self.mcp.url)
    }

    /// Makes the authorization server check the code and PKCE, and grant every request.
    fn authorize(&self) {
        let (issued, issuer) = (self.issued.clone(), self.auth.url.clone());
        self.auth.on("GET /authorize", move |request| {
            *issued.challenge.lock().unwrap() = request.query("code_challenge").unwrap();
            *issued.scope.lock().unwrap() = request.query("scope").unwrap_or_default();
            let mut to = Url::parse(&request.query("redirect_uri").unwrap()).unwrap();
            let state = request.query("state").unwrap();
            let pairs = [("code", "a-code"), ("state", &state), ("iss", &issuer)];
            to.query_pairs_mut().extend_pairs(pairs);
            with_headers(302, &[("location", to.into())])
        });
        let issued = self.issued.clone();
        self.auth.on("POST /token", move |request| {
            let scope = match request.form("grant_type").as_deref() {
                Some("authorization_code") => {
                    let verifier = request.form("code_verifier").unwrap();
                    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
                    assert_eq!(*issued.challenge.lock().unwrap(), challenge);
                    assert_eq!(request.form("code").as_deref(), Some("a-code"));
                    issued.scope.lock().unwrap().clone()
                }
                Some("refresh_token") if request.form("refresh_token").as_deref() == Some("a-refresh-token") => {
                    issued.scope.lock().unwrap().clone()
                }
                Some("client_credentials") => request.form("scope").unwrap_or_default(),
                _ => {
                    let error = json!({"error": "invalid_grant", "error_description": "no\u{1b}[1m"});
                    return Reply::Response((StatusCode::BAD_REQUEST, Json(error)).into_response());
                }
            };
            let token = issued.token(scope);
            let refresh = "a-refresh-token";
            reply(
                json!({"access_token": token, "token_type": "bearer", "expires_in": "3600", "refresh_token": refresh}),
            )
        });
        self.auth.on("POST /register", |request| {
            match request.json()["redirect_uris"][0].as_str() {
                Some(_) => reply(json!({"client_id": "a client"})),
                None => status(400),
            }
        });
    }

    /// Connects a client.
    pub async fn connect(&self, authorizer: Authorizer) -> Result<ClientSession, ConnectError> {
        connect_to(&self.endpoint(), authorizer, Options::default()).await
    }

    /// Connects a client, which must fail, and returns its authorization error.
    pub async fn error(&self) -> String {
        self.error_of(&Browser::default()).await
    }

    /// The same for a client with this user.
    pub async fn error_of(&self, user: &Browser) -> String {
        let connected = self.connect(Authorizer::interactive(user.clone())).await;
        auth_error(&connected.expect_err("the client is authorized"))
    }
}

pub async fn connect_to(url: &str, authorizer: Authorizer, options: Options) -> Result<ClientSession, ConnectError> {
    let transport = HttpClient::new(url, HttpOptions::default().authorizer(authorizer)).unwrap();
    crate::common::connect_to(transport, options).await
}

/// Calls the tool.
pub async fn call(session: &ClientSession) -> Result<(), CallError> {
    use mcp_runtime::CallServer as _;
    let params = hub::CallToolRequestParams::new("hello").with_arguments(json!({}));
    session.peer().call_tool(params).await.map(drop)
}

/// The message of the authorization error that the connection failed with.
pub fn auth_error(error: &ConnectError) -> String {
    let ConnectError::Call(CallError::Transport(error)) = error else {
        panic!("{error:?}");
    };
    let Some(HttpError::Unauthorized(error)) = error.downcast_ref::<HttpError>() else {
        panic!("{error:?}");
    };
    let error = error.downcast_ref::<AuthError>().unwrap();
    error.to_string()
}
