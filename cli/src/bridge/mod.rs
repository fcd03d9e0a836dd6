//! `mcp-rev bridge`

mod losses;
mod record;

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use mcp_runtime::bridge::{Bridge, BridgeError, BridgeOptions};
use mcp_runtime::transport::http::client::HttpClient;
use mcp_runtime::transport::http::client::reqwest::header::HeaderName;
use mcp_runtime::transport::http::server::{HttpServer, Listener, serve};
use mcp_runtime::transport::stdio::{SpawnOptions, spawn, stdio};
#[cfg(unix)]
use mcp_runtime::transport::unix::UnixListener;
use mcp_runtime::transport::{Transport, TransportError};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::filter::LevelFilter;

use self::losses::LossLog;
use self::record::Recorder;
use crate::args::{AuthMode, BridgeArgs, Listen, Socket};
use crate::client::{block_on, command_of, http_options};
use crate::error::{CommandError, Summary};
use crate::transcript::Side;

/// The extra time to start a session if the user has to log in: the same time that the login is waited for.
const LOGIN: Duration = Duration::from_secs(5 * 60);

/// Serves clients until one of the sides ends, or until an interrupt.
pub fn bridge(args: &BridgeArgs) -> Result<Summary, CommandError> {
    log(args.verbose);
    block_on(run(args))
}

/// Logs events of the bridge to standard error, and each line of the servers' standard errors.
pub fn log(is_verbose: bool) {
    let log = tracing_subscriber::fmt()
        .with_writer(crate::paint::errors)
        .without_time()
        .with_target(false);
    let level = if is_verbose {
        LevelFilter::DEBUG
    } else {
        LevelFilter::INFO
    };
    log.with_max_level(level).init();
}

