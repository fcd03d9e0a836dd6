//! Serving a service on a listener.

use std::error::Error;
use std::future::{IntoFuture, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcp_runtime_core::transport::Connection;
use mcp_runtime_util::{FOREVER, repolled, task};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use super::extensions::ClientAddress;
use super::timer::ConnectionTimer;

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// The pause after an error before the next connection is accepted.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// Serves an [`HttpServer`](super::HttpServer), or another service such as an axum router, over HTTP/1.1 on a TCP
/// listener or another [`Listener`], with limits and timeouts for its connections.
///
/// It runs until it is [shut down](Serve::shutdown). Dropping its future closes every connection.
///
/// ```no_run
/// use mcp_runtime::transport::http::server::{HttpServer, serve};
/// use mcp_runtime::Router;
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example() -> std::io::Result<()> {
/// let shutdown = CancellationToken::new();
/// let server = HttpServer::new(Router::new("weather", "1.0")).shutdown(shutdown.clone());
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// serve(listener, server).shutdown(shutdown).await;
/// # Ok(())
/// # }
/// ```
///
/// The extensions of each request have the [`Connection`] and, if the client has an address, its [`ClientAddress`].
///
/// On a Unix socket, clients send arbitrary hosts, and web pages can't send requests, so allow all hosts by
/// `HttpServer::allow_host("*")`. Clients there have no address, so without a principal they share the limits of one
/// client.
///
/// `axum::serve` has none of these limits. If you use it, or another server, set:
///
/// - a timeout for reading a request's head, without which an idle client can hold a connection (`header_read_timeout`
///   of hyper, which needs a timer);
/// - a timeout for writing, without which a client that reads nothing can hold a connection;
/// - a limit of the number of open connections;
/// - TCP_NODELAY, without which a response in several parts waits for the client's acknowledgement of the first;
/// - a shutdown that gives the connections a bounded time to end, and the same token for
///   [`HttpServer::shutdown`](super::HttpServer::shutdown), without which open streams hold it up.
pub fn serve<S, L: Listener>(listener: L, service: S) -> Serve<S, L> {
    Serve {
        listener,
        service,
        header_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(30),
        max_connections: 1024,
        shutdown: CancellationToken::new(),
        grace: Duration::from_secs(30),
    }
}

/// The future that serves a service. [`serve`] creates it.
#[derive(Debug)]
#[must_use = "nothing is served unless this is awaited"]
pub struct Serve<S, L = TcpListener> {
    listener: L,
    service: S,
    header_timeout: Duration,
    write_timeout: Duration,
    max_connections: usize,
    shutdown: CancellationToken,
    grace: Duration,
}

impl<S, L> Serve<S, L> {
    /// Sets how long a client may take to send the head of a request after the connection was opened, or after the
    /// previous response was sent; the default is 30 seconds. Then the connection is closed.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout.min(FOREVER);
        self
    }

    /// Sets how long a write may wait for a client that reads nothing; the default is 30 seconds. Then the connection
    /// is closed.
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets the maximum number of open connections; the default is 1,024, a common limit of the number of open files of
    /// a process. Further clients wait until another connection is closed. A client has one connection for each stream
    /// that it reads.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Shuts down when the token is cancelled: no more connections are accepted, and open ones are closed as soon as
    /// the response in progress has been sent. Pass the same token to
    /// [`HttpServer::shutdown`](super::HttpServer::shutdown), which ends the streams.
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// Sets how long responses in progress may take when the server shuts down; the default is 30 seconds. Then their
    /// connections are closed.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }
}

/// A listener on which [`serve`] accepts connections.
pub trait Listener: Send + Sync + 'static {
    /// A connection.
    type Stream: AsyncRead + AsyncWrite + Send + 'static;

    /// Accepts the next connection, and returns it with the address of the client if it has one.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Option<SocketAddr>)>> + Send;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<(TcpStream, Option<SocketAddr>)> {
        let (stream, address) = TcpListener::accept(self).await?;
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY can't be set");
        }
        Ok((stream, Some(address)))
    }
}

#[cfg(unix)]
impl Listener for tokio::net::UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<(Self::Stream, Option<SocketAddr>)> {
        let (stream, _) = tokio::net::UnixListener::accept(self).await?;
        Ok((stream, None))
    }
}

#[cfg(all(feature = "unix", unix))]
impl Listener for mcp_runtime_local::unix::UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept(&self) -> io::Result<(Self::Stream, Option<SocketAddr>)> {
        let stream = mcp_runtime_local::unix::UnixListener::accept(self).await?;
        Ok((stream, None))
    }
}

/// A service that [`serve`] can serve.
pub trait HttpService:
    Service<Request<Incoming>, Response = Response<Self::Body>, Error: Into<BoxError>, Future: Send>
    + Clone
    + Send
    + 'static
{
    /// The body of a response.
    type Body: Body<Data: Send, Error: Into<BoxError>> + Send + 'static;
}

impl<S, B> HttpService for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Error: Into<BoxError>, Future: Send> + Clone + Send + 'static,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Body = B;
}

type BoxError = Box<dyn Error + Send + Sync>;

impl<S: HttpService, L: Listener> Serve<S, L> {
    async fn run(self) {
        let mut http = http1::Builder::new();
        http.header_read_timeout(self.header_timeout).max_buf_size(MAX_HEAD);
        let room = Arc::new(Semaphore::new(self.max_connections));
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let _cut_when_done = cut.clone().drop_guard();
        loop {
            let accepted = async {
                // The semaphore is never closed.
                let permit = room.clone().acquire_owned().await;
                let (socket, address) = accept(&self.listener).await;
                (permit, socket, address)
            };
            let (permit, socket, address) = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                accepted = accepted => accepted,
            };
            let mut socket = TimeoutWriter::new(socket);
            socket.set_timeout(Some(self.write_timeout));
            let service = self.service.clone();
            let serving = serve_connection(http.clone(), socket, address, service, self.shutdown.clone());
            let serving = cut.clone().run_until_cancelled_owned(serving);
            connections.spawn(repolled(task(async move {
                serving.await;
                drop(permit);
            })));
        }
        drop(self.listener);
        connections.close();
        if tokio::time::timeout(self.grace, connections.wait()).await.is_err() {
            tracing::warn!(
                connections = connections.len(),
                "connections are closed in the middle of a response"
            );
        }
    }
}

impl<S: HttpService, L: Listener> IntoFuture for Serve<S, L> {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// Accepts the next connection. After an error, such as that of too many open files, tries again.
async fn accept<L: Listener>(listener: &L) -> (L::Stream, Option<SocketAddr>) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_connection(&error) => {}
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

async fn serve_connection(
    mut http: http1::Builder,
    socket: TimeoutWriter<impl AsyncRead + AsyncWrite + Send + 'static>,
    address: Option<SocketAddr>,
    service: impl HttpService,
    shutdown: CancellationToken,
) {
    let identity = Connection::new();
    let _closed = identity.guard();
    let service = service_fn(move |mut request: Request<Incoming>| {
        if let Some(address) = address {
            request.extensions_mut().insert(ClientAddress(address));
        }
        request.extensions_mut().insert(identity.clone());
        let mut service = service.clone();
        async move {
            poll_fn(|cx| service.poll_ready(cx)).await?;
            service.call(request).await
        }
    });
    http.timer(ConnectionTimer::default());
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(socket)), service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, ?address, "a connection failed");
    }
}
