//! A server that checks tokens.

use axum::http::HeaderMap;
use jsonwebtoken::{Algorithm, EncodingKey};
use mcp_runtime::auth::{Authorizer, JwtValidator, ProtectedResource, Scopes, TokenInfo};
use mcp_runtime::router::Extension;
use mcp_runtime::transport::Principal;
use mcp_runtime::transport::http::client::reqwest::{self, Response};
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::{Era, Options, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::auth::issuer::{issue, metadata};
use crate::auth::script::{Reply, Server};
use crate::auth::signer::{Signer, claims, now, with};
use crate::auth::test_servers::{TestServers, call, connect_to};
use crate::auth::user::Browser;

/// Our server, and an issuer of tokens for it.
pub struct Protected {
    pub url: String,
    pub issuer: Server,
    pub signer: Signer,
}

/// The principal of the caller, as a tool sees it.
async fn who(Principal(principal): Principal, Extension(info): Extension<TokenInfo>, headers: HeaderMap) -> String {
    assert!(!headers.contains_key("authorization"));
    assert_eq!(info.principal(), principal);
    assert_eq!(info.client_id.as_deref(), Some("a client"));
    principal
}

impl Protected {
    pub async fn start() -> Self {
        Self::with(|resource| resource).await
    }

    /// Starts a server whose protected resource is configured by `protect`.
    pub async fn with(protect: impl FnOnce(ProtectedResource) -> ProtectedResource) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let issuer = Server::start().await;
        let signer = Signer::new("key-1");
        issuer.document("/.well-known/oauth-authorization-server", metadata(&issuer.url));
        issuer.document("/jwks", signer.jwks());
        let resource = ProtectedResource::new(&url, &issuer.url, JwtValidator::new(&issuer.url, &url))
            .required_scopes("basic")
            .tool_scopes("hello", "write");
        let app = HttpServer::from_fn(|transport, _| {
            let server = Router::new("protected", "1.0")
                .tool("hello", "Greets", || "hello")
                .tool("who", "Says who", who);
            server.serve(Options::default(), transport);
        })
        .protect(protect(resource))
        .json_only(true);
        tokio::spawn(serve(listener, app).into_future());
        Self { url, issuer, signer }
    }

    pub fn claims(&self, scope: &str) -> Value {
        claims(&self.issuer.url, &self.url, "alice", scope)
    }

    pub fn token(&self, scope: &str) -> String {
        self.signer.sign(&self.claims(scope))
    }

    /// Posts a message with a token.
    async fn post(&self, token: Option<&str>, session: Option<&str>, body: &str) -> Response {
        let mut request = reqwest::Client::new().post(&self.url).body(body.to_owned());
        request = request.header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        request.send().await.unwrap()
    }

    /// The status and the challenge of the response to a ping with a token.
    pub async fn refusal(&self, token: Option<&str>) -> (u16, String) {
        challenged(&self.post(token, Some("none"), &message("ping", json!({}))).await)
    }
}

pub fn challenged(response: &Response) -> (u16, String) {
    let challenge = response.headers().get("www-authenticate");
    let challenge = challenge.map(|challenge| challenge.to_str().unwrap().to_owned());
    (response.status().as_u16(), challenge.unwrap_or_default())
}

