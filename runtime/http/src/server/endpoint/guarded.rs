//! Requests to a server with a guard.

use std::convert::Infallible;

use http::{Method, Request, Response};

use super::super::body::Body;
use super::super::rejection::Rejection;
use super::super::settings::Guarded;
use super::Responding;
use super::response::{json_response, method_not_allowed};

/// Responds to a request for the guard's document, and to requests that pass the guard.
pub(super) async fn respond<B>(
    guarded: &Guarded,
    request: Request<B>,
    respond: impl FnOnce(Request<B>) -> Responding,
) -> Result<Response<Body>, Infallible> {
    if let Some((path, json)) = &guarded.document
        && request.uri().path() == path
    {
        return Ok(match *request.method() {
            Method::GET | Method::HEAD => json_response(json.clone()),
            _ => method_not_allowed("GET, HEAD"),
        });
    }
    let (mut parts, body) = request.into_parts();
    let headers = match guarded.guard.check(&mut parts).await {
        Ok(headers) => headers,
        Err(refusal) => return Ok(Rejection::from(refusal).into_response()),
    };
    let mut response = respond(Request::from_parts(parts, body)).await?;
    response.headers_mut().extend(headers);
    Ok(response)
}
