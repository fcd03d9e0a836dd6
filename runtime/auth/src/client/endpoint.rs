//! Requests to the token endpoint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;

use super::dpop::DpopKey;
use crate::crypto::now;
use crate::dpop::{DPOP, DPOP_NONCE, USE_DPOP_NONCE};
use crate::error::AuthError;
use crate::fetch::{Answer, Fetcher};
use crate::jwt::{SigningKey, random_text};
use crate::metadata::ServerMetadata;
use crate::secret::Secret;

/// The type of assertions that authenticate a client.
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The validity of an assertion, in seconds.
const ASSERTION_LIFE: u64 = 60;

/// The code of an error that doesn't last.
const TEMPORARILY_UNAVAILABLE: &str = "temporarily_unavailable";

/// The method by which a client authenticates at the token endpoint.
#[derive(Debug, Clone)]
pub enum ClientAuth {
    /// The client only sends its id.
    None,
    /// The secret is sent in the `Authorization` header.
    Basic(Secret),
    /// The secret is sent in the form.
    Post(Secret),
    /// The client signs an assertion.
    PrivateKey(SigningKey),
}

impl ClientAuth {
    /// The method for a client with a secret: the one that it was registered with, or else one that the authorization
    /// server supports.
    pub fn with_secret(secret: Secret, registered: Option<&str>, metadata: &ServerMetadata) -> Self {
        let supports = |method| metadata.supports_auth_method(method);
        match registered {
            Some("client_secret_post") => Self::Post(secret),
            Some("client_secret_basic") => Self::Basic(secret),
            Some("none") => Self::None,
            _ if supports("client_secret_basic") => Self::Basic(secret),
            _ if supports("client_secret_post") => Self::Post(secret),
            _ if supports("none") => Self::None,
            _ => Self::Basic(secret),
        }
    }
}

/// The id of a client at an authorization server, and its authentication.
#[derive(Debug, Clone)]
pub struct KnownClient {
    pub id: String,
    pub auth: ClientAuth,
}

impl KnownClient {
    /// Adds the client's credentials to a request.
    fn authenticate(
        &self,
        issuer: &str,
        headers: &mut HeaderMap,
        form: &mut Vec<(&str, String)>,
    ) -> Result<(), AuthError> {
        let id = || self.id.clone();
        match &self.auth {
            ClientAuth::None => form.push(("client_id", id())),
            ClientAuth::Basic(secret) => {
                let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let (id, secret) = (encode(&self.id), encode(secret.expose()));
                let value = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
                let value = HeaderValue::from_str(&value);
                let mut value = value.map_err(|error| AuthError::Key(error.to_string()))?;
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
            ClientAuth::Post(secret) => {
                form.push(("client_id", id()));
                form.push(("client_secret", secret.expose().to_owned()));
            }
            ClientAuth::PrivateKey(key) => {
                form.push(("client_id", id()));
                form.push(("client_assertion_type", JWT_BEARER.to_owned()));
                form.push(("client_assertion", client_assertion(key, &self.id, issuer)?));
            }
        }
        Ok(())
    }
}

fn client_assertion(key: &SigningKey, id: &str, issuer: &str) -> Result<String, AuthError> {
    #[derive(Serialize)]
    struct Claims<'a> {
        iss: &'a str,
        sub: &'a str,
        aud: &'a str,
        jti: String,
        iat: u64,
        exp: u64,
    }
    let iat = now();
    let claims = Claims {
        iss: id,
        sub: id,
        aud: issuer,
        jti: random_text()?,
        iat,
        exp: iat + ASSERTION_LIFE,
    };
    key.sign(&key.header("JWT"), &claims)
}

/// A token endpoint, and the client that sends requests to it.
#[derive(Debug)]
pub struct TokenEndpoint<'a> {
    pub fetcher: &'a Fetcher,
    pub issuer: &'a str,
    pub url: &'a str,
    pub client: &'a KnownClient,
    /// The key to bind tokens to.
    pub dpop: Option<&'a DpopKey>,
}

impl TokenEndpoint<'_> {
    /// Sends a request. If the authorization server requires a nonce in the proof, sends it again with the nonce.
    pub async fn request(&self, form: Vec<(&str, String)>) -> Result<Answer, AuthError> {
        let answer = self.send(form.clone(), None).await?;
        let nonce = answer.headers.get(DPOP_NONCE).filter(|_| self.dpop.is_some());
        let answer = match nonce.filter(|_| error_of(&answer).is_some_and(|error| error.error == USE_DPOP_NONCE)) {
            Some(nonce) => self.send(form, Some(nonce)).await?,
            None => answer,
        };
        match answer.status.is_success() {
            true => Ok(answer),
            false => Err(refusal(&answer)),
        }
    }

    async fn send(&self, mut form: Vec<(&str, String)>, nonce: Option<&HeaderValue>) -> Result<Answer, AuthError> {
        let mut headers = HeaderMap::new();
        self.client.authenticate(self.issuer, &mut headers, &mut form)?;
        if let Some(key) = self.dpop {
            let url = self.fetcher.check(self.url)?;
            headers.insert(DPOP, key.proof("POST", &url, nonce, None)?);
        }
        self.fetcher.post_form(self.url, headers, &form).await
    }
}

/// An error of OAuth.
#[derive(Debug, Deserialize)]
pub struct OAuthError {
    pub error: String,
    pub error_description: Option<String>,
}

fn error_of(answer: &Answer) -> Option<OAuthError> {
    answer.json().ok().filter(|_| !answer.status.is_success())
}

/// Converts a response to an error.
pub fn refusal(answer: &Answer) -> AuthError {
    let error = error_of(answer);
    let is_temporary = matches!(
        answer.status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    if is_temporary
        || error
            .as_ref()
            .is_some_and(|error| error.error == TEMPORARILY_UNAVAILABLE)
    {
        return AuthError::Unavailable {
            url: answer.url.to_string(),
            status: answer.status.to_string(),
        };
    }
    match error {
        Some(OAuthError {
            error,
            error_description,
        }) => AuthError::Refused {
            code: mcp_runtime_util::excerpt(error.as_bytes()),
            description: error_description,
        },
        None if answer.status.is_client_error() => AuthError::Refused {
            code: answer.status.to_string(),
            description: None,
        },
        None => AuthError::Malformed {
            url: answer.url.to_string(),
            why: format!("its status is {}", answer.status),
        },
    }
}
