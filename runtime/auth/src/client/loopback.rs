//! A user agent for programs on the user's machine.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime_util::BoxFuture;
use reqwest::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::user_agent::{UserAgent, parameter};
use crate::address::{host_address, is_loopback};
use crate::error::BoxError;

/// The maximum bytes of a request's head.
const MAX_LINE: usize = 16 * 1024;
/// The maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 64;
/// The timeout of reading a request, and of writing its response.
const READING: Duration = Duration::from_secs(5);

/// A user agent that shows the URL by a function of the program, and waits for the redirect on a port of this machine.
///
/// ```no_run
/// use mcp_runtime::auth::{Authorizer, Loopback};
/// use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let user = Loopback::bind(|url| println!("Open this page to go on: {url}")).await?;
/// let options = HttpOptions::default().authorizer(Authorizer::interactive(user));
/// let transport = HttpClient::new("https://mcp.example/mcp", options)?;
/// # Ok(())
/// # }
/// ```
///
/// [Specification](https://www.rfc-editor.org/rfc/rfc8252#section-7.3)
pub struct Loopback {
    listener: TcpListener,
    redirect_uri: String,
    open: Arc<dyn Fn(&Url) + Send + Sync>,
    timeout: Duration,
    /// Held while the user is asked: one page at a time.
    asking: Mutex<()>,
}

impl Loopback {
    /// Listens on a free port of 127.0.0.1. The function opens a URL in the user's browser, or shows it.
    ///
    /// # Errors
    /// When the port can't be opened.
    pub async fn bind(open: impl Fn(&Url) + Send + Sync + 'static) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        Ok(Self::new(listener, format!("http://127.0.0.1:{port}/callback"), open))
    }

    /// Listens at a redirect URI that is the same for each login, such as `http://localhost:8080/callback`. Some
    /// authorization servers only accept the exact URI that a client was registered with, or that the document of the
    /// client contains. Its host is an address of this machine, or `localhost`, where 127.0.0.1 is meant.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] when it isn't an `http` URL of this machine, and another one when the port can't be
    /// opened.
    pub async fn bind_to(
        redirect_uri: impl Into<String>,
        open: impl Fn(&Url) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let redirect_uri = redirect_uri.into();
        let url = Url::parse(&redirect_uri).ok();
        let url = url.filter(|url| url.scheme() == "http" && is_loopback(url) && url.fragment().is_none());
        let url = url.ok_or_else(|| {
            let what = format!("{redirect_uri:?} isn't an `http` URL of this machine");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        let address = host_address(&url).unwrap_or(Ipv4Addr::LOCALHOST.into());
        let listener = TcpListener::bind((address, url.port_or_known_default().unwrap_or_default())).await?;
        Ok(Self::new(listener, redirect_uri, open))
    }

    fn new(listener: TcpListener, redirect_uri: String, open: impl Fn(&Url) + Send + Sync + 'static) -> Self {
        Self {
            listener,
            redirect_uri,
            open: Arc::new(open),
            timeout: Duration::from_secs(5 * 60),
            asking: Mutex::default(),
        }
    }

    /// Sets how long the user may take; the default is five minutes.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Waits for the redirect with this state. Other requests to the port get an error.
    async fn redirect(&self, state: Option<String>) -> Result<Url, BoxError> {
        let expected = Url::parse(&self.redirect_uri)?;
        // Browsers open connections that they don't use, so one connection doesn't wait for another.
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    let (connection, _) = accepted?;
                    connections.spawn(redirect_of(connection, expected.clone(), state.clone()));
                }
                Some(redirect) = connections.join_next() => {
                    if let Some(redirect) = redirect? {
                        return Ok(redirect);
                    }
                }
            }
        }
    }
}

impl UserAgent for Loopback {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    fn authorize<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<Url, BoxError>> {
        Box::pin(async move {
            let _asking = self.asking.lock().await;
            (self.open)(url);
            let redirect = self.redirect(parameter(url, "state"));
            let redirect = timeout(self.timeout, redirect).await;
            redirect.unwrap_or_else(|_| Err("the user didn't answer in time".into()))
        })
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Loopback");
        shown.field("redirect_uri", &self.redirect_uri).finish_non_exhaustive()
    }
}

/// Answers the request of a connection. Returns its URL, if it is the redirect with this state.
async fn redirect_of(mut connection: TcpStream, expected: Url, state: Option<String>) -> Option<Url> {
    let target = timeout(READING, request_target(&mut connection)).await;
    let redirect = target
        .ok()
        .and_then(|target| redirect_at(&target?, &expected, state.as_deref()));
    let answered = timeout(READING, answer(&mut connection, redirect.is_some())).await;
    if !matches!(answered, Ok(Ok(()))) {
        tracing::debug!("the browser didn't read the response to the redirect");
    }
    redirect
}

/// The URL of a request's target, if it is the redirect with this state.
fn redirect_at(target: &str, expected: &Url, state: Option<&str>) -> Option<Url> {
    let url = expected.join(target).ok()?;
    let is_expected = url.origin() == expected.origin() && url.path() == expected.path();
    (is_expected && parameter(&url, "state").as_deref() == state).then_some(url)
}

/// Reads the target of a GET.
async fn request_target(connection: &mut TcpStream) -> Option<String> {
    let mut connection = BufReader::new(connection);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() >= MAX_LINE {
            return None;
        }
        head.push(connection.read_u8().await.ok()?);
    }
    let line = std::str::from_utf8(&head).ok()?.lines().next()?;
    let (target, _) = line.strip_prefix("GET ")?.split_once(' ')?;
    target.starts_with('/').then(|| target.to_owned())
}

async fn answer(connection: &mut TcpStream, is_redirect: bool) -> io::Result<()> {
    let (status, text) = match is_redirect {
        true => ("200 OK", "You can close this page and return to the program."),
        false => ("404 Not Found", "There is nothing here."),
    };
    let head = "Content-Type: text/plain\r\nCache-Control: no-store\r\nConnection: close";
    let response = format!(
        "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    connection.write_all(response.as_bytes()).await?;
    connection.shutdown().await
}
