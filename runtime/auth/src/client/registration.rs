//! Dynamic client registration.

use reqwest::Url;
use serde::Deserialize;
use serde_json::json;

use super::discovery::Target;
use super::endpoint::refusal;
use super::store::Registration;
use crate::address::is_loopback;
use crate::crypto::now;
use crate::error::AuthError;
use crate::fetch::Fetcher;
use crate::secret::Secret;

/// The methods of authentication at the token endpoint, in the order of preference.
const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

#[derive(Deserialize)]
struct Response {
    client_id: String,
    client_secret: Option<Secret>,
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers a client at the authorization server.
pub async fn register(
    fetcher: &Fetcher,
    target: &Target,
    name: &str,
    redirect_uri: &str,
) -> Result<Registration, AuthError> {
    let endpoint = target.metadata.registration_endpoint.as_deref();
    let endpoint = endpoint.ok_or_else(|| AuthError::NoClient(target.issuer.clone()))?;
    // An authorization server that lists no methods supports `client_secret_basic`.
    let method = METHODS
        .into_iter()
        .find(|method| target.metadata.supports_auth_method(method));
    let method = method.unwrap_or("client_secret_basic");
    // Without scopes: the client may need more later, and the registration may not know the scopes of resources.
    let request = json!({
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "application_type": application_type(redirect_uri),
    });
    let answer = fetcher.post_json(endpoint, &request).await?;
    if !answer.status.is_success() {
        return Err(refusal(&answer));
    }
    let response: Response = answer.json()?;
    Ok(Registration {
        id: response.client_id,
        secret: response.client_secret,
        auth_method: response.token_endpoint_auth_method.or(Some(method.to_owned())),
        redirect_uri: redirect_uri.to_owned(),
        // 0 means that it never expires.
        expires_at: response.client_secret_expires_at.filter(|end| *end > 0),
    })
}

impl Registration {
    /// Whether a client with this redirect URI can still use the registration.
    pub(super) fn serves(&self, redirect_uri: &str) -> bool {
        self.redirect_uri == redirect_uri && self.expires_at.is_none_or(|end| end > now())
    }
}

/// The type of the application. A client without a redirect URI on the web runs on the user's machine.
fn application_type(redirect_uri: &str) -> &'static str {
    let url = Url::parse(redirect_uri).ok();
    match url.is_some_and(|url| url.scheme() == "https" && !is_loopback(&url)) {
        true => "web",
        false => "native",
    }
}
