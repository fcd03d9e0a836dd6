//! Serving a router on a TCP listener.

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use mcp_core::transport::Connection;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;

/// The longest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// Serves a router over HTTP/1.1 on a TCP listener, with bounds on what its connections may cost.
///
/// It runs until it is [shut down](Serve::shutdown). Dropping its future closes every connection.
///
/// ```no_run
/// use mcp_runtime::transport::http::server::{HttpServer, serve};
/// use mcp_runtime::{Options, Router};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn example() -> std::io::Result<()> {
/// let shutdown = CancellationToken::new();
/// let app = HttpServer::new().shutdown(shutdown.clone()).app(Router::new("weather", "1.0"), Options::default());
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
/// serve(listener, app).shutdown(shutdown).await;
/// # Ok(())
/// # }
/// ```
///
/// Handlers of axum find the client's address in [`ConnectInfo<SocketAddr>`](ConnectInfo), and the connection in
/// [`Connection`].
///
/// `axum::serve` has none of these limits. If you use it, or another server, set:
///
/// - a timeout for reading a request's head, without which a client holds a connection for nothing (`header_read_timeout`
///   of hyper, which needs a timer);
/// - a timeout for writing, without which a client that reads nothing holds one as well;
/// - a cap of the connections that are open at once;
/// - TCP_NODELAY, without which a response in several parts waits for the client's acknowledgement of the first;
/// - a shutdown that gives the connections a bounded time to end, and the same token for
///   [`HttpServer::shutdown`](super::HttpServer::shutdown), without which open streams hold it up.
pub fn serve(listener: TcpListener, app: Router) -> Serve {
    Serve {
        listener,
        app,
        header_timeout: Duration::from_secs(30),
        write_timeout: Duration::from_secs(30),
        max_connections: 1024,
        shutdown: CancellationToken::new(),
        grace: Duration::from_secs(30),
    }
}

/// A router to be served; made by [`serve`], and awaited.
#[derive(Debug)]
#[must_use = "nothing is served unless this is awaited"]
pub struct Serve {
    listener: TcpListener,
    app: Router,
    header_timeout: Duration,
    write_timeout: Duration,
    max_connections: usize,
    shutdown: CancellationToken,
    grace: Duration,
}

impl Serve {
    /// How long a client may take to send the head of a request, from when the connection is open or the response before
    /// has been sent; the default is 30 seconds. Then the connection is closed.
    pub fn header_timeout(mut self, timeout: Duration) -> Self {
        self.header_timeout = timeout;
        self
    }

    /// How long a client may read nothing of what it is sent; the default is 30 seconds. Then the connection is
    /// closed.
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// How many connections may be open at once; the default is 1,024, as that is how many files a process may
    /// often have open. Those who come later wait until another is closed. A client has one connection for each stream
    /// that it reads.
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Stops once the token is cancelled: no connection is accepted any more, and those that are open are closed as soon
    /// as the response that is under way has been sent. [`HttpServer::shutdown`](super::HttpServer::shutdown) takes the
    /// same token, and ends the streams.
    pub fn shutdown(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// How long responses that are under way may take once the server shuts down; the default is 30 seconds.
    /// Then their connections are closed.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    async fn run(mut self) {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.header_timeout)
            .max_buf_size(MAX_HEAD);
        let room = Arc::new(Semaphore::new(self.max_connections));
        let connections = TaskTracker::new();
        let cut = CancellationToken::new();
        let _cut_when_done = cut.clone().drop_guard();
        loop {
            let accepted = async {
                // The semaphore is never closed.
                let permit = room.clone().acquire_owned().await;
                let (socket, address) = Listener::accept(&mut self.listener).await;
                (permit, socket, address)
            };
            let (permit, socket, address) = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => break,
                accepted = accepted => accepted,
            };
            if let Err(error) = socket.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY can't be set");
            }
            let mut socket = TimeoutWriter::new(socket);
            socket.set_timeout(Some(self.write_timeout));
            let serving = serve_connection(http.clone(), socket, address, self.app.clone(), self.shutdown.clone());
            let serving = cut.clone().run_until_cancelled_owned(serving);
            connections.spawn(async move {
                serving.await;
                drop(permit);
            });
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

impl IntoFuture for Serve {
    type Output = ();
    type IntoFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

async fn serve_connection(
    http: http1::Builder,
    socket: TimeoutWriter<TcpStream>,
    address: SocketAddr,
    app: Router,
    shutdown: CancellationToken,
) {
    let identity = Connection::new();
    let _closed = identity.guard();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        request.extensions_mut().insert(identity.clone());
        app.clone().call(request)
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(socket)), service));
    let served = tokio::select! {
        served = connection.as_mut() => served,
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, %address, "a connection failed");
    }
}
