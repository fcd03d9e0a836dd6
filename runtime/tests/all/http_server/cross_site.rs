//! Requests of web pages: allowed and foreign origins, preflights and fetch metadata.

use std::sync::atomic::Ordering;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use mcp_runtime::transport::http::server::HttpServer;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;

const PAGE: (&str, &str) = ("origin", "https://app.example");
const FOREIGN: (&str, &str) = ("origin", "https://evil.example");

fn for_page(server: HttpServer) -> HttpServer {
    server.allow_origin(PAGE.1)
}

/// Sends the preflight request that a browser sends before a page's POST.
async fn preflight(server: &TestServer, origin: (&str, &str)) -> Answer {
    let headers = [
        origin,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type,mcp-session-id",
        ),
    ];
    server.send("OPTIONS", "/mcp", &headers, b"").await
}

#[tokio::test]
async fn a_page_of_an_allowed_origin_can_call() {
    let server = serve(for_page).await;
    let asked = preflight(&server, PAGE).await;
    assert_eq!(asked.status, 200);
    assert_eq!(asked.header("access-control-allow-origin"), Some(PAGE.1));
    assert_eq!(asked.header("access-control-allow-methods"), Some("GET,POST,DELETE"));
    assert_eq!(
        asked.header("access-control-allow-headers"),
        Some("authorization,content-type,mcp-session-id")
    );
    let headers = [PAGE, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")];
    let answer = server.post_with(&headers, &initialize(hub())).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE.1));
    let exposed = answer.header("access-control-expose-headers").unwrap();
    assert!(exposed.split(',').any(|name| name == "mcp-session-id"), "{exposed}");
    assert_eq!(answer.session().len(), 32);
}

#[tokio::test]
async fn preflights_and_requests_of_a_foreign_origin_are_refused() {
    let server = serve(for_page).await;
    let asked = preflight(&server, FOREIGN).await;
    let answer = server.post_with(&[FOREIGN], &initialize(hub())).await;
    for refused in [asked, answer] {
        assert_eq!(refused.status, 403);
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.seen.started.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn requests_of_other_sites_without_an_origin_are_refused() {
    let server = serve(for_page).await;
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("same-origin", 200),
        ("none", 200),
    ] {
        let site = ("sec-fetch-site", site);
        let stream = server.send("GET", "/sse", &[EVENTS, site], b"").await;
        assert_eq!(stream.status, status, "{site:?}");
        let answer = server.post_with(&[site], &initialize(hub())).await;
        assert_eq!(answer.status, status, "{site:?}");
    }
}

#[tokio::test]
async fn http_with_sse_takes_any_media_range_that_includes_event_streams() {
    let server = serve(|server| server).await;
    for accept in ["text/event-stream;q=0", "image/*"] {
        let refused = server.send("GET", "/sse", &[("accept", accept)], b"").await;
        assert_eq!(refused.status, 406, "{accept}");
    }
    assert_eq!(server.seen.started.load(Ordering::SeqCst), 0);
    for accept in ["text/event-stream", "text/*", "*/*"] {
        let stream = server.send("GET", "/sse", &[("accept", accept)], b"").await;
        assert_eq!(stream.status, 200, "{accept}");
    }
}

#[tokio::test]
async fn http_with_sse_takes_clients_without_an_accept_header() {
    let server = serve(|server| server).await;
    let mut stream = server.send("GET", "/sse", &[], b"").await;
    assert_eq!(stream.status, 200);
    assert!(stream.event().await.is_some(), "the stream names the endpoint");
}

#[tokio::test]
async fn http_with_sse_refuses_requests_of_page_elements_and_navigations() {
    let server = serve(|server| server).await;
    let image = ("accept", "image/avif,image/webp,image/*,*/*;q=0.8");
    for (mode, status) in [
        ("no-cors", 403),
        ("navigate", 403),
        ("websocket", 403),
        ("cors", 200),
        ("same-origin", 200),
    ] {
        for accept in [image, EVENTS] {
            let headers = [accept, ("sec-fetch-mode", mode), ("sec-fetch-site", "same-origin")];
            let stream = server.send("GET", "/sse", &headers, b"").await;
            assert_eq!(stream.status, status, "{mode} {accept:?}");
        }
    }
    assert_eq!(server.seen.started.load(Ordering::SeqCst), 4);
}

async fn unauthorized(_: Request, _: Next) -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::UNAUTHORIZED;
    response
}

#[tokio::test]
async fn a_page_can_read_the_response_of_an_authentication_layer() {
    let server = for_page(HttpServer::from_fn(|_, _| {}));
    let cors = server.cors();
    let app = server.app().layer(from_fn(unauthorized)).layer(cors);
    let server = serve_app(app, Seen::default(), |serve| serve).await;
    assert_eq!(preflight(&server, PAGE).await.status, 200);
    let answer = server.post_with(&[PAGE], &initialize(hub())).await;
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE.1));
    let foreign = preflight(&server, FOREIGN).await;
    assert_eq!(foreign.header("access-control-allow-origin"), None);
}
