//! A server that receives an arbitrary HTTP request.
//!
//! An input is a line with the method and the path, a line for each header, an empty line, and the body.

use std::convert::Infallible;
use std::time::Duration;

use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{Options, Revision};
use tower_service::Service;

use super::{run, stdio};

pub fn check(input: &[u8]) {
    let Some(request) = request(input) else { return };
    run(async {
        let server = HttpServer::from_fn(|transport, _| {
            stdio::server().serve(Options::default(), transport);
        });
        let mut server = server.keep_alive(Duration::from_secs(600));
        let response: Result<_, Infallible> = Service::call(&mut server, request).await;
        let response = response.expect("no error");
        let is_json = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind == "application/json");
        let status = response.status();
        // A stream can stay open: only a body that ends within a minute is checked.
        let body = axum::body::to_bytes(axum::body::Body::new(response.into_body()), 1 << 20);
        let body = tokio::time::timeout(Duration::from_secs(60), body).await;
        if let (true, Ok(Ok(body))) = (is_json, body) {
            let json = serde_json::from_slice::<&serde_json::value::RawValue>(&body);
            assert!(
                json.is_ok(),
                "{status} with a body that is not JSON: {}",
                String::from_utf8_lossy(&body)
            );
        }
    });
}

fn request(input: &[u8]) -> Option<http::Request<axum::body::Body>> {
    let split = input.windows(2).position(|bytes| bytes == b"\n\n")?;
    let (head, body) = (str::from_utf8(&input[..split]).ok()?, &input[split + 2..]);
    let mut lines = head.split('\n');
    let (method, path) = lines.next()?.split_once(' ')?;
    let mut request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1");
    for line in lines {
        let (name, value) = line.split_once(':')?;
        request = request.header(name, value.trim());
    }
    request.body(axum::body::Body::from(body.to_vec())).ok()
}

/// The messages of the seeds for stdio, each in a POST request, and requests without a body.
pub fn seeds() -> Vec<Vec<u8>> {
    let common = "content-type: application/json\naccept: application/json, text/event-stream\n";
    let posts = stdio::seeds()
        .into_iter()
        .zip(Revision::ALL.into_iter().flat_map(|revision| [revision; 2]));
    let posts = posts.flat_map(|(lines, revision)| {
        let lines: Vec<Vec<u8>> = lines.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.into_iter().map(move |line| {
            let head = format!(
                "POST /mcp\n{common}mcp-protocol-version: {revision}\nmcp-method: tools/call\nmcp-name: echo\n\n"
            );
            [head.into_bytes(), line].concat()
        })
    });
    let others = [
        "GET /mcp\naccept: text/event-stream\nlast-event-id: 1_1\n\n",
        "GET /sse\naccept: text/event-stream\n\n",
        "DELETE /mcp\nmcp-session-id: 1\n\n",
        "OPTIONS /mcp\norigin: http://127.0.0.1\naccess-control-request-method: POST\n\n",
    ];
    posts.chain(others.map(|other| other.as_bytes().to_vec())).collect()
}
