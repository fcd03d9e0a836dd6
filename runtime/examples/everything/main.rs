//! A server with a fixture for every feature of servers, for tests with peers of other implementations: the fixtures of
//! the official conformance suite, and additional ones for features that the suite doesn't cover.
//!
//! It uses standard input and output unless `--http` is given; see `everything --help`.

mod content;
mod prompts;
mod questions;
mod resources;
mod rounds;
mod tasks;
mod tools;
mod wire_log;

use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::Parser;
use mcp_runtime::transport::http::server::{HttpServer, serve};
use mcp_runtime::transport::stdio;
use mcp_runtime::{Options, Revision, Router};
use tokio_util::sync::CancellationToken;

use wire_log::WireLog;

/// A server with a fixture for every feature of servers.
///
/// It stops when its standard input ends.
#[derive(Parser)]
struct Args {
    /// Serve Streamable HTTP on this port of 127.0.0.1, 0 for any, and print the URL; HTTP with SSE is at /sse on the
    /// same port
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    http: Option<u16>,
    /// Append each message to this file, as a line {"session":N,"way":"in"|"out","message":…}
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Support only this revision
    #[arg(long, value_name = "REVISION")]
    revision: Option<Revision>,
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let args = Args::parse();
    let log = WireLog::open(args.log.as_deref())?;
    let options = options(args.revision);
    match args.http {
        Some(port) => over_http(port, log, options).await,
        None => {
            let transport = log.watch(stdio()?);
            everything().serve(options, transport).ended().await;
            Ok(())
        }
    }
}

async fn over_http(port: u16, log: WireLog, options: Options) -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    io::stdout().flush()?;

    let shutdown = CancellationToken::new();
    // Requests without a session share a router, so that one can see the effects of another.
    let shared = everything();
    let supported = options.supported.clone();
    let server = HttpServer::from_fn(move |transport, info| {
        let router = match info.id {
            Some(_) => everything(),
            None => shared.clone(),
        };
        router.serve(options.clone(), log.watch(transport));
    });
    let server = server.revisions(supported).shutdown(shutdown.clone());
    stop_at_end_of_input(shutdown.clone());
    serve(listener, server).shutdown(shutdown).await;
    Ok(())
}

/// Returns options with one revision, or with every released one, including those without a handshake.
fn options(only: Option<Revision>) -> Options {
    let released = Revision::ALL.into_iter().filter(|revision| revision.facts().released);
    Options {
        supported: only.map_or_else(|| released.collect(), |only| vec![only]),
        ..Options::default()
    }
}

/// Creates a separate router for each session, so that the changes of one client don't affect another.
fn everything() -> Router {
    let router = Router::new("everything", env!("CARGO_PKG_VERSION"))
        .instructions("Every tool, resource and prompt is a fixture for tests.")
        .page_size(10);
    let router = questions::add_to(tools::add_to(router));
    tasks::add_to(rounds::add_to(prompts::add_to(resources::add_to(router))))
}

fn stop_at_end_of_input(shutdown: CancellationToken) {
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut buffer = [0; 1024];
        while matches!(input.read(&mut buffer), Ok(read) if read > 0) {}
        shutdown.cancel();
    });
}
