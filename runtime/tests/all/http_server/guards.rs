//! Requests that a guard accepts or refuses.

use mcp_runtime::http::request::Parts;
use mcp_runtime::http::{HeaderMap, HeaderValue, StatusCode};
use mcp_runtime::router::Extension;
use mcp_runtime::transport::Principal;
use mcp_runtime::transport::http::server::{Guard, GuardFuture, HttpServer, Refusal};
use mcp_runtime::{Options, Router};
use serde_json::json;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;
use crate::http_server::stateless::{alone, stateless};

/// The key in a header is the name of the client. Nobody may call the tool `forbidden`.
struct Keys;

impl Guard for Keys {
    fn check<'a>(&'a self, request: &'a mut Parts) -> GuardFuture<'a> {
        Box::pin(async {
            let headers = HeaderMap::from_iter([("x-checked".parse().unwrap(), HeaderValue::from_static("yes"))]);
            let Some(key) = request.headers.remove("x-api-key") else {
                return Err(Refusal::new(StatusCode::UNAUTHORIZED, "A key is required").with_headers(headers));
            };
            let owner = key.to_str().unwrap().to_owned();
            request.extensions.insert(Principal(owner));
            Ok(headers)
        })
    }

    fn check_body(&self, _: &Parts, json: &[u8]) -> Result<(), Refusal> {
        match String::from_utf8_lossy(json).contains("forbidden") {
            true => Err(Refusal::new(StatusCode::FORBIDDEN, "Nobody may call this")),
            false => Ok(()),
        }
    }

    fn document(&self) -> Option<(String, Vec<u8>)> {
        Some(("/.well-known/keys".to_owned(), br#"{"keys":"ask us"}"#.to_vec()))
    }
}

/// The principal, and whether the request still has the key.
fn who(Principal(principal): Principal, Extension(request): Extension<Parts>) -> String {
    format!("{principal} {}", request.headers.contains_key("x-api-key"))
}

async fn guarded() -> TestServer {
    let router = Router::new("guarded", "1.0").tool("who", "Tells who calls", who);
    let server = HttpServer::with_options(router, Options::default());
    serve_app(server.protect(Keys), Seen::default(), |serve| serve).await
}

async fn call(server: &TestServer, tool: &str, key: Option<&str>) -> Answer {
    let body = alone(1, "tools/call", json!({"name": tool, "arguments": {}})).to_string();
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", BOTH),
        ("mcp-protocol-version", stateless()),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    headers.extend(key.map(|key| ("x-api-key", key)));
    server.send("POST", "/mcp", &headers, body.as_bytes()).await
}

#[tokio::test]
async fn a_request_that_the_guard_refuses_gets_its_status_headers_and_message() {
    let server = guarded().await;
    let mut answer = call(&server, "who", None).await;
    assert_eq!((answer.status, answer.header("x-checked")), (401, Some("yes")));
    let body = answer.whole().await;
    assert!(body.contains("A key is required"), "{body}");

    let mut answer = call(&server, "forbidden", Some("alice")).await;
    assert_eq!(answer.status, 403);
    let body = answer.whole().await;
    assert!(body.contains("Nobody may call this"), "{body}");
}

#[tokio::test]
async fn a_handler_sees_the_principal_of_the_guard_and_no_credentials() {
    let server = guarded().await;
    let mut answer = call(&server, "who", Some("alice")).await;
    assert_eq!((answer.status, answer.header("x-checked")), (200, Some("yes")));
    let body = answer.whole().await;
    assert!(body.contains("alice false"), "{body}");
}

#[tokio::test]
async fn the_document_of_a_guard_is_served_without_a_check() {
    let server = guarded().await;
    let mut answer = server.send("GET", "/.well-known/keys", &[], b"").await;
    assert_eq!(
        (answer.status, answer.whole().await.as_str()),
        (200, r#"{"keys":"ask us"}"#)
    );
    assert_eq!(server.send("POST", "/.well-known/keys", &[], b"").await.status, 405);
}
