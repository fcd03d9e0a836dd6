//! Requests that need a token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use axum::http::{Extensions, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use mcp_adapters::hub::CallToolRequest;
use mcp_adapters::mcp_wire::{MessageHeader, Payload, Request as _, error_code};

use super::super::config::HttpServer;
use super::super::rejection::Rejection;
use crate::auth::{ProtectedResource, Scopes, TokenError, TokenInfo};

/// Adds the check of tokens, and a route for the metadata, which needs none.
pub(super) fn protect<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    resource: Arc<ProtectedResource>,
) -> Router<S> {
    let metadata = resource.metadata.clone();
    router
        .layer(from_fn_with_state(resource.clone(), authenticate))
        .route(&resource.metadata_path(), get(async move || Json(metadata)))
}

/// Lets requests with a valid token pass. What the token says takes its place.
async fn authenticate(State(resource): State<Arc<ProtectedResource>>, mut request: Request, next: Next) -> Response {
    let info = match validate(&resource, request.headers()).await {
        Ok(info) => info,
        Err(rejection) => return rejection.into_response(),
    };
    request.headers_mut().remove(AUTHORIZATION);
    request.extensions_mut().insert(info);
    next.run(request).await
}

async fn validate(resource: &ProtectedResource, headers: &HeaderMap) -> Result<TokenInfo, Rejection> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, another) = (values.next(), values.next());
    if another.is_some() {
        return Err(Rejection::bad_request("More than one header Authorization"));
    }
    let Some(token) = value.and_then(bearer) else {
        return Err(unauthorized(resource, None));
    };
    let info = resource.validator.validate(token).await;
    let info = info.map_err(|error| match error {
        TokenError::Invalid(why) => unauthorized(resource, Some(why)),
        TokenError::Unavailable(why) => {
            tracing::warn!(why, "a token can't be checked");
            Rejection::busy("The token can't be checked")
        }
    })?;
    match info.scopes.includes(&resource.required) {
        true => Ok(info),
        false => Err(insufficient_scope(resource, &resource.required)),
    }
}

/// The token of a header.
fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim())
}

/// Refuses calls of tools that the token doesn't permit. A call whose tool can't be read needs the scopes of all.
pub(super) fn check_tools(config: &HttpServer, extensions: &Extensions, json: &[u8]) -> Result<(), Rejection> {
    let Some(resource) = config.protected.as_ref().filter(|resource| !resource.tools.is_empty()) else {
        return Ok(());
    };
    let needed = match Payload::from_slice(json) {
        Ok(Payload::Message(header)) => scopes_of(resource, &header),
        Ok(Payload::Batch(elements)) => {
            let scopes = elements.flatten().map(|header| scopes_of(resource, &header));
            scopes.fold(Scopes::default(), |all, scopes| all.union(&scopes))
        }
        // It is refused elsewhere.
        Err(_) => return Ok(()),
    };
    let granted = extensions.get::<TokenInfo>().map(|info| &info.scopes);
    match needed.is_empty() || granted.is_some_and(|granted| granted.includes(&needed)) {
        true => Ok(()),
        false => Err(insufficient_scope(resource, &needed)),
    }
}

/// The scopes that a message needs for the tool that it calls.
fn scopes_of(resource: &ProtectedResource, header: &MessageHeader<'_>) -> Scopes {
    if header.method().as_deref() != Some(CallToolRequest::METHOD) {
        return Scopes::default();
    }
    let name = header.param(&["name"]).ok().flatten();
    match name.and_then(|name| name.string().ok()) {
        Some(name) => resource.tools.get(&*name).cloned().unwrap_or_default(),
        None => resource
            .tools
            .values()
            .fold(Scopes::default(), |all, scopes| all.union(scopes)),
    }
}

/// The rejection of a request without a token that is valid.
fn unauthorized(resource: &ProtectedResource, why: Option<&str>) -> Rejection {
    let scopes = &resource.required;
    let error = why.map(|why| ("invalid_token", why));
    let message = why.unwrap_or("a token is required");
    Rejection::invalid(StatusCode::UNAUTHORIZED, message).with_challenge(challenge(resource, error, scopes))
}

fn insufficient_scope(resource: &ProtectedResource, scopes: &Scopes) -> Rejection {
    let why = "the token doesn't permit this";
    let challenge = challenge(resource, Some(("insufficient_scope", why)), scopes);
    Rejection::new(StatusCode::FORBIDDEN, error_code::INVALID_REQUEST, why).with_challenge(challenge)
}

/// What a client needs to get a token. No value has quotes in it.
fn challenge(resource: &ProtectedResource, error: Option<(&str, &str)>, scopes: &Scopes) -> Option<HeaderValue> {
    let mut challenge = format!("Bearer resource_metadata=\"{}\"", resource.metadata_url());
    if let Some((code, why)) = error {
        challenge += &format!(", error=\"{code}\", error_description=\"{why}\"");
    }
    if !scopes.is_empty() {
        challenge += &format!(", scope=\"{scopes}\"");
    }
    HeaderValue::from_str(&challenge).ok()
}
