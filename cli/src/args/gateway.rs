//! The arguments of `gateway`.

use std::path::PathBuf;
use std::time::Duration;

use mcp_runtime::transport::http::client::reqwest::header::HeaderName;

use super::bridge::{listen, some_seconds};
use super::{LimitArgs, Listen};

/// Serve many servers as one
///
/// The servers are those in a host's configuration file. The names of tools and prompts are prefixed with the name of
/// their server: `git_log` is `log` of `git`. Each client has its own sessions with the servers, in its own revision,
/// so that requests of a server reach the right client. A server that ends is restarted; until then, its items are
/// missing from the lists.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status:
  0  the client ended the session, or the gateway was interrupted
  1  the output can't be written
  2  wrong arguments, or an invalid file

Examples:
  mcp-rev gateway mcp.json
  mcp-rev gateway mcp.json --listen http://127.0.0.1:8080/mcp --only git --only wiki
  mcp-rev gateway mcp.json --listen unix:/run/user/1000/mcp.sock")]
pub struct GatewayArgs {
    /// The file with the servers (`mcpServers`), such as mcp.json
    pub file: PathBuf,
    /// Where to accept clients: `stdio` for the client that started the gateway, an HTTP URL to serve, or `unix:PATH`
    ///
    /// A Unix socket is served over HTTP too, at /mcp, and any Host header is accepted. Only this user can connect to
    /// it. A stale socket of a server that has ended is replaced, and the socket is removed at exit.
    #[arg(long, value_name = "stdio|URL|unix:PATH", default_value = "stdio", value_parser = listen)]
    pub listen: Listen,
    /// Serve only this server of the file; may be given several times
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Don't prefix the names of tools and prompts; if servers have the same name, that of the first server is used
    #[arg(long)]
    pub flat: bool,
    /// Put the server's name into the URI of every resource, not only if an earlier server has the same URI
    #[arg(long)]
    pub prefix_uris: bool,
    /// Drop the members of calls and results that the latest revision doesn't declare; `_meta`, arguments and
    /// structured content are kept unchanged
    #[arg(long)]
    pub drop_undeclared: bool,
    /// Seconds that a server may take to connect and to return a list; the lists omit a slower server until it has
    /// connected
    ///
    /// Calls have no limit: the client decides how long it waits.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = some_seconds)]
    pub timeout: Duration,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// The header in which a proxy in front of the gateway sends the name of the authenticated user; the proxy must
    /// remove it from the requests of clients
    #[arg(long, value_name = "NAME", conflicts_with = "one_user")]
    pub principal_header: Option<HeaderName>,
    /// Treat all clients as the same user
    #[arg(long)]
    pub one_user: bool,
    /// Log each call with its server, tool, time and outcome, and what the gateway does
    #[arg(short, long)]
    pub verbose: bool,
}
