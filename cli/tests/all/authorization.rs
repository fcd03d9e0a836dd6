//! Servers that require a token.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use axum::Form;
use axum::extract::Query;
use axum::response::{Json, Redirect};
use axum::routing::{get, post};
use mcp_runtime::auth::{BoxFuture, ProtectedResource, TokenError, TokenInfo, TokenValidator};
use mcp_runtime::transport::http::client::reqwest;
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Options, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::servers::{mcp_rev, run, stderr};

struct OneToken;

impl TokenValidator for OneToken {
    fn validate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<TokenInfo, TokenError>> {
        let info = match token {
            "good" => Ok(TokenInfo::new("issuer", "user")),
            _ => Err(TokenError::Invalid("the token is wrong")),
        };
        Box::pin(std::future::ready(info))
    }
}

type Parameters = HashMap<String, String>;

async fn token(Form(form): Form<Parameters>) -> Json<Value> {
    let is_known = form.get("code").is_some_and(|code| code == "a-code")
        || form.get("client_secret").is_some_and(|secret| secret == "a secret");
    Json(match is_known {
        true => json!({"access_token": "good", "token_type": "Bearer"}),
        false => json!({"access_token": "bad", "token_type": "Bearer"}),
    })
}

async fn authorize(Query(query): Query<Parameters>) -> Redirect {
    let (to, state) = (&query["redirect_uri"], &query["state"]);
    Redirect::to(&format!("{to}?code=a-code&state={state}"))
}

/// Serves a protected server that is also its own authorization server, and returns its URL.
fn protected(runtime: &Runtime) -> String {
    let listener = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let url = format!("{issuer}/mcp");
    let metadata = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
    });
    let server = HttpServer::from_fn(|transport, _| {
        let server = Router::new("protected", "1.0").tool("hello", "Greets", || "hello");
        server.serve(Options::default(), transport);
    });
    let server = server.protect(ProtectedResource::new(&url, &issuer, OneToken));
    let app = server
        .app()
        .route("/.well-known/oauth-authorization-server", get(async || Json(metadata)))
        .route("/register", post(async || Json(json!({"client_id": "registered"}))))
        .route("/authorize", get(authorize))
        .route("/token", post(token));
    runtime.spawn(serve(listener, app).into_future());
    url
}

#[test]
fn a_client_uses_its_own_credentials_or_lets_the_user_log_in_once() {
    let runtime = Runtime::new().unwrap();
    let url = protected(&runtime);
    let refused = run(&["call", "hello", &url]);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        stderr(&refused).contains("401") && stderr(&refused).contains("--auth"),
        "{}",
        stderr(&refused)
    );

    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let (secret, tokens) = (file("secret"), file("tokens.json"));
    std::fs::write(&secret, "a wrong secret\n").unwrap();
    let own = [
        "call",
        "hello",
        "--auth=client",
        "--client-id",
        "me",
        "--issuer",
        url.trim_end_matches("/mcp"),
        "--client-secret",
        &secret,
        "--tokens",
        &tokens,
    ];
    // The token of the authorization server is refused.
    let refused = stderr(&run(&[&own[..], &[&url]].concat()));
    assert!(refused.contains("401") && !refused.contains("tip"), "{refused}");
    std::fs::write(&secret, "a secret\n").unwrap();
    std::fs::remove_file(&tokens).unwrap();
    let called = run(&[&own[..], &[&url]].concat());
    assert_eq!(
        String::from_utf8_lossy(&called.stdout),
        "hello\n",
        "{}",
        stderr(&called)
    );
    std::fs::remove_file(&tokens).unwrap();

    let unused = runtime.block_on(TcpListener::bind(("127.0.0.1", 0))).unwrap();
    let redirect = format!("http://localhost:{}/done", unused.local_addr().unwrap().port());
    drop(unused);
    let mut asks = mcp_rev(&[
        "call",
        "hello",
        "--auth",
        "--redirect-uri",
        &redirect,
        "--tokens",
        &tokens,
        &url,
    ]);
    let mut asks = asks.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(asks.stderr.take().unwrap()).lines().map(Result::unwrap);
    let page = lines.find(|line| line.starts_with("http")).unwrap();
    let page = reqwest::Url::parse(&page).unwrap();
    let mut parameters = page.query_pairs();
    assert!(parameters.any(|(name, value)| name == "redirect_uri" && *value == *redirect));
    assert_eq!(runtime.block_on(reqwest::get(page)).unwrap().status(), 200);
    let called = asks.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&called.stdout), "hello\n");

    // The token was stored.
    let again = run(&["call", "hello", "--auth", "--tokens", &tokens, &url]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), "hello\n");
    assert_eq!(stderr(&again), "");
}

#[test]
fn wrong_arguments_are_refused() {
    for wrong in [
        &["inspect", "--auth", "--", "server"][..],
        &["inspect", "--client-id", "me", "http://127.0.0.1:1/mcp"],
        &["inspect", "--auth=client", "http://127.0.0.1:1/mcp"],
        &[
            "inspect",
            "--auth",
            "--redirect-uri",
            "http://example.org/",
            "http://127.0.0.1:1/mcp",
        ],
        // A client id without its issuer: any server could obtain the secret.
        &[
            "inspect",
            "--auth=client",
            "--client-id",
            "me",
            "http://127.0.0.1:1/mcp",
        ],
        &[
            "inspect",
            "--auth",
            "--client-id",
            "me",
            "--issuer",
            "http://127.0.0.1:1",
            "--client-secret",
            "/none",
            "http://127.0.0.1:1/mcp",
        ],
    ] {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
