//! The responses to requests without a sufficient token, and their challenges.

use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use mcp_runtime_http::guard::Refusal;

use super::dpop::Dpop;
use super::protected::ProtectedResource;
use crate::dpop::{DPOP_NONCE, USE_DPOP_NONCE};
use crate::scopes::Scopes;

/// The scheme by which a token is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Bearer,
    /// With a proof.
    Dpop,
}

/// The rejection of a request without credentials.
pub(super) fn unauthenticated(resource: &ProtectedResource) -> Refusal {
    let headers = challenges(resource, Scheme::Bearer, None, &resource.required);
    Refusal::new(StatusCode::UNAUTHORIZED, "a token is required").with_headers(headers)
}

/// The rejection of an invalid token or proof. The code is an OAuth error code.
pub(super) fn unauthorized(resource: &ProtectedResource, scheme: Scheme, code: &str, why: &str) -> Refusal {
    let headers = challenges(resource, scheme, Some((code, why)), &resource.required);
    Refusal::new(StatusCode::UNAUTHORIZED, why).with_headers(headers)
}

/// The rejection of a proof without the nonce that the server requires.
pub(super) fn nonce_required(resource: &ProtectedResource, dpop: &Dpop) -> Refusal {
    let why = "the proof has to contain the nonce";
    let mut headers = challenges(resource, Scheme::Dpop, Some((USE_DPOP_NONCE, why)), &resource.required);
    headers.extend(nonce(dpop).map(|nonce| (DPOP_NONCE, nonce)));
    Refusal::new(StatusCode::UNAUTHORIZED, why).with_headers(headers)
}

/// The rejection of a token that doesn't permit the request.
pub(super) fn insufficient_scope(resource: &ProtectedResource, scheme: Scheme, scopes: &Scopes) -> Refusal {
    let why = "the token doesn't permit this";
    let headers = challenges(resource, scheme, Some(("insufficient_scope", why)), scopes);
    Refusal::new(StatusCode::FORBIDDEN, why).with_headers(headers)
}

/// The nonce that the next proof has to contain.
pub(super) fn nonce(dpop: &Dpop) -> Option<HeaderValue> {
    HeaderValue::try_from(dpop.nonce()?).ok()
}

/// The challenges for all schemes that the server accepts. The first one is for the scheme that was used, and has the
/// error. No value contains quotes.
fn challenges(resource: &ProtectedResource, used: Scheme, error: Option<(&str, &str)>, scopes: &Scopes) -> HeaderMap {
    let dpop = resource.dpop.as_ref();
    let bearer = dpop
        .is_none_or(|dpop| !dpop.is_required())
        .then(|| "Bearer ".to_owned());
    let dpop = dpop.map(|dpop| format!("DPoP algs=\"{}\", ", dpop.algorithm_names().join(" ")));
    let schemes = match used {
        Scheme::Bearer => [bearer, dpop],
        Scheme::Dpop => [dpop, bearer],
    };
    let mut headers = HeaderMap::new();
    for (index, scheme) in schemes.into_iter().flatten().enumerate() {
        let mut challenge = format!("{scheme}resource_metadata=\"{}\"", resource.metadata_url());
        if let Some((code, why)) = error.filter(|_| index == 0) {
            challenge += &format!(", error=\"{code}\", error_description=\"{why}\"");
        }
        if !scopes.is_empty() {
            challenge += &format!(", scope=\"{scopes}\"");
        }
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            headers.append(WWW_AUTHENTICATE, challenge);
        }
    }
    headers
}
