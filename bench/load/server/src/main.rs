//! The server that `calls` and `attacks` measure. It stops when its standard input ends.

use std::io::{self, Read, Write};
use std::time::Duration;

use mcp_runtime::router::{Call, resource_template};
use mcp_runtime::transport::http::server::{HttpServer, RedisOptions, RedisStore};
use mcp_runtime::transport::{Transport, http, stdio};
use mcp_runtime::{Args, CallClient, Context, Options, Router, ServerHandler, ServerSide, UnknownMethod, hub, serve};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

/// A server to measure
#[derive(clap::Parser)]
struct Command {
    /// The Redis server that stores HTTP sessions, such as redis://127.0.0.1/; without it, sessions are in memory
    #[arg(long)]
    store: Option<String>,
    mode: Mode,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Mode {
    /// Over stdio.
    Stdio,
    /// Over HTTP, on a port of 127.0.0.1; prints its URL.
    Http,
    /// Over HTTP without sessions.
    Stateless,
    /// Over stdio; the server requests the client's roots at each notification.
    Asking,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    numbers: Vec<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Flood {
    /// The number of log messages.
    messages: usize,
    /// The bytes of each message.
    bytes: usize,
}

/// Requests the client's roots at each notification that the hub lacks, such as the one that the roots have changed.
struct Asking;

impl ServerHandler<Context<ServerSide>> for Asking {
    async fn on_unknown(&self, _: UnknownMethod, context: &Context<ServerSide>) {
        if let Err(error) = context.peer().list_roots(None).await {
            eprintln!("the client gave no roots: {error}");
        }
    }
}

#[tokio::main]
async fn main() -> io::Result<()> {
    let Command { store, mode } = clap::Parser::parse();
    match mode {
        Mode::Stdio => {
            let transport = stdio()?;
            tools().serve(Options::default(), transport).ended().await;
            Ok(())
        }
        Mode::Asking => {
            ask(stdio()?).await;
            Ok(())
        }
        Mode::Http => {
            let server = HttpServer::new(tools());
            let server = match store {
                Some(url) => {
                    let store = RedisStore::connect(&url, RedisOptions::default()).await;
                    server.store(store.map_err(io::Error::other)?)
                }
                None => server,
            };
            over_http(server).await
        }
        Mode::Stateless => over_http(HttpServer::new(tools()).stateless(true)).await,
    }
}

async fn ask(transport: impl Transport) {
    let info = hub::Implementation::new("load", "1.0");
    let capabilities = hub::ServerCapabilities::default();
    serve(Asking, info, capabilities, None, Options::default(), transport)
        .ended()
        .await;
}

async fn over_http(server: HttpServer) -> io::Result<()> {
    let shutdown = CancellationToken::new();
    let (stop, server) = (shutdown.clone(), server.shutdown(shutdown.clone()));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    io::stdout().flush()?;
    std::thread::spawn(move || {
        let mut rest = Vec::new();
        let _ = io::stdin().lock().read_to_end(&mut rest);
        shutdown.cancel();
    });
    // Each of a thousand clients has a connection for its stream, and others for its requests.
    let serving = http::server::serve(listener, server).max_connections(8192);
    serving.shutdown(stop).await;
    Ok(())
}

fn tools() -> Router {
    let anything = hub::ResourceTemplate::new("Anything", "load://{name}");
    let anything = resource_template(anything, || "Something");
    Router::new("load", "1.0")
        .with(anything.expect("the template is valid"))
        .tool("echo", "Returns its text", |Args(Text { text })| text)
        .tool("sum", "Adds numbers", |Args(Numbers { numbers })| async move {
            numbers.iter().sum::<u64>().to_string()
        })
        .tool("wait", "Returns text in an hour", |Args(Text { text })| async move {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            text
        })
        .tool(
            "flood",
            "Sends many log messages",
            |Args(Flood { messages, bytes }), call: Call| async move {
                for _ in 0..messages {
                    if call
                        .log(hub::LoggingLevel::Info, serde_json::Value::from("x".repeat(bytes)))
                        .await
                        .is_err()
                    {
                        return "cut short";
                    }
                }
                "done"
            },
        )
}
