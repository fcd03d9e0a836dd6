//! The options of an HTTP client.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_core::mcp_wire::Extension;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode, Url};

use super::authorization::Authorize;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Filling = Pin<Box<dyn Future<Output = Result<HeaderMap, BoxError>> + Send>>;
type ExchangeObserver = Arc<dyn Fn(&HttpExchange<'_>) + Send + Sync>;
type Hook = Arc<dyn Fn(HeaderMap) -> Filling + Send + Sync>;

/// The options and limits of an [`HttpClient`](super::HttpClient).
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The maximum bytes of a message. A longer response fails its request; any other longer message is refused.
    pub message_bytes: usize,
    /// The maximum number of requests in flight; further ones wait to be sent.
    pub requests: usize,
    /// The capacity of the queue of received messages. When it is full, the server has to wait.
    pub queue: usize,
    /// The maximum number of reconnects in a row for a stream that ended early.
    pub reconnects: u32,
    /// The delay of the first reconnect, unless the server sets one. It doubles with each further one.
    pub reconnect_after: Duration,
    /// The maximum delay of a reconnect, even if the server sets a longer one.
    pub reconnect_at_most: Duration,
    /// The timeout of connecting, of opening the stream of HTTP with SSE, and of ending the session.
    pub timeout: Duration,
    /// The client to use, for proxies or certificates. The default one follows redirections only within the same
    /// origin, and only 307 and 308, after which the request stays a POST.
    pub client: Option<reqwest::Client>,
    pub(super) authorizer: Option<Arc<dyn Authorize>>,
    pub(super) extensions: Vec<Extension>,
    pub(super) hook: Option<Hook>,
    pub(super) renewed: Option<Arc<dyn Fn() + Send + Sync>>,
    pub(super) exchanges: Option<ExchangeObserver>,
}

/// An HTTP request and its response without their bodies, for [`HttpOptions::exchanges`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpExchange<'e> {
    /// The method of the request.
    pub method: &'e Method,
    /// The URL of the request.
    pub url: &'e Url,
    /// The headers of the request, without those that every HTTP client sends, such as `Host`. They have credentials.
    pub request: &'e HeaderMap,
    /// The status of the response.
    pub status: StatusCode,
    /// The headers of the response.
    pub response: &'e HeaderMap,
}

impl Default for HttpOptions {
    /// Messages of 16 MiB, 1,024 requests, 5 reconnects after 1 second up to 1 minute.
    fn default() -> Self {
        Self {
            message_bytes: 16 * 1024 * 1024,
            requests: 1024,
            queue: 16,
            reconnects: 5,
            reconnect_after: Duration::from_secs(1),
            reconnect_at_most: Duration::from_secs(60),
            timeout: Duration::from_secs(30),
            client: None,
            authorizer: None,
            extensions: Vec::new(),
            hook: None,
            renewed: None,
            exchanges: None,
        }
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("message_bytes", &self.message_bytes)
            .field("requests", &self.requests)
            .field("reconnects", &self.reconnects)
            .finish_non_exhaustive()
    }
}

impl HttpOptions {
    /// Adds headers to each HTTP request, such as a bearer token. The headers of the protocol take precedence.
    #[must_use]
    pub fn headers(mut self, hook: impl Fn(&mut HeaderMap) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(move |mut headers| {
            hook(&mut headers);
            Box::pin(std::future::ready(Ok(headers)))
        }));
        self
    }

    /// Adds headers from an async function. If the function fails, the request isn't sent.
    #[must_use]
    pub fn headers_async<F>(mut self, hook: impl Fn(HeaderMap) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HeaderMap, BoxError>> + Send + 'static,
    {
        self.hook = Some(Arc::new(move |headers| Box::pin(hook(headers))));
        self
    }

    /// Sets the authorizer that obtains tokens for this client. A request that the server refuses for lack of a token
    /// is sent again, once, when a token has been obtained; the time until then doesn't count toward the timeouts of
    /// calls. Tokens are only sent to the server's origin.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorize) -> Self {
        self.authorizer = Some(Arc::new(authorizer));
        self
    }

    /// Sets a function that is called when the client has renewed a session that the server had lost. The log level of
    /// the options and subscriptions to resources are restored automatically then; notifications of changes between the
    /// loss and the renewal are lost. The function is called between messages, and should be brief.
    #[must_use]
    pub fn renewed(mut self, observer: impl Fn() + Send + Sync + 'static) -> Self {
        self.renewed = Some(Arc::new(observer));
        self
    }

    /// Adds an extension of the protocol, whose requests have headers that repeat their parameters.
    #[must_use]
    pub fn extension(mut self, extension: Extension) -> Self {
        self.extensions.push(extension);
        self
    }

    /// Sets a function that sees each HTTP request to the server, and the head of its response: for logs of the wire.
    #[must_use]
    pub fn exchanges(mut self, observer: impl Fn(&HttpExchange<'_>) + Send + Sync + 'static) -> Self {
        self.exchanges = Some(Arc::new(observer));
        self
    }

    /// Sets the client.
    #[must_use]
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.client = Some(client);
        self
    }

    /// Sets the maximum bytes of a message.
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// Sets the maximum number of reconnects in a row, and the delay of the first one.
    #[must_use]
    pub fn reconnects(mut self, reconnects: u32, after: Duration) -> Self {
        (self.reconnects, self.reconnect_after) = (reconnects, after);
        self
    }

    /// The delay of the next reconnect after this many failures. `retry` is the reconnection time that the server has
    /// set, if any.
    pub(super) fn wait(&self, failures: u32, retry: Option<Duration>) -> Duration {
        let backoff = self.reconnect_after.saturating_mul(1 << failures.min(16));
        let wait = match retry {
            Some(retry) if failures == 0 => retry,
            Some(retry) => retry.max(backoff),
            None => backoff,
        };
        // Clients that lost their server at the same time must not all reconnect at the same time.
        let jitter = 1.0 + fastrand::f64() / 4.0;
        let wait = wait.max(Duration::from_millis(20)).min(self.reconnect_at_most);
        Duration::try_from_secs_f64(wait.as_secs_f64() * jitter).unwrap_or(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reconnect_delays_of_zero_and_of_the_maximum_are_accepted() {
        for (at_most, longest) in [(Duration::ZERO, Duration::ZERO), (Duration::MAX, Duration::MAX)] {
            let options = HttpOptions {
                reconnect_at_most: at_most,
                ..HttpOptions::default().reconnects(1, longest)
            };
            let wait = options.wait(3, None);
            assert!(wait >= at_most.min(longest) && wait <= at_most, "{wait:?}");
        }
    }
}
