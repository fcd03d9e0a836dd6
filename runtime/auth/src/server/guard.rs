//! Checking the tokens of requests.

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode};
use mcp_runtime_core::hub::CallToolRequest;
use mcp_runtime_core::mcp_wire::{MessageHeader, Payload, Request as _};
use mcp_runtime_core::transport::Principal;
use mcp_runtime_http::guard::{Guard, GuardFuture, OriginalUri, Refusal};

use super::challenge::{Scheme, insufficient_scope, nonce, nonce_required, unauthenticated, unauthorized};
use super::dpop::{Dpop, ProofError, ProvenRequest};
use super::protected::ProtectedResource;
use super::validator::{TokenError, TokenInfo};
use crate::dpop::{DPOP, DPOP_NONCE};
use crate::scopes::Scopes;

impl Guard for ProtectedResource {
    fn check<'a>(&'a self, request: &'a mut Parts) -> GuardFuture<'a> {
        Box::pin(async {
            let (info, nonce) = validate(self, request).await?;
            request.headers.remove(AUTHORIZATION);
            request.headers.remove(DPOP);
            request.extensions.insert(Principal(info.principal()));
            request.extensions.insert(info);
            Ok(nonce.map(|nonce| (DPOP_NONCE, nonce)).into_iter().collect())
        })
    }

    /// Refuses messages that the token doesn't permit. A call whose tool can't be determined needs the scopes of all
    /// tools.
    fn check_body(&self, request: &Parts, json: &[u8]) -> Result<(), Refusal> {
        if self.tools.is_empty() {
            return Ok(());
        }
        let of_tools = match Payload::from_slice(json) {
            Ok(Payload::Message(header)) => scopes_of(self, &header),
            Ok(Payload::Batch(elements)) => {
                let scopes = elements.flatten().map(|header| scopes_of(self, &header));
                scopes.fold(Scopes::default(), |all, scopes| all.union(&scopes))
            }
            // The server itself refuses the malformed body.
            Err(_) => Scopes::default(),
        };
        // A client may request only the scopes of the challenge, so they include those that every request needs.
        let needed = of_tools.union(&self.required);
        let info = request.extensions.get::<TokenInfo>();
        if needed.is_empty() || info.is_some_and(|info| info.scopes.includes(&needed)) {
            return Ok(());
        }
        let is_bound = info.is_some_and(|info| info.key_thumbprint.is_some());
        let scheme = if is_bound { Scheme::Dpop } else { Scheme::Bearer };
        Err(insufficient_scope(self, scheme, &needed))
    }

    /// The metadata of the resource.
    fn document(&self) -> Option<(String, Vec<u8>)> {
        let metadata = serde_json::to_vec(&self.metadata).unwrap_or_default();
        Some((self.metadata_path(), metadata))
    }
}

/// Validates the token of a request. Returns its contents, and the nonce that the client gets for its next proof, if
/// any.
async fn validate(resource: &ProtectedResource, parts: &Parts) -> Result<(TokenInfo, Option<HeaderValue>), Refusal> {
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
            unavailable("The token can't be checked")
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
    // The scopes that a POST needs depend on its body, so `check_body` checks all of them at once.
    let depends_on_body = parts.method == Method::POST && !resource.tools.is_empty();
    match depends_on_body || info.scopes.includes(&resource.required) {
        true => Ok((info, nonce)),
        false => Err(insufficient_scope(resource, scheme, &resource.required)),
    }
}

fn unavailable(message: &str) -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
}

/// The header with a name, if there is one; an error if there are several.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            format!("More than one header {name}"),
        )),
        (value, None) => Ok(value),
    }
}

/// The scheme and the token of a header, if the server accepts the scheme.
fn credentials<'h>(resource: &ProtectedResource, value: &'h HeaderValue) -> Option<(Scheme, &'h str)> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "bearer" => Scheme::Bearer,
        "dpop" if resource.dpop.is_some() => Scheme::Dpop,
        _ => return None,
    };
    Some((scheme, token.trim()))
}

/// Checks the proof of a request whose token is bound to a key. Returns the nonce that the client gets for its next
/// proof, if any.
async fn prove(
    resource: &ProtectedResource,
    dpop: &Dpop,
    parts: &Parts,
    token: &str,
    key: &str,
) -> Result<Option<HeaderValue>, Refusal> {
    let invalid = |why| unauthorized(resource, Scheme::Dpop, "invalid_dpop_proof", why);
    let proof = only(&parts.headers, &DPOP)?.and_then(|proof| proof.to_str().ok());
    let proof = proof.ok_or_else(|| invalid("the token needs a proof"))?;
    // The server may be nested in another one, which has removed a prefix from the path.
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
            Err(unavailable("The proof can't be checked"))
        }
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
