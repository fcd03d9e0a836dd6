//! The weather server as a Cloudflare Worker: a server of stateless revisions as a function.
//!
//! `worker-build --release` builds the package that `wrangler` deploys. The secret `SEALING_KEY` is the key that seals
//! the state of input requests, 32 random bytes or more: the response to an input request can reach another machine
//! than the one that sent it.

use std::sync::OnceLock;

use http_body_util::{BodyExt, Full, Limited};
use mcp_runtime::http::{Request, Response, StatusCode};
use mcp_runtime::router::{Answer, Call};
use mcp_runtime::transport::http::server::HttpFunction;
use mcp_runtime::{CallError, Options, Router, Sealing};
use schemars::JsonSchema;
use serde::Deserialize;
use worker::{Context, Env, HttpRequest, Result, event};

/// The largest body, in bytes.
const MAX_BODY: usize = 4 << 20;

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// A city, such as Bern.
    city: String,
}

async fn weather(call: Call) -> Result<String, CallError> {
    match call.elicit("Where are you?").await? {
        Answer::Accepted(Place { city }) => Ok(format!("In {city}, the sun shines")),
        Answer::Declined | Answer::Cancelled => Ok("The sun shines somewhere".to_owned()),
    }
}

/// Returns the server, which is created on first use.
fn server(env: &Env) -> Result<&'static HttpFunction> {
    static SERVER: OnceLock<HttpFunction> = OnceLock::new();
    if let Some(server) = SERVER.get() {
        return Ok(server);
    }
    let key = env.secret("SEALING_KEY")?.to_string();
    let options = Options {
        sealing: Sealing::with_key(key.as_bytes()),
        ..Options::default()
    };
    let router = Router::new("weather", "1.0").tool("weather", "Get the current weather where the user is", weather);
    Ok(SERVER.get_or_init(|| HttpFunction::with_options(router, options)))
}

#[event(fetch)]
async fn fetch(request: HttpRequest, env: Env, _context: Context) -> Result<Response<Full<bytes::Bytes>>> {
    let server = server(&env)?;
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
        return Ok(response);
    };
    let request = Request::from_parts(parts, body.to_bytes());
    Ok(server.respond(request).await.map(Full::new))
}
