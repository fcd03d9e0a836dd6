//! A simulated user with a browser.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::auth::{BoxError, BoxFuture, UserAgent};
use mcp_runtime::transport::http::client::reqwest::header::{COOKIE, LOCATION, SET_COOKIE};
use mcp_runtime::transport::http::client::reqwest::redirect::Policy;
use mcp_runtime::transport::http::client::reqwest::{Client, Url};

const REDIRECT_URI: &str = "http://127.0.0.1:3000/callback";
/// The maximum number of pages before the redirect.
const PAGES: usize = 10;

/// A browser that keeps cookies and follows redirects.
#[derive(Clone, Default)]
pub struct Browser(Arc<AtomicUsize>);

impl Browser {
    /// The number of times that it was used.
    pub fn uses(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl UserAgent for Browser {
    fn redirect_uri(&self) -> &str {
        REDIRECT_URI
    }

    fn authorize<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Url, BoxError>> {
        Box::pin(async move {
            self.0.fetch_add(1, Ordering::SeqCst);
            let client = Client::builder().redirect(Policy::none()).build()?;
            let mut cookies = BTreeMap::new();
            let mut url = url.clone();
            for _ in 0..PAGES {
                let pairs: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
                let response = client.get(url.clone()).header(COOKIE, pairs.join("; ")).send().await?;
                for cookie in response.headers().get_all(SET_COOKIE) {
                    let pair = cookie.to_str()?.split(';').next().and_then(|pair| pair.split_once('='));
                    cookies.extend(pair.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                let location = response.headers().get(LOCATION);
                let location = location.ok_or_else(|| format!("{url} doesn't redirect: {}", response.status()))?;
                url = url.join(location.to_str()?)?;
                if url.as_str().starts_with(REDIRECT_URI) {
                    return Ok(url);
                }
            }
            Err("the pages lead nowhere".into())
        })
    }
}