pub fn message(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

fn initialize() -> String {
    let client = json!({"name": "client", "version": "1.0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    message("initialize", params)
}

#[tokio::test]
async fn requests_without_a_token_are_refused_with_the_url_of_the_metadata() {
    let server = Protected::start().await;
    let (status, challenge) = server.refusal(None).await;
    let place = server.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(status, 401);
    assert_eq!(
        challenge,
        format!("Bearer resource_metadata=\"{place}\", scope=\"basic\"")
    );
    let metadata: Value = serde_json::from_str(&reqwest::get(place).await.unwrap().text().await.unwrap()).unwrap();
    let expected = json!({
        "resource": server.url,
        "authorization_servers": [server.issuer.url],
        "scopes_supported": ["basic"],
        "bearer_methods_supported": ["header"],
    });
    assert_eq!(metadata, expected);
    // Streams and the deletion of a session need a token too.
    for method in [reqwest::Method::GET, reqwest::Method::DELETE] {
        let request = reqwest::Client::new().request(method, &server.url);
        assert_eq!(request.send().await.unwrap().status(), 401);
    }
    let stream = reqwest::get(server.url.replace("/mcp", "/sse")).await.unwrap();
    assert_eq!(stream.status(), 401);
    // A token in the URL isn't accepted.
    let request = reqwest::Client::new().post(format!("{}?access_token={}", server.url, server.token("basic")));
    assert_eq!(request.send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn tokens_with_wrong_missing_or_expired_claims_are_refused() {
    let server = Protected::start().await;
    let good = || server.claims("basic");
    let bad = [
        ("aud", json!("https://other.example/mcp"), "for another audience"),
        ("aud", json!([]), "for another audience"),
        ("aud", Value::Null, "lacks a claim"),
        ("iss", json!("https://other.example"), "of another issuer"),
        ("iss", Value::Null, "lacks a claim"),
        ("exp", json!(now() - 100), "has expired"),
        ("exp", Value::Null, "lacks a claim"),
        ("nbf", json!(now() + 100), "isn't valid yet"),
        ("cnf", json!({"jkt": "x"}), "bound to a key"),
    ];
    for (name, value, why) in bad {
        let token = server.signer.sign(&with(good(), name, value));
        let (status, challenge) = server.refusal(Some(&token)).await;
        assert_eq!(status, 401, "{name}");
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains(why),
            "{name}: {challenge}"
        );
        assert!(!challenge.contains(&token));
    }
    let nobody = with(with(good(), "sub", Value::Null), "client_id", Value::Null);
    assert_eq!(server.refusal(Some(&server.signer.sign(&nobody))).await.0, 401);
    // This server is one of several audiences.
    let token = server
        .signer
        .sign(&with(good(), "aud", json!(["https://other.example", server.url])));
    assert_eq!(server.refusal(Some(&token)).await.0, 404);
}

#[tokio::test]
async fn only_signatures_of_the_issuer_are_accepted() {
    let server = Protected::start().await;
    let good = server.claims("basic");
    let other = Signer::new("key-1").sign(&good);
    assert!(
        server
            .refusal(Some(&other))
            .await
            .1
            .contains("the signature of the token is wrong")
    );
    // The public key isn't a shared secret.
    let public = serde_json::to_string(&server.signer.public()).unwrap();
    let mut header = server.signer.header();
    header.alg = Algorithm::HS256;
    let confused = jsonwebtoken::encode(&header, &good, &EncodingKey::from_secret(public.as_bytes())).unwrap();
    assert!(
        server
            .refusal(Some(&confused))
            .await
            .1
            .contains("the algorithm of the token isn't accepted")
    );
    let token = server.signer.sign(&good);
    let (_, rest) = token.split_once('.').unwrap();
    let (claims, _) = rest.split_once('.').unwrap();
    // {"alg":"none"}
    for malformed in [
        &format!("eyJhbGciOiJub25lIn0.{claims}."),
        "a.b.c",
        "",
        &"x".repeat(20_000),
    ] {
        assert_eq!(server.refusal(Some(malformed)).await.0, 401, "{malformed}");
    }
    let mut header = server.signer.header();
    header.typ = Some("dpop+jwt".to_owned());
    let proof = jsonwebtoken::encode(&header, &good, &server.signer.key).unwrap();
    assert!(server.refusal(Some(&proof)).await.1.contains("of another type"));
    assert_eq!(server.refusal(Some(&token)).await.0, 404);
}

#[tokio::test]
async fn a_token_whose_issuer_subject_or_client_is_not_a_string_is_refused() {
    let server = Protected::start().await;
    let issuer = &server.issuer.url;
    for (name, value) in [
        ("iss", json!([issuer])),
        ("iss", json!([issuer, "https://other.example"])),
        ("sub", json!(["alice"])),
        ("sub", json!(1)),
        ("client_id", json!({})),
    ] {
        let token = server.signer.sign(&with(server.claims("basic"), name, value));
        let (status, challenge) = server.refusal(Some(&token)).await;
        assert_eq!(status, 401, "{name}");
        assert!(challenge.contains("error=\"invalid_token\""), "{name}: {challenge}");
    }
}

#[tokio::test]
async fn requests_and_calls_without_the_required_scopes_are_refused() {
    let server = Protected::start().await;
    let (status, challenge) = server.refusal(Some(&server.token("other"))).await;
    assert_eq!(status, 403);
    assert!(
        challenge.contains("error=\"insufficient_scope\"") && challenge.contains("scope=\"basic\""),
        "{challenge}"
    );
    // Scopes can be an array too.
    let array = with(with(server.claims(""), "scope", Value::Null), "scp", json!(["basic"]));
    assert_eq!(server.refusal(Some(&server.signer.sign(&array))).await.0, 404);

    let token = server.token("basic");
    let calls = [
        message("tools/call", json!({"name": "hello"})),
        json!([{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "hello"}}]).to_string(),
        // A call whose tool can't be determined needs the scopes of all tools.
        message("tools/call", json!({"name": ["hello"]})),
        message("tools/call", json!({})),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who","name":"hello"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello","name":"who"}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"h\u0065llo"}}"#.to_owned(),
    ];
    for call in calls {
        let refused = challenged(&server.post(Some(&token), Some("none"), &call).await);
        assert_eq!(refused.0, 403, "{call}");
        assert!(refused.1.contains("scope=\"basic write\""), "{}", refused.1);
        // So that the client doesn't have to ask its user a second time.
        for token in ["", "write"] {
            let refused = challenged(&server.post(Some(&server.token(token)), Some("none"), &call).await);
            assert_eq!(refused.0, 403, "{call}");
            assert!(refused.1.contains("scope=\"basic write\""), "{}", refused.1);
        }
        let permitted = server
            .post(Some(&server.token("basic write")), Some("none"), &call)
            .await;
        assert_eq!(permitted.status(), 404, "{call}");
    }
    // In HTTP with SSE as well.
    let messages = server.url.replace("/mcp", "/messages?sessionId=none");
    for (scopes, status) in [("basic", 403), ("basic write", 404)] {
        let request = reqwest::Client::new()
            .post(&messages)
            .header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", server.token(scopes)));
        let call = message("tools/call", json!({"name": "hello"}));
        assert_eq!(request.body(call).send().await.unwrap().status(), status);
    }
    let other = message("tools/call", json!({"name": "who"}));
    assert_eq!(server.post(Some(&token), Some("none"), &other).await.status(), 404);
}

