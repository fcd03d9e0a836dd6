//! A server as a function from an HTTP request to its response. It needs only random numbers from its host.

use std::pin::pin;
use std::sync::LazyLock;
use std::task::{Context, Poll, Waker};

use mcp_runtime::Router;
use mcp_runtime::http::Request;
use mcp_runtime::transport::http::server::HttpFunction;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{INPUT, give};

static WEATHER: LazyLock<HttpFunction> = LazyLock::new(|| {
    HttpFunction::new(Router::new("weather", "1.0").tool("weather", "Get the current weather", || "sunny"))
});

/// A POST request.
#[derive(Deserialize)]
struct Post {
    headers: Vec<(String, String)>,
    body: Value,
}

/// Responds to the POST request in the input, and returns the length of the output, which has the status and the JSON
/// of the response.
#[unsafe(no_mangle)]
pub extern "C" fn respond() -> usize {
    give(INPUT.with_borrow(|input| response(input)))
}

fn response(input: &[u8]) -> Result<Value, String> {
    let post: Post = serde_json::from_slice(input).map_err(|error| error.to_string())?;
    let mut request = Request::post("/mcp");
    for (name, value) in post.headers {
        request = request.header(name, value);
    }
    let request = request.body(post.body.to_string()).map_err(|error| error.to_string())?;
    let response = pin!(WEATHER.respond(request));
    let Poll::Ready(response) = response.poll(&mut Context::from_waker(Waker::noop())) else {
        return Err("the response isn't ready at once".to_owned());
    };
    let body: Value = serde_json::from_slice(response.body()).map_err(|error| error.to_string())?;
    Ok(json!({ "status": response.status().as_u16(), "body": body }))
}

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Fills memory with random bytes.
    fn random(at: *mut u8, length: usize);
}

/// The function that the crate getrandom calls if its backend is `custom`.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(at: *mut u8, length: usize) -> Result<(), getrandom::Error> {
    unsafe { random(at, length) };
    Ok(())
}