async fn run(args: &BridgeArgs) -> Result<Summary, CommandError> {
    let options = options(args)?;
    let recorder = Recorder::new(args.record.as_deref())?;
    match &args.to {
        Some(url) => {
            let url = url.clone();
            let http = args.limit.of_http(http_options(&args.headers, &args.auth).await?);
            let http = http.shared_client()?;
            // Reports a wrong URL now, not when the first client connects.
            HttpClient::new(&url, http.clone())?;
            let record = Arc::clone(&recorder);
            let connect = move || {
                let session = record.session();
                let client = HttpClient::new(&url, record.record_requests(http.clone(), session)).map_err(other)?;
                Ok(record.record(client, Side::Server, session))
            };
            listen(args, options, recorder, connect).await
        }
        None => {
            let (command, limit) = (args.command.clone(), args.limit);
            let record = Arc::clone(&recorder);
            let connect = move || {
                let process = spawn(command_of(&command), limit.of_process(SpawnOptions::default())).map_err(other)?;
                Ok(record.record(process, Side::Server, record.session()))
            };
            listen(args, options, recorder, connect).await
        }
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> TransportError {
    TransportError::Other(Box::new(error))
}

fn options(args: &BridgeArgs) -> Result<BridgeOptions, CommandError> {
    let mut options = BridgeOptions::default();
    if !args.speak.is_empty() {
        options.server = args.speak.clone();
        options.server.sort_unstable();
        options.server.dedup();
    }
    let losses = LossLog::new(args.losses.as_deref(), args.verbose)?;
    options.losses = Some(Arc::new(move |method, lost| losses.add(method, lost)));
    options.restart = args.restart;
    options.server_sessions = usize::try_from(args.servers).unwrap_or(usize::MAX);
    options.idle = args.idle;
    options.connect_timeout = args.connect_timeout;
    if args.auth.auth == Some(AuthMode::User) {
        options.connect_timeout = options.connect_timeout.saturating_add(LOGIN);
    }
    options.suspension_timeout = args.wait;
    Ok(options)
}

async fn listen<T: Transport>(
    args: &BridgeArgs,
    options: BridgeOptions,
    recorder: Arc<Recorder>,
    connect: impl Fn() -> Result<T, TransportError> + Send + Sync + 'static,
) -> Result<Summary, CommandError> {
    let bridge = Bridge::new(connect, options.clone());
    if args.start {
        bridge.start().await?;
    }
    match &args.listen {
        Listen::Stdio => {
            let client = recorder.record(stdio()?, Side::Client, recorder.session());
            serve_one(&bridge, client).await
        }
        Listen::Http { socket, host, path } => {
            let server = http_server(&bridge, &recorder).revisions(options.clients);
            let server = server.path(path).allow_host(host);
            let server = identify_users(server, args.principal_header.as_ref(), args.one_user);
            // A client keeps a stream open while it sends its requests.
            let connections = options.server_sessions.saturating_mul(2).max(1024);
            serve_http(socket, server, connections, |app| recorder.record_clients(app)).await?;
            bridge.close().await;
            Ok(Summary::AllSucceeded)
        }
    }
}

/// Serves the client that started the bridge.
async fn serve_one(bridge: &Bridge, client: impl Transport) -> Result<Summary, CommandError> {
    let mut served = Box::pin(bridge.serve(client));
    let outcome = tokio::select! {
        outcome = &mut served => outcome,
        interrupted = interrupted() => {
            interrupted?;
            bridge.close().await;
            served.await
        }
    };
    bridge.close().await;
    outcome?;
    Ok(Summary::AllSucceeded)
}

/// The server of the bridge's clients over HTTP.
fn http_server(bridge: &Bridge, recorder: &Arc<Recorder>) -> HttpServer {
    let (bridge, recorder) = (bridge.clone(), Arc::clone(recorder));
    HttpServer::from_fn(move |transport, info| {
        let bridge = bridge.clone();
        let transport = recorder.record(transport, Side::Client, recorder.session());
        tokio::spawn(async move {
            match bridge.serve_for(&info, transport).await {
                Ok(()) => {}
                Err(error @ BridgeError::Evicted) => tracing::debug!(%error, "a session ended"),
                Err(BridgeError::Server(error)) => tracing::warn!(%error, "a session ended with its server"),
                Err(error) => tracing::warn!(%error, "can't serve a client"),
            }
        });
    })
}

/// Identifies the users of a server by the header that a proxy sends, or treats all clients as one user.
pub fn identify_users(server: HttpServer, header: Option<&HeaderName>, is_one_user: bool) -> HttpServer {
    match header.cloned() {
        Some(header) => server.principal(move |request| Some(request.headers.get(&header)?.to_str().ok()?.to_owned())),
        None if is_one_user => server.principal(|_| Some("user".to_owned())),
        None => server,
    }
}

/// Serves clients over HTTP until an interrupt. `layer` wraps the app that serves them.
pub async fn serve_http(
    socket: &Socket,
    server: HttpServer,
    connections: usize,
    layer: impl FnOnce(axum::Router) -> axum::Router,
) -> Result<(), CommandError> {
    match socket {
        Socket::Tcp(address) => {
            let bound = TcpListener::bind(address).await;
            let listener =
                bound.map_err(|error| CommandError::Argument(format!("can't listen on {address}: {error}")))?;
            // With port 0, the system chooses the port.
            let address = listener.local_addr()?;
            serve_on(listener, address, server, connections, layer).await
        }
        #[cfg(unix)]
        Socket::Unix(path) => {
            let bound = UnixListener::bind(path).await;
            let listener = bound.map_err(|error| CommandError::file(path, error))?;
            serve_on(listener, format!("unix:{}", path.display()), server, connections, layer).await
        }
    }
}

async fn serve_on(
    listener: impl Listener,
    address: impl Display,
    server: HttpServer,
    connections: usize,
    layer: impl FnOnce(axum::Router) -> axum::Router,
) -> Result<(), CommandError> {
    let shutdown = CancellationToken::new();
    let _ = writeln!(io::stderr(), "[listening] {address}");
    let app = layer(server.shutdown(shutdown.clone()).app());
    let serving = serve(listener, app)
        .max_connections(connections)
        .shutdown(shutdown.clone());
    let mut serving = serving.into_future();
    tokio::select! {
        () = &mut serving => return Ok(()),
        interrupted = interrupted() => interrupted?,
    }
    shutdown.cancel();
    // Requests in flight are completed, unless there is another interrupt.
    tokio::select! {
        () = serving => {}
        interrupted = interrupted() => interrupted?,
    }
    Ok(())
}

/// Waits for a signal to terminate.
pub async fn interrupted() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminated = signal(SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminated.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
