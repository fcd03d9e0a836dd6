//! Requests to servers that other servers have named: with limits, and only to allowed addresses.

use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderMap, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Method, RequestBuilder, StatusCode, Url};
use serde::de::DeserializeOwned;

use super::address::{AddressPolicy, BlockedAddress, GuardedResolver, host_address, is_loopback};
use super::error::AuthError;

/// The maximum bytes of a response.
const MAX_BODY: usize = 256 * 1024;
/// The timeout of a request and its response.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of redirects of a request for metadata.
const MAX_REDIRECTS: usize = 3;

/// Sends requests to authorization servers and for metadata.
#[derive(Debug, Clone)]
pub struct Fetcher {
    client: reqwest::Client,
    reach: AddressPolicy,
}

/// The response to a request.
#[derive(Debug)]
pub struct Answer {
    pub url: Url,
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// Decodes the body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        serde_json::from_slice(&self.body).map_err(|error| AuthError::Malformed {
            url: self.url.to_string(),
            // The text of the error can contain parts of the response, which can contain a token.
            why: format!(
                "it isn't the expected JSON, line {} column {}",
                error.line(),
                error.column()
            ),
        })
    }

    /// Decodes metadata that always have this member; `None` if the document has no such member, as some servers respond
    /// with a web page or another document to every request.
    pub fn metadata<T: DeserializeOwned>(&self, required: &str) -> Result<Option<T>, AuthError> {
        let members: Option<serde_json::Map<_, _>> = serde_json::from_slice(&self.body).ok();
        match members.is_some_and(|members| members.contains_key(required)) {
            true => self.json().map(Some),
            false => Ok(None),
        }
    }
}

impl Fetcher {
    /// Creates a fetcher with a given client, which has to restrict addresses itself, or else with its own one.
    pub fn new(reach: AddressPolicy, client: Option<reqwest::Client>) -> Result<Self, AuthError> {
        let client = match client {
            Some(client) => client,
            None => {
                let client = reqwest::Client::builder()
                    .redirect(Policy::none())
                    .dns_resolver(GuardedResolver(reach));
                client.build().map_err(|error| AuthError::Network {
                    url: String::new(),
                    why: error.to_string(),
                })?
            }
        };
        Ok(Self { client, reach })
    }

    /// Checks that a URL may be used: that its address is allowed, and that it has TLS, unless it is on this machine.
    pub fn check(&self, url: &str) -> Result<Url, AuthError> {
        let unusable = |why| AuthError::Url {
            url: url.to_owned(),
            why,
        };
        let url = Url::parse(url).map_err(|_| unusable("it isn't absolute"))?;
        let is_plain = match url.scheme() {
            "https" => false,
            "http" => true,
            _ => return Err(unusable("it isn't an HTTP URL")),
        };
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(unusable("it has a user or a fragment"));
        }
        if host_address(&url).is_some_and(|address| !self.reach.allows(address)) {
            return Err(AuthError::Blocked(url.to_string()));
        }
        if is_plain && !is_loopback(&url) && self.reach != AddressPolicy::Any {
            return Err(unusable("it has no TLS"));
        }
        Ok(url)
    }

    /// Fetches a document; `None` if there is none at this URL. Redirects are followed within the same origin.
    pub async fn get(&self, url: &str) -> Result<Option<Answer>, AuthError> {
        let mut url = self.check(url)?;
        for _ in 0..=MAX_REDIRECTS {
            let request = self.client.request(Method::GET, url.clone());
            let answer = self.send(&url, request.header(ACCEPT, "application/json")).await?;
            let target = answer.headers.get(LOCATION).filter(|_| answer.status.is_redirection());
            let Some(target) = target else {
                return match answer.status {
                    status if status.is_success() => Ok(Some(answer)),
                    status if status.is_client_error() => Ok(None),
                    status => Err(AuthError::Malformed {
                        url: url.to_string(),
                        why: format!("its status is {status}"),
                    }),
                };
            };
            let target = target.to_str().ok().and_then(|target| url.join(target).ok());
            url = match target.filter(|target| target.origin() == url.origin()) {
                Some(target) => self.check(target.as_str())?,
                None => return Err(redirected(&url)),
            };
        }
        Err(redirected(&url))
    }

    /// Posts a form. Redirects aren't followed, because the form contains secrets.
    pub async fn post_form(&self, url: &str, headers: HeaderMap, form: &[(&str, String)]) -> Result<Answer, AuthError> {
        let url = self.check(url)?;
        let request = self.client.post(url.clone()).form(form).headers(headers);
        self.send(&url, request.header(ACCEPT, "application/json")).await
    }

    /// Posts JSON.
    pub async fn post_json(&self, url: &str, body: &serde_json::Value) -> Result<Answer, AuthError> {
        let url = self.check(url)?;
        let request = self.client.post(url.clone()).body(body.to_string());
        let request = request.header(reqwest::header::CONTENT_TYPE, "application/json");
        self.send(&url, request.header(ACCEPT, "application/json")).await
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<Answer, AuthError> {
        let failed = |error: reqwest::Error| match is_blocked(&error) {
            true => AuthError::Blocked(url.to_string()),
            false => AuthError::Network {
                url: url.to_string(),
                why: innermost(&error),
            },
        };
        let mut response = request.timeout(TIMEOUT).send().await.map_err(failed)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(AuthError::TooLarge(url.to_string()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Answer {
            url: url.clone(),
            status: response.status(),
            headers: response.headers().clone(),
            body,
        })
    }
}

fn redirected(url: &Url) -> AuthError {
    AuthError::Malformed {
        url: url.to_string(),
        why: "it redirects to another origin, or too often".to_owned(),
    }
}

/// The causes of an error.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(error), |error| error.source())
}

fn is_blocked(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.is::<BlockedAddress>())
}

fn innermost(error: &reqwest::Error) -> String {
    match causes(error).last() {
        Some(cause) => cause.to_string(),
        None if error.is_timeout() => "it didn't answer in time".to_owned(),
        None => "the request failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn public_servers_cannot_direct_requests_to_this_machine() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let fetcher = Fetcher::new(AddressPolicy::Public, None).unwrap();
        for host in ["127.0.0.1", "localhost", "[::1]", "127.1"] {
            for scheme in ["http", "https"] {
                let got = fetcher.get(&format!("{scheme}://{host}:{port}/")).await;
                assert!(matches!(got, Err(AuthError::Blocked(_))), "{host}: {got:?}");
            }
        }
        let waiting = tokio::time::timeout(Duration::from_millis(50), listener.accept());
        assert!(waiting.await.is_err());
    }
}
