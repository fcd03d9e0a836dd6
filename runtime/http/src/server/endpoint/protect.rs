//! Requests that need a token.

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Extensions, Method, Request, Response};
use mcp_adapters::hub::CallToolRequest;
use mcp_adapters::mcp_wire::{MessageHeader, Payload, Request as _};
use mcp_auth::internal::{DPOP, DPOP_NONCE, ProofError, ProvenRequest};
use mcp_auth::{Dpop, ProtectedResource, Scopes, TokenError, TokenInfo};

use super::super::body::Body;
use super::super::extensions::OriginalUri;
use super::super::rejection::Rejection;
use super::super::settings::Settings;
use super::challenge::{Scheme, insufficient_scope, nonce, nonce_required, unauthenticated, unauthorized};
use super::response::{json_response, method_not_allowed};

/// The metadata of the resource, which need no token.
pub(super) fn metadata(resource: &ProtectedResource, method: &Method) -> Response<Body> {
    match *method {
        Method::GET | Method::HEAD => {
            let metadata = serde_json::to_vec(&resource.metadata).unwrap_or_default();
            json_response(metadata)
        }
        _ => method_not_allowed("GET, HEAD"),
    }
}

/// Lets requests with a valid token pass. What the token says takes its place.
pub(super) async fn protect<B, F: Future<Output = Response<Body>>>(
    resource: &ProtectedResource,
    request: Request<B>,
    respond: impl FnOnce(Request<B>) -> F,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    let (info, nonce) = match validate(resource, &parts).await {
        Ok(valid) => valid,
        Err(rejection) => return rejection.into_response(),
    };
    parts.headers.remove(AUTHORIZATION);
    parts.headers.remove(DPOP);
    parts.extensions.insert(info);
    let mut response = respond(Request::from_parts(parts, body)).await;
    response.headers_mut().extend(nonce.map(|nonce| (DPOP_NONCE, nonce)));
    response
}

/// What the token of a request says, and the nonce that its client gets for the next proof.
async fn validate(resource: &ProtectedResource, parts: &Parts) -> Result<(TokenInfo, Option<HeaderValue>), Rejection> {
    let value = only(&parts.headers, &AUTHORIZATION)?;
    let Some((scheme, token)) = value.and_then(|value| credentials(resource, value)) else {
        return Err(unauthenticated(resource));
    };
    let invalid = |why| unauthorized(resource, scheme, "invalid_token", why);
    let info = resource.validator.validate(token).await;
    let info = info.map_err(|error| match error {
        TokenError::Invalid(why) => invalid(why),
        TokenError::Unavailable(why) => {
            tracing::warn!(why, "a token can't be checked");
            Rejection::busy("The token can't be checked")
        }
    })?;
    let nonce = match (&resource.dpop, &info.key_thumbprint, scheme) {
        (None, Some(_), _) => return Err(invalid("tokens that are bound to a key aren't accepted")),
        (_, Some(_), Scheme::Bearer) => return Err(invalid("the token is bound to a key, and needs a proof")),
        (_, None, Scheme::Dpop) => return Err(invalid("the token isn't bound to a key")),
        (Some(dpop), None, Scheme::Bearer) if dpop.is_required() => {
            return Err(invalid("a token that is bound to a key is required"));
        }
        (Some(dpop), Some(key), Scheme::Dpop) => prove(resource, dpop, parts, token, key).await?,
        (_, None, Scheme::Bearer) => None,
    };
    match info.scopes.includes(&resource.required) {
        true => Ok((info, nonce)),
        false => Err(insufficient_scope(resource, scheme, &resource.required)),
    }
}

/// The only header with a name, if there is one.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Rejection> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Rejection::bad_request(format!("More than one header {name}"))),
        (value, None) => Ok(value),
    }
}

/// The scheme and the token of a header, if the server takes such.
fn credentials<'h>(resource: &ProtectedResource, value: &'h HeaderValue) -> Option<(Scheme, &'h str)> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Scheme::Bearer,
        "dpop" if resource.dpop.is_some() => Scheme::Dpop,
        _ => return None,
    };
    Some((scheme, token.trim()))
}

/// Checks the proof of a request whose token is bound to a key; the nonce that its client gets for the next one.
async fn prove(
    resource: &ProtectedResource,
    dpop: &Dpop,
    parts: &Parts,
    token: &str,
    key: &str,
) -> Result<Option<HeaderValue>, Rejection> {
    let invalid = |why| unauthorized(resource, Scheme::Dpop, "invalid_dpop_proof", why);
    let proof = only(&parts.headers, &DPOP)?.and_then(|proof| proof.to_str().ok());
    let proof = proof.ok_or_else(|| invalid("the token needs a proof"))?;
    // The server may be part of another, which has taken off the beginning of the path.
    let original = parts.extensions.get::<OriginalUri>();
    let path = original.map_or(&parts.uri, |uri| &uri.0).path();
    let request = ProvenRequest {
        method: parts.method.as_str(),
        urls: &resource.urls_of(path),
        token,
        key,
    };
    match dpop.check(proof, &request).await {
        Ok(is_stale) => Ok(nonce(dpop).filter(|_| is_stale)),
        Err(ProofError::Invalid(why)) => Err(invalid(why)),
        Err(ProofError::Nonce) => Err(nonce_required(resource, dpop)),
        Err(ProofError::Unavailable(error)) => {
            tracing::warn!(error, "a proof can't be checked");
            Err(Rejection::busy("The proof can't be checked"))
        }
    }
}

/// Refuses calls of tools that the token doesn't permit. A call whose tool can't be read needs the scopes of all.
pub(super) fn check_tools(settings: &Settings, extensions: &Extensions, json: &[u8]) -> Result<(), Rejection> {
    let Some(resource) = settings
        .protected
        .as_ref()
        .filter(|resource| !resource.tools.is_empty())
    else {
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
    let info = extensions.get::<TokenInfo>();
    if needed.is_empty() || info.is_some_and(|info| info.scopes.includes(&needed)) {
        return Ok(());
    }
    let is_bound = info.is_some_and(|info| info.key_thumbprint.is_some());
    let scheme = if is_bound { Scheme::Dpop } else { Scheme::Bearer };
    Err(insufficient_scope(resource, scheme, &needed))
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
