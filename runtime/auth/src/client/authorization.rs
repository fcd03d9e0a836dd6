//! The authorization of one HTTP client at its server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_http::client::{self as http_client, AuthorizationError, AuthorizationFuture, Authorize};
use mcp_runtime_util::Mutex;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Request, Response, StatusCode, Url};
use tokio::time::Instant;

use super::authorizer::Authorizer;
use super::challenge::Challenge;
use super::flow::GrantSource;
use super::grants::{ActiveGrant, Grants, Reason, Refused, Worth};
use super::store::TokenType;
use super::waiting::WaitingTime;
use crate::dpop::{DPOP, DPOP_NONCE, USE_DPOP_NONCE};
use crate::error::AuthError;

/// The maximum bytes of a nonce.
const MAX_NONCE: usize = 1024;

/// The authorization of one HTTP client at its server.
struct Authorization {
    /// The URL of the server. Tokens are only sent to its origin.
    server: Url,
    grants: Grants,
    /// The nonce that the next proof to the server has to contain.
    nonce: Mutex<Option<HeaderValue>>,
    /// The total time for which requests have waited for grants.
    waiting: WaitingTime,
}

/// The attempts to send a request: the grant of the last one, and the reasons for the others. There is at most one
/// further attempt for each reason.
struct Attempts<'a> {
    authorization: &'a Authorization,
    sent: Option<Instant>,
    grant: Option<Arc<ActiveGrant>>,
    reasons: Vec<Reason>,
}

impl Authorize for Authorizer {
    fn at(&self, server: &Url) -> Result<Arc<dyn http_client::Authorization>, AuthorizationError> {
        let source = GrantSource::new(self.clone(), server).map_err(|error| Arc::new(error) as AuthorizationError)?;
        Ok(Arc::new(Authorization {
            server: source.server.clone(),
            grants: Grants::new(source),
            nonce: Mutex::default(),
            waiting: WaitingTime::default(),
        }))
    }
}

impl http_client::Authorization for Authorization {
    fn begin(&self) -> Box<dyn http_client::Attempts + '_> {
        Box::new(Attempts {
            authorization: self,
            sent: None,
            grant: None,
            reasons: Vec::new(),
        })
    }

    fn waited(&self) -> Duration {
        self.waiting.total()
    }
}

impl http_client::Attempts for Attempts<'_> {
    fn headers<'a>(&'a mut self, request: &'a Request) -> AuthorizationFuture<'a, HeaderMap> {
        Box::pin(async {
            self.authorize(request)
                .await
                .map_err(|error| error as AuthorizationError)
        })
    }

    fn retry<'a>(&'a mut self, response: &'a Response, at_origin: bool) -> AuthorizationFuture<'a, bool> {
        Box::pin(async move {
            let better = self.find_better(response, at_origin).await;
            better.map_err(|error| error as AuthorizationError)
        })
    }
}

impl Attempts<'_> {
    /// Returns the headers that authorize a request. Requests to other origins get none.
    async fn authorize(&mut self, request: &Request) -> Result<HeaderMap, Arc<AuthError>> {
        let mut headers = HeaderMap::new();
        self.sent = Some(Instant::now());
        if request.url().origin() != self.authorization.server.origin() {
            return Ok(headers);
        }
        self.grant = self.authorization.grants.current().await?;
        let Some(active) = &self.grant else {
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
            let nonce = self.authorization.nonce.lock().clone();
            let (method, token) = (request.method().as_str(), &active.grant.access_token);
            let proof = key.proof(method, request.url(), nonce.as_ref(), Some(token))?;
            headers.insert(DPOP, proof);
        }
        Ok(headers)
    }

    /// Obtains better credentials after a response that refuses the request. Returns whether the request should be sent
    /// again.
    async fn find_better(&mut self, response: &Response, at_origin: bool) -> Result<bool, Arc<AuthError>> {
        if response.url().origin() != self.authorization.server.origin() {
            return Ok(false);
        }
        let nonce = response.headers().get(DPOP_NONCE);
        if let Some(nonce) = nonce.filter(|nonce| nonce.len() <= MAX_NONCE) {
            *self.authorization.nonce.lock() = Some(nonce.clone());
        }
        let challenge = Challenge::of(response.headers());
        let reason = match response.status() {
            StatusCode::UNAUTHORIZED if challenge.error() == Some(USE_DPOP_NONCE) && nonce.is_some() => Reason::Nonce,
            StatusCode::UNAUTHORIZED => Reason::Unauthorized,
            StatusCode::FORBIDDEN if challenge.error() == Some("insufficient_scope") => Reason::InsufficientScope,
            status => {
                if status.is_success() {
                    self.prove(Worth::Useful);
                }
                return Ok(false);
            }
        };
        if self.reasons.contains(&reason) {
            return Ok(false);
        }
        self.reasons.push(reason);
        match reason {
            Reason::Nonce => return Ok(true),
            Reason::InsufficientScope => self.prove(Worth::Known),
            Reason::Unauthorized => {}
        }
        let _waiting = self.authorization.waiting.begin();
        let refused = Refused {
            reason,
            challenge: &challenge,
            sent: self.sent,
            grant: self.grant.as_ref(),
            at_origin,
        };
        self.authorization.grants.renew(&refused).await.map(|()| true)
    }

    /// Records what the response has shown about the token of the request.
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
