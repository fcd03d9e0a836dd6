//! The Lambda function, with events as an API gateway sends them.

use frameworks::lambda::server;
use lambda_http::{Body, IntoResponse as _, request};
use mcp_runtime::transport::http::server::HttpServer;
use serde_json::{Value, json};
use tower_service::Service as _;

const HOST: &str = "abc.execute-api.eu-central-1.amazonaws.com";

/// Returns an event of an HTTP API (payload format 2.0) for a POST to `/mcp`.
fn event(host: &str, message: &Value) -> String {
    let headers = json!({
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "host": host,
        "mcp-method": message["method"],
        "mcp-name": message["params"]["name"],
        "mcp-protocol-version": "2026-07-28",
        "x-forwarded-for": "192.0.2.1",
        "x-forwarded-proto": "https",
    });
    let event = json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc",
            "domainName": host,
            "domainPrefix": "abc",
            "http": {"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "test"},
            "requestId": "id",
            "routeKey": "$default",
            "stage": "$default",
            "time": "12/Mar/2026:19:03:58 +0000",
            "timeEpoch": 1773342238000_i64,
        },
        "body": message.to_string(),
        "isBase64Encoded": false,
    });
    event.to_string()
}

/// Returns the status of the function's response, and its body as JSON.
async fn answer(mut server: HttpServer, event: &str) -> (u16, Value) {
    let request = request::from_str(event).unwrap();
    let Ok(response) = server.call(request).await;
    let response = response.into_response().await;
    let status = response.status().as_u16();
    let body = match response.into_body() {
        Body::Text(text) => serde_json::from_str(&text).unwrap(),
        Body::Binary(bytes) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("{other:?}"),
    };
    (status, body)
}

fn call() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1.0"},
    });
    let params = json!({"_meta": meta, "name": "weather", "arguments": {}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

#[tokio::test]
async fn a_call_in_an_event_of_an_api_gateway_is_answered() {
    let (status, body) = answer(server(HOST), &event(HOST, &call())).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["result"]["content"][0]["text"], "sunny");
}

#[tokio::test]
async fn an_event_for_another_host_is_refused() {
    let (status, body) = answer(server(HOST), &event("evil.example", &call())).await;
    assert_eq!(status, 403, "{body}");
}
