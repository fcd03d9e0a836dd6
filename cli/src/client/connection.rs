//! Sessions with the server that the arguments name.

use std::time::Duration;

use mcp_adapters::Revision;
use mcp_runtime::http::StatusCode;
use mcp_runtime::hub::LoggingLevel;
use mcp_runtime::transport::{MessageDirection, inspect};
use mcp_runtime::{CallError, Capable, Client, ClientSession, ConnectError, Limits, Options};
use tracing_subscriber::filter::LevelFilter;

use super::target;
use crate::args::ServerArgs;
use crate::error::CommandError;
use crate::paint::errors;
use crate::plain::plain;
use crate::text::say;

/// Starts a session with a server.
pub async fn connect(
    server: &ServerArgs,
    handler: impl Capable,
    log_level: Option<LoggingLevel>,
    timeout: Duration,
) -> Result<ClientSession, CommandError> {
    connect_watched(server, handler, log_level, timeout, |_, _| {}).await
}

/// Starts a session with a server, and calls `watch` with each message as it is on the wire.
pub async fn connect_watched(
    server: &ServerArgs,
    handler: impl Capable,
    log_level: Option<LoggingLevel>,
    timeout: Duration,
    watch: impl Fn(MessageDirection, &[u8]) + Send + Sync + 'static,
) -> Result<ClientSession, CommandError> {
    log(server);
    let show = show_messages(server);
    let watch = move |way, json: &[u8]| {
        show(way, json);
        watch(way, json);
    };
    let client = Client::new("mcp-rev", env!("CARGO_PKG_VERSION"))
        .options(options(server, log_level, timeout))
        .handler(handler);
    let transport = inspect(target::connect(server).await?, watch);
    client.connect(transport).await.map_err(|error| match &error {
        ConnectError::Call(CallError::Http(failure))
            if failure.status == StatusCode::UNAUTHORIZED && server.auth.auth.is_some() =>
        {
            CommandError::TokenRefused(error)
        }
        _ => error.into(),
    })
}

/// Logs to standard error at the level of the arguments.
pub fn log(server: &ServerArgs) {
    let level = match server.verbose {
        0 => LevelFilter::WARN,
        _ => LevelFilter::INFO,
    };
    let log = tracing_subscriber::fmt().with_writer(errors).without_time();
    // If a server is connected to several times, the first log stays in use.
    let _ = log.with_max_level(level).try_init();
}

/// Shows each message if the arguments require it.
pub fn show_messages(server: &ServerArgs) -> impl Fn(MessageDirection, &[u8]) + Send + Sync + use<> {
    let is_wanted = server.verbose > 1;
    move |way, json| {
        if is_wanted {
            let mark = if way == MessageDirection::Sent { '>' } else { '<' };
            say(&format!("{mark} {}", plain(&String::from_utf8_lossy(json))));
        }
    }
}

fn options(server: &ServerArgs, log_level: Option<LoggingLevel>, timeout: Duration) -> Options {
    let mut options = Options {
        limits: Limits {
            call_timeout: timeout,
            call_timeout_max: Duration::MAX,
            ..Limits::default()
        },
        log_level,
        ..Options::default()
    };
    if !server.revisions.is_empty() {
        options.supported = Revision::all().filter(|it| server.revisions.contains(it)).collect();
    }
    options
}
