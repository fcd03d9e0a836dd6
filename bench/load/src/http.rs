//! An HTTP client.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use reqwest::{Client, Response};
use tokio::task::JoinSet;

/// A client of an HTTP server, with or without a session.
#[derive(Debug, Clone)]
pub struct Http {
    /// The client that sends the requests.
    pub client: Client,
    /// The server's URL.
    pub url: String,
    /// The session's id, once there is one.
    pub session: Option<String>,
    /// Other headers of each request.
    pub headers: Vec<(&'static str, String)>,
}

/// The response to a request.
#[derive(Debug)]
pub struct Body {
    /// The status.
    pub status: u16,
    /// The message: the last event of a stream, or the whole body.
    pub text: String,
}

impl Http {
    /// Opens a session. If the server sends no session id, later requests have none.
    ///
    /// # Errors
    /// If the server refuses the session.
    pub async fn begin(client: Client, url: String, revision: &str) -> Result<Self> {
        let mut http = Self {
            client,
            url,
            session: None,
            headers: Vec::new(),
        };
        let response = http.post(crate::initialize(revision)).await?;
        ensure!(
            response.status().is_success(),
            "no session was opened: {}",
            response.status()
        );
        let id = response.headers().get("mcp-session-id");
        http.session = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        response.bytes().await?;
        http.send(crate::initialized()).await?;
        Ok(http)
    }

    /// Makes a client that calls the tool `name` without a session.
    #[must_use]
    pub fn stateless(client: Client, url: String, revision: &str, name: &str) -> Self {
        let headers = [
            ("mcp-protocol-version", revision),
            ("mcp-method", "tools/call"),
            ("mcp-name", name),
        ];
        Self {
            client,
            url,
            session: None,
            headers: headers.map(|(header, value)| (header, value.to_owned())).into(),
        }
    }

    /// Posts a message, and returns the head of the response.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn post(&self, message: String) -> Result<Response> {
        let mut request = self.client.post(&self.url);
        request = request.header("content-type", "application/json");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        Ok(request.body(message).send().await?)
    }

    /// Posts a message, and returns the whole response.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn send(&self, message: String) -> Result<Body> {
        let response = self.post(message).await?;
        let status = response.status().as_u16();
        let is_stream = response
            .headers()
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        let mut text = response.text().await?;
        if is_stream {
            let mut data = text.lines().filter_map(|line| line.strip_prefix("data:"));
            text = data
                .next_back()
                .context("a stream without events")?
                .trim_start()
                .to_owned();
        }
        Ok(Body { status, text })
    }

    /// Sends requests until `end`, with `window` of them in flight, checks the responses, and returns the latency of
    /// each.
    ///
    /// # Errors
    /// If a request has no response, or its check fails.
    pub async fn repeat<R, C>(&self, window: u64, end: Instant, request: R, check: C) -> Result<Vec<Duration>>
    where
        R: Fn(u64) -> String + Clone + Send + 'static,
        C: Fn(&str) -> Result<()> + Clone + Send + 'static,
    {
        let mut callers = JoinSet::new();
        for caller in 0..window {
            let (http, request, check) = (self.clone(), request.clone(), check.clone());
            callers.spawn(async move {
                let mut latencies = Vec::new();
                for id in (caller << 32) + 1.. {
                    let begun = Instant::now();
                    if begun >= end {
                        break;
                    }
                    let body = http.send(request(id)).await?;
                    latencies.push(begun.elapsed());
                    check(&body.text)?;
                }
                anyhow::Ok(latencies)
            });
        }
        let mut latencies = Vec::new();
        for each in callers.join_all().await {
            latencies.extend(each?);
        }
        Ok(latencies)
    }

    /// Ends the session, and returns the status of the response.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn end(&self) -> Result<u16> {
        let session = self.session.as_deref().unwrap_or_default();
        let request = self.client.delete(&self.url).header("mcp-session-id", session);
        Ok(request.send().await?.status().as_u16())
    }

    /// Posts a message, and returns the whole response if it arrives in time.
    ///
    /// # Errors
    /// If there is no response.
    pub async fn send_within(&self, message: String, patience: Duration) -> Result<Body> {
        tokio::time::timeout(patience, self.send(message))
            .await
            .context("no response")?
    }
}
