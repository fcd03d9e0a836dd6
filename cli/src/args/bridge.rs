//! The arguments of `bridge`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_runtime::transport::http::client::reqwest::Url;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};

use super::AuthArgs;
use super::revision;
use super::server::{header, url};

/// Let a client and a server use each other that speak different revisions
///
/// The bridge is a server for its client and a client of the server, and each side negotiates for itself. Messages between equal
/// revisions keep their bytes; others are translated, and what they lose is told on standard error, each place once.
///
/// A client that begins with a handshake can use a stateless server: what the server asks in a result is asked of the client. A
/// stateless client can use a server that has a handshake: what the server asks becomes the result of the request, and the call waits
/// for the answer. A request that can't be said in the other revision is answered with an error that says why.
///
/// Over HTTP, each client with a handshake has a process of the server for itself, and a process that speaks a stateless revision
/// is shared. Headers of clients, such as Authorization, never go to the server: it gets those of --header.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("server").required(true).args(["to", "command"]),
    override_usage = "mcp-rev bridge [OPTIONS] <--to <URL>|-- COMMAND...>",
    after_help = "\
Exit status:
  0  the client has ended the session, or an interrupt the bridge
  1  output that can't be written
  2  wrong arguments
  3  no session with the server: it can't be started or reached, refuses the bridge, or is gone

Examples:
  mcp-rev bridge -- npx -y @modelcontextprotocol/server-everything
  mcp-rev bridge --to https://example.org/mcp --header 'Authorization: Bearer …'
  mcp-rev bridge --listen http://127.0.0.1:8080/mcp --restart -- python server.py
  mcp-rev bridge --listen unix:/run/user/1000/mcp.sock -- python server.py"
)]
pub struct BridgeArgs {
    /// Where clients are: `stdio` for the one that has started the bridge, the URL to serve, or `unix:PATH`
    ///
    /// A Unix socket has HTTP too, at /mcp, for whatever host a client names. Only this user may connect to it. A socket that a dead
    /// server has left is replaced, and the socket is removed at the end.
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
    /// Speak only this revision with the server; may be given several times. By default it is asked for that of its client first
    #[arg(long = "speak", value_name = "REVISION", value_parser = revision())]
    pub speak: Vec<Revision>,
    /// Write each loss to this file: a JSON object a line with the method, path, kind and rule, and why the method is deprecated if it is
    #[arg(long, value_name = "FILE")]
    pub losses: Option<PathBuf>,
    /// Write each message to this file: a JSON object a line with the time, session, side, direction, revision and message
    ///
    /// Over HTTP, the headers of each request and of its response make a line too. Values that may be credentials are masked.
    /// `check --transcript` validates such a file, and `replay` plays it.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Start the server now, and not once there is a client
    ///
    /// Some clients give up a server that needs seconds to start. The first client gets this one; others wait for theirs.
    #[arg(long, requires = "command")]
    pub start: bool,
    /// A header with the name of the user, which a proxy in front of the bridge has authenticated
    ///
    /// Stateless clients of one user share a session with a server that has a handshake. Without this, each connection has its own. The
    /// proxy must remove the header from what clients send.
    #[arg(long, value_name = "NAME", conflicts_with = "one_user")]
    pub principal_header: Option<HeaderName>,
    /// Let all clients share what belongs to a user, because there is only one
    ///
    /// Most stateless clients use several connections, which are known to be of one client only if they have a user. Everyone who can
    /// reach the bridge is that user, and may be asked what a server asks about the calls of another client.
    #[arg(long)]
    pub one_user: bool,
    /// Restart a server that has ended, after a delay that doubles up to half a minute
    #[arg(long)]
    pub restart: bool,
    /// Sessions with the server at a time; beyond, the one that has been idle longest makes room
    #[arg(long, value_name = "COUNT", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..))]
    pub servers: u32,
    /// Seconds that a client waits for a session with the server: for its start, and its first answer. Then it gets an error
    ///
    /// With --auth user, the user has 5 minutes more to log in.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = some_seconds)]
    pub connect_timeout: Duration,
    /// Seconds that a session with the server lasts after its last client, if others can use it
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub idle: Duration,
    /// Seconds that a call of a stateless client waits for the answer to what a server with a handshake asks, and that a question waits
    /// for a call that can carry it
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = seconds)]
    pub wait: Duration,
    /// Tell every loss, and what the bridge does
    #[arg(short, long)]
    pub verbose: bool,
}

/// Where clients are.
#[derive(Debug, Clone)]
pub enum Listen {
    Stdio,
    Http { socket: Socket, host: String, path: String },
}

/// What is listened on.
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
                // Clients may send any, and no web page can.
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
        return Err("HTTP is served without TLS, which a proxy in front can have: write http://".to_owned());
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

/// Seconds of which there is at least one.
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
