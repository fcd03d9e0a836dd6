//! Users.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::auth::{BoxError, BoxFuture, UserAgent};
use mcp_runtime::transport::http::client::reqwest::{self, Url};

/// A user whose browser opens the authorization URL and returns the redirect.
#[derive(Clone, Default)]
pub struct Browser {
    asked: Arc<AtomicUsize>,
    delay: Duration,
}

impl Browser {
    /// A user who takes some time.
    pub fn slow(delay: Duration) -> Self {
        Self {
            delay,
            ..Self::default()
        }
    }

    /// The number of times that the user was asked for authorization.
    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl UserAgent for Browser {
    fn redirect_uri(&self) -> &str {
        "http://127.0.0.1:1/callback"
    }

    fn authorize<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Url, BoxError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(self.delay).await;
            let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
            let response = browser.build()?.get(url.clone()).send().await?;
            let location = response.headers().get("location").ok_or("there is no redirect")?;
            Ok(url.join(location.to_str()?)?)
        })
    }
}
