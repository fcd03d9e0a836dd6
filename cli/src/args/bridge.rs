//! The arguments of `bridge`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_runtime::transport::http::client::reqwest::Url;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};

use super::server::{header, url};
use super::{AuthArgs, LimitArgs, revision};

/// Connect a client and a server that speak different revisions
///
/// The bridge is a server to its client and a client to the server, and negotiates the revision with each separately.
/// Messages between equal revisions are forwarded byte for byte. Others are translated, and what a translation loses is
/// reported on standard error, once for each place.
///
/// A client of a revision with a handshake can use a stateless server: input that the server requests in a result is
/// requested from the client. A stateless client can use a server with a handshake: a request of the server becomes the
/// result of the client's request, and the call waits for the client's answer. A request that can't be expressed in the
/// other revision gets an error that states the reason.
///
/// Over HTTP, each client with a handshake gets its own process of the server; a process that speaks a stateless
/// revision is shared. Headers of clients, such as Authorization, are never forwarded: the server gets those of
/// --header.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("server").required(true).args(["to", "command"]),
    override_usage = "mcp-rev bridge [OPTIONS] <--to <URL>|-- COMMAND...>",
    after_help = "\
Exit status:
  0  the client ended the session, or the bridge was interrupted
  1  the output can't be written
  2  wrong arguments
  3  no session with the server: it can't be started or reached, refuses the bridge, or is gone

Examples:
  mcp-rev bridge -- npx -y @modelcontextprotocol/server-everything
  mcp-rev bridge --to https://example.org/mcp --header 'Authorization: Bearer …'
  mcp-rev bridge --listen http://127.0.0.1:8080/mcp --restart -- python server.py
  mcp-rev bridge --listen unix:/run/user/1000/mcp.sock -- python server.py"
)]
pub struct BridgeArgs {
    /// Where to accept clients: `stdio` for the client that started the bridge, an HTTP URL to serve, or `unix:PATH`
    ///
    /// A Unix socket is served over HTTP too, at /mcp, and any Host header is accepted. Only this user can connect to
    /// it. A stale socket of a server that has ended is replaced, and the socket is removed at exit.
    #[arg(long, value_name = "stdio|URL|unix:PATH", default_value = "stdio", value_parser = listen)]
    pub listen: Listen,
    /// The URL of a server over HTTP
    #[arg(long, value_name = "URL", value_parser = url)]
    pub to: Option<String>,
    /// The command that starts a server on its standard input and output, with its arguments
    #[arg(last = true)]
    pub command: Vec<OsString>,
    /// A header of each HTTP request to the server, such as 'Authorization: Bearer …'
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header, requires = "to")]
    pub headers: Vec<(HeaderName, HeaderValue)>,
    #[command(flatten)]
    pub auth: AuthArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Speak only this revision with the server; may be given several times. By default, the client's revision is tried
    /// first
    #[arg(long = "speak", value_name = "REVISION", value_parser = revision())]
    pub speak: Vec<Revision>,
    /// Write each loss to this file: a JSON object per line with the method, path, kind and rule, and the deprecation
    /// note if the method is deprecated
    #[arg(long, value_name = "FILE")]
    pub losses: Option<PathBuf>,
    /// Write each message to this file: a JSON object per line with the time, session, side, direction, revision and
    /// message
    ///
    /// Over HTTP, the headers of each request and its response are written as a line too. Values that may be
    /// credentials are masked. `check --transcript` validates such a file, and `replay` replays it.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Start the server immediately, not when the first client connects
    ///
    /// Some clients give up on a server that takes seconds to start. The first client gets this process; others wait
    /// for their own.
    #[arg(long, requires = "command")]
    pub start: bool,
    /// The header in which a proxy in front of the bridge sends the name of the authenticated user
    ///
    /// Stateless clients of one user share a session with a server that has a handshake. Without this option, each
    /// connection has its own session. The proxy must remove this header from the requests of clients.
    #[arg(long, value_name = "NAME", conflicts_with = "one_user")]
    pub principal_header: Option<HeaderName>,
    /// Treat all clients as the same user
    ///
    /// Most stateless clients use several connections, which the bridge can attribute to one client only by their user.
    /// With this option, everyone who can reach the bridge is that user, and can receive input requests for the calls
    /// of another client.
    #[arg(long)]
    pub one_user: bool,
    /// Restart a server that has ended, after a delay that doubles up to half a minute
    #[arg(long)]
    pub restart: bool,
    /// Maximum number of sessions with the server; beyond it, the session that has been idle longest is closed
    #[arg(long, value_name = "COUNT", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    pub servers: u32,
    /// Seconds that a client waits for a session with the server: for its start and its first response. Then the client
    /// gets an error
    ///
    /// With --auth user, the user has 5 minutes more to log in.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = some_seconds)]
    pub connect_timeout: Duration,
    /// Seconds that a session with the server is kept after its last client leaves, if other clients can use it
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub idle: Duration,
    /// Seconds that a call of a stateless client waits for the answer to an input request of a server with a handshake,
    /// and that an input request waits for a call that can carry it
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub wait: Duration,
    /// Report every loss, and log what the bridge does
    #[arg(short, long)]
    pub verbose: bool,
}

/// The place where clients connect.
#[derive(Debug, Clone)]
pub enum Listen {
    Stdio,
    Http { socket: Socket, host: String, path: String },
}

/// A socket to listen on.
#[derive(Debug, Clone)]
pub enum Socket {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(PathBuf),
}

pub fn listen(text: &str) -> Result<Listen, String> {
    if text == "stdio" {
        return Ok(Listen::Stdio);
    }
    #[cfg(unix)]
    match text.strip_prefix("unix:") {
        Some("") => return Err("the path of the socket is missing, as in unix:/run/mcp.sock".to_owned()),
        Some(path) => {
            return Ok(Listen::Http {
                socket: Socket::Unix(path.into()),
                // Clients can send any host, because no web page can connect to a Unix socket.
                host: "*".to_owned(),
                path: "/mcp".to_owned(),
            });
        }
        None => {}
    }
    let expected =
        "neither `stdio`, nor a URL such as http://127.0.0.1:8080/mcp, nor a socket such as unix:/run/mcp.sock";
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) if text.starts_with("http") => return Err(format!("not a URL: {error}")),
        Err(_) => return Err(expected.to_owned()),
    };
    let (host, scheme) = (url.host_str(), url.scheme());
    if scheme == "https" {
        return Err("HTTP is served without TLS: write http://, and put a proxy in front for TLS".to_owned());
    }
    let (Some(host), "http") = (host, scheme) else {
        return Err(expected.to_owned());
    };
    let addresses = url.socket_addrs(|| None).map_err(|error| error.to_string())?;
    Ok(Listen::Http {
        socket: Socket::Tcp(*addresses.first().ok_or("the host has no address")?),
        host: host.to_owned(),
        path: url.path().to_owned(),
    })
}

/// Parses a number of seconds that is at least 1.
pub fn some_seconds(text: &str) -> Result<Duration, String> {
    let duration = seconds(text)?;
    match duration.is_zero() {
        true => Err("there must be at least one second".to_owned()),
        false => Ok(duration),
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    Ok(Duration::from_secs(seconds))
}
