//! How a client speaks HTTP.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;

type BoxError = Box<dyn std::error::Error + Send + Sync>;
type Filling = Pin<Box<dyn Future<Output = Result<HeaderMap, BoxError>> + Send>>;
type Hook = Arc<dyn Fn(HeaderMap) -> Filling + Send + Sync>;

/// How an [`HttpClient`](super::HttpClient) speaks to its server, and how much it takes from it.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The bytes that one message may have. An answer that has more fails its request; any other message is refused.
    pub message_bytes: usize,
    /// How many requests may wait for their answers; further ones wait to be sent.
    pub requests: usize,
    /// How many messages wait for the one that receives them; then the server has to wait.
    pub queue: usize,
    /// How often in a row a stream that ended early is asked for again.
    pub reconnects: u32,
    /// How long the first of these waits, unless the server says so. Each next one waits twice as long.
    pub reconnect_after: Duration,
    /// The longest of these waits, also when the server says so.
    pub reconnect_at_most: Duration,
    /// How long it may take to connect, to begin a stream in the older way, and to end the session.
    pub patience: Duration,
    /// The client to use, to set proxies or certificates. One of our own doesn't follow redirections elsewhere.
    pub client: Option<reqwest::Client>,
    pub(super) hook: Option<Hook>,
    pub(super) renewed: Option<Arc<dyn Fn() + Send + Sync>>,
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
            patience: Duration::from_secs(30),
            client: None,
            hook: None,
            renewed: None,
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
    /// The same options with a hook that adds headers to each HTTP request, such as a bearer token. What the protocol
    /// says of its own headers wins.
    #[must_use]
    pub fn headers(mut self, hook: impl Fn(&mut HeaderMap) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(move |mut headers| {
            hook(&mut headers);
            Box::pin(std::future::ready(Ok(headers)))
        }));
        self
    }

    /// The same, for a hook that has to wait for what it adds, or that may fail; then the request isn't sent.
    #[must_use]
    pub fn headers_async<F>(mut self, hook: impl Fn(HeaderMap) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<HeaderMap, BoxError>> + Send + 'static,
    {
        self.hook = Some(Arc::new(move |headers| Box::pin(hook(headers))));
        self
    }

    /// The same options with whom to tell that a new session has begun in place of one that the server had forgotten, and
    /// so that subscriptions and the log level have to be set again. It is called between messages, and should be brief.
    #[must_use]
    pub fn renewed(mut self, told: impl Fn() + Send + Sync + 'static) -> Self {
        self.renewed = Some(Arc::new(told));
        self
    }

    /// The same options with this client.
    #[must_use]
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.client = Some(client);
        self
    }

    /// The same options, but for the bytes that one message may have.
    #[must_use]
    pub fn message_bytes(mut self, bytes: usize) -> Self {
        self.message_bytes = bytes;
        self
    }

    /// The same options with other reconnects: how many in a row, and how long the first one waits.
    #[must_use]
    pub fn reconnects(mut self, reconnects: u32, after: Duration) -> Self {
        (self.reconnects, self.reconnect_after) = (reconnects, after);
        self
    }

    /// How long the reconnect after so many failures waits, when the server has asked for `retry`.
    pub(super) fn wait(&self, failures: u32, retry: Option<Duration>) -> Duration {
        let own = self.reconnect_after.saturating_mul(1 << failures.min(16));
        let wait = match retry {
            Some(retry) if failures == 0 => retry,
            Some(retry) => retry.max(own),
            None => own,
        };
        // Many clients that lost their server at once shouldn't all be back at once.
        let jitter = 1.0 + fastrand::f64() / 4.0;
        wait.clamp(Duration::from_millis(20), self.reconnect_at_most)
            .mul_f64(jitter)
    }
}