#[tokio::test]
async fn a_session_can_be_used_only_by_the_subject_that_started_it() {
    let server = Protected::start().await;
    let alice = server.token("basic");
    let begun = server.post(Some(&alice), None, &initialize()).await;
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let begun = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
    server.post(Some(&alice), Some(&session), &begun).await;
    let ask = message("tools/call", json!({"name": "who", "arguments": {}}));
    // Another token of the same subject is accepted too.
    let renewed = server
        .signer
        .sign(&with(server.claims("basic write"), "jti", json!("2")));
    for token in [&alice, &renewed] {
        let answer = server.post(Some(token), Some(&session), &ask).await;
        let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let expected = format!("{} alice", server.issuer.url);
        assert_eq!(answer["result"]["content"][0]["text"], expected, "{answer}");
    }
    let bob = server
        .signer
        .sign(&with(server.claims("basic write"), "sub", json!("bob")));
    assert_eq!(server.post(Some(&bob), Some(&session), &ask).await.status(), 404);
    assert_eq!(server.post(None, Some(&session), &ask).await.status(), 401);
}

#[tokio::test]
async fn our_client_is_authorized_for_our_server() {
    for era in [Era::Stateless, Era::Handshake] {
        let server = Protected::start().await;
        issue(&server);
        let user = Browser::default();
        let options = Options {
            era: Some(era),
            ..Options::default()
        };
        let session = connect_to(&server.url, Authorizer::interactive(user.clone()), options)
            .await
            .unwrap();
        // The tool needs another scope.
        call(&session).await.unwrap();
        assert_eq!(user.asked(), 2);
        let scopes = server
            .issuer
            .seen("GET /authorize")
            .into_iter()
            .map(|request| request.query("scope").unwrap());
        assert_eq!(scopes.collect::<Vec<_>>(), ["basic", "basic write"]);
        session.close().await;
    }
}

#[tokio::test]
async fn a_token_for_one_server_is_not_accepted_by_another() {
    let (server, other) = (Protected::start().await, TestServers::new().await);
    issue(&server);
    // The other server's metadata claim the first server's resource.
    let mut metadata = other.resource();
    metadata["resource"] = json!(server.url);
    metadata["authorization_servers"] = json!([server.issuer.url]);
    other
        .mcp
        .document("/.well-known/oauth-protected-resource/mcp", metadata);
    assert!(other.error().await.contains("isn't part of"));
    other.on_mcp(|_| Reply::Next);
    assert!(server.issuer.seen("POST /token").is_empty());
    // And one for the other server is refused.
    let token = server
        .signer
        .sign(&with(server.claims("basic"), "aud", json!(other.endpoint())));
    assert_eq!(server.refusal(Some(&token)).await.0, 401);
}

#[test]
fn algorithms_without_a_public_key_are_refused() {
    let validator = || JwtValidator::new("https://login.example", "https://mcp.example/mcp");
    assert!(validator().algorithms(&["ES256", "EdDSA"]).is_ok());
    assert!(validator().algorithms(&["HS256"]).is_err());
    assert!(validator().algorithms(&["none"]).is_err());
    let info = TokenInfo::new("https://login.example", "alice").with_scopes("a b");
    assert!(info.scopes.includes(&Scopes::from("b")));
}
