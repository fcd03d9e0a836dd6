//! The server as a function that JavaScript calls with a request and that returns the response.

use std::sync::LazyLock;

use mcp_runtime::http::Request;
use mcp_runtime::transport::http::server::HttpFunction;
use serde_json::json;
use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::server::router;

static SERVER: LazyLock<HttpFunction> = LazyLock::new(|| HttpFunction::new(router()));

/// Responds to a POST request with these headers, as alternating names and values. Returns the status and the body as
/// JSON.
///
/// # Errors
/// If a header is invalid.
#[wasm_bindgen]
pub async fn respond(headers: Vec<String>, body: String) -> Result<String, JsError> {
    let mut request = Request::post("/mcp");
    for header in headers.chunks_exact(2) {
        request = request.header(&header[0], &header[1]);
    }
    let response = SERVER.respond(request.body(body)?).await;
    let body = String::from_utf8_lossy(response.body());
    Ok(json!({ "status": response.status().as_u16(), "body": body }).to_string())
}
