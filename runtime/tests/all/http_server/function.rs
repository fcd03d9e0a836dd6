//! The server as a function, polled without an async runtime.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mcp_runtime::http::{Method, Request, StatusCode};
use mcp_runtime::router::{Call, Router};
use mcp_runtime::transport::Principal;
use mcp_runtime::transport::http::server::HttpFunction;
use serde_json::{Value, json};

use crate::http_server::client::request;
use crate::http_server::stateless::{alone, stateless};

/// The output of a future that is ready at its first poll.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future isn't ready"),
    }
}

fn function() -> HttpFunction {
    HttpFunction::new(
        Router::new("function", "1.0").tool("who", "Who asks", |call: Call| async move {
            let _ = call.progress(1.0, None, None).await;
            call.principal()
                .map_or("nobody".to_owned(), |Principal(name)| name.clone())
        }),
    )
}

fn post(message: &Value) -> Request<Vec<u8>> {
    let mut request = Request::post("/")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", stateless());
    for (name, value) in [
        ("mcp-method", &message["method"]),
        ("mcp-name", &message["params"]["name"]),
    ] {
        if let Some(value) = value.as_str() {
            request = request.header(name, value);
        }
    }
    request.body(message.to_string().into_bytes()).expect("it is a request")
}

fn respond(request: Request<Vec<u8>>) -> (StatusCode, Value) {
    let response = at_once(function().respond(request));
    let json = match response.body().is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(response.body()).expect("it is JSON"),
    };
    (response.status(), json)
}

fn call() -> Value {
    alone(1, "tools/call", json!({"name": "who", "arguments": {}}))
}

#[test]
fn a_call_gets_a_json_response_and_its_tool_sees_the_principal() {
    let (status, answer) = respond(post(&call()));
    assert_eq!(
        (status, &answer["result"]["content"][0]["text"]),
        (StatusCode::OK, &json!("nobody"))
    );
    let mut authorized = post(&call());
    authorized.extensions_mut().insert(Principal("ada".to_owned()));
    assert_eq!(respond(authorized).1["result"]["content"][0]["text"], "ada");
}

#[test]
fn refused_requests_get_the_status_and_error_code_that_the_revision_specifies() {
    let opening = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
    });
    let listening = json!({"notifications": {"toolsListChanged": true}});
    for (message, status, code) in [
        (request(1, "initialize", opening), 400, -32022),
        (request(2, "tools/list", json!({})), 400, -32602),
        (alone(3, "subscriptions/listen", listening), 406, -32600),
        (alone(4, "odd/method", json!({})), 404, -32601),
        (json!([call()]), 400, -32600),
    ] {
        let (found, answer) = respond(post(&message));
        assert_eq!(
            (found.as_u16(), &answer["error"]["code"]),
            (status, &json!(code)),
            "{message}: {answer}"
        );
    }
    let mut contradicted = post(&call());
    contradicted
        .headers_mut()
        .insert("mcp-name", "other".parse().expect("it is a value"));
    assert_eq!(respond(contradicted).1["error"]["code"], -32020);
    let mut get = post(&call());
    *get.method_mut() = Method::GET;
    assert_eq!(respond(get).0, StatusCode::METHOD_NOT_ALLOWED);
}

#[test]
fn a_notification_is_accepted() {
    let (status, answer) = respond(post(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    ));
    assert_eq!((status, answer), (StatusCode::ACCEPTED, Value::Null));
}
