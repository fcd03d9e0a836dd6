//! The authorization of one HTTP client at its server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::internal::Mutex;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode, Url};
use tokio::time::Instant;

use super::authorizer::Authorizer;
use super::challenge::Challenge;
use super::flow::GrantSource;
use super::grants::{ActiveGrant, Grants, Reason, Refused, Worth};
use super::store::TokenType;
use super::waiting::WaitingTime;
use crate::dpop::{DPOP, DPOP_NONCE, USE_DPOP_NONCE};
use crate::error::AuthError;

/// The bytes of a nonce.
const MAX_NONCE: usize = 1024;

/// The authorization of one HTTP client at its server.
pub struct Authorization {
    /// The URL of the server. Tokens go to its origin only.
    server: Url,
    grants: Grants,
    /// What the next proof to the server has to repeat.
    nonce: Mutex<Option<HeaderValue>>,
    /// The time that requests wait for grants.
    waiting: WaitingTime,
}

/// The attempts to send a request: what the last one was sent with, and why there are others. There is one for each reason.
#[derive(Default)]
pub struct Attempts {
    sent: Option<Instant>,
    grant: Option<Arc<ActiveGrant>>,
    reasons: Vec<Reason>,
}

impl Authorization {
    /// The authorization at a server, for which nothing has been granted yet.
    pub fn new(authorizer: Authorizer, server: &Url) -> Result<Self, AuthError> {
        let source = GrantSource::new(authorizer, server)?;
        Ok(Self {
            server: source.server.clone(),
            grants: Grants::new(source),
            nonce: Mutex::default(),
            waiting: WaitingTime::default(),
        })
    }

    /// How long calls have waited for grants: for users, for the most part.
    pub fn waited(&self) -> Duration {
        self.waiting.total()
    }

    /// The headers that authorize a request. Requests to other origins get none.
    pub async fn headers(
        &self,
        method: &Method,
        url: &Url,
        attempts: &mut Attempts,
    ) -> Result<HeaderMap, Arc<AuthError>> {
        let mut headers = HeaderMap::new();
        attempts.sent = Some(Instant::now());
        if url.origin() != self.server.origin() {
            return Ok(headers);
        }
        attempts.grant = self.grants.current().await?;
        let Some(active) = &attempts.grant else {
            return Ok(headers);
        };
        let scheme = match active.grant.token_type {
            TokenType::Bearer => "Bearer",
            TokenType::Dpop => "DPoP",
        };
        let value = format!("{scheme} {}", active.grant.access_token.expose());
        let value = HeaderValue::from_str(&value);
        let mut value = value.map_err(|_| AuthError::Key("the token isn't valid in a header".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
        if let Some(key) = active
            .key
            .as_ref()
            .filter(|_| active.grant.token_type == TokenType::Dpop)
        {
            let nonce = self.nonce.lock().clone();
            let proof = key.proof(method.as_str(), url, nonce.as_ref(), Some(&active.grant.access_token))?;
            headers.insert(DPOP, proof);
        }
        Ok(headers)
    }

    /// Whether a request should be sent again, with what is now there to authorize it. `at_origin` says whether the server may be
    /// one that has no metadata, and is authorized at its own origin.
    ///
    /// # Errors
    /// When there is no authorization.
    pub async fn retry(
        &self,
        response: &Response,
        attempts: &mut Attempts,
        at_origin: bool,
    ) -> Result<bool, Arc<AuthError>> {
        if response.url().origin() != self.server.origin() {
            return Ok(false);
        }
        let nonce = response.headers().get(DPOP_NONCE);
        if let Some(nonce) = nonce.filter(|nonce| nonce.len() <= MAX_NONCE) {
            *self.nonce.lock() = Some(nonce.clone());
        }
        let challenge = Challenge::of(response.headers());
        let reason = match response.status() {
            StatusCode::UNAUTHORIZED if challenge.error() == Some(USE_DPOP_NONCE) && nonce.is_some() => Reason::Nonce,
            StatusCode::UNAUTHORIZED => Reason::Unauthorized,
            StatusCode::FORBIDDEN if challenge.error() == Some("insufficient_scope") => Reason::InsufficientScope,
            status => {
                if status.is_success() {
                    attempts.prove(Worth::Useful);
                }
                return Ok(false);
            }
        };
        if attempts.reasons.contains(&reason) {
            return Ok(false);
        }
        attempts.reasons.push(reason);
        match reason {
            Reason::Nonce => return Ok(true),
            Reason::InsufficientScope => attempts.prove(Worth::Known),
            Reason::Unauthorized => {}
        }
        let _waiting = self.waiting.begin();
        let refused = Refused {
            reason,
            challenge: &challenge,
            sent: attempts.sent,
            grant: attempts.grant.as_ref(),
            at_origin,
        };
        self.grants.renew(&refused).await.map(|()| true)
    }
}

impl Attempts {
    /// The server has shown that the token of the request is worth this much.
    fn prove(&self, worth: Worth) {
        if let Some(active) = &self.grant {
            active.prove(worth);
        }
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorization")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
