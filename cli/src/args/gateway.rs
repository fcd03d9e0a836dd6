//! The arguments of `gateway`.

use std::path::PathBuf;
use std::time::Duration;

use mcp_runtime::transport::http::client::reqwest::header::HeaderName;

use super::Listen;
use super::bridge::{listen, some_seconds};

/// Serve many servers as one
///
/// The servers are those of a host's file. Their tools and prompts have the name of their server before them: `git_log` is `log` of `git`.
/// Each client has sessions of its own with them, in its revision, so that what a server asks reaches the right client. A server that
/// ends is started again; meanwhile, lists lack what it has.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status:
  0  the client has ended the session, or an interrupt the gateway
  1  output that can't be written
  2  wrong arguments, or a wrong file

Examples:
  mcp-rev gateway mcp.json
  mcp-rev gateway mcp.json --listen http://127.0.0.1:8080/mcp --only git --only wiki
  mcp-rev gateway mcp.json --listen unix:/run/user/1000/mcp.sock")]
pub struct GatewayArgs {
    /// The file with the servers (`mcpServers`), such as mcp.json
    pub file: PathBuf,
    /// Where clients are: `stdio` for the one that has started the gateway, the URL to serve, or `unix:PATH`
    ///
    /// A Unix socket has HTTP too, at /mcp, for whatever host a client names. Only this user may connect to it. A socket that a dead
    /// server has left is replaced, and the socket is removed at the end.
    #[arg(long, value_name = "stdio|URL|unix:PATH", default_value = "stdio", value_parser = listen)]
    pub listen: Listen,
    /// Serve only this server of the file; may be given several times
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Leave the names of tools and prompts as their servers have them; of two with one name, the first server's is seen
    #[arg(long)]
    pub flat: bool,
    /// Put the name of its server into the URI of each resource, and not only of those that an earlier server has too
    #[arg(long)]
    pub prefix_uris: bool,
    /// Drop the members of calls and results that the latest revision doesn't declare; `_meta`, arguments and structured content stay whole
    #[arg(long)]
    pub drop_undeclared: bool,
    /// Seconds that a server may take to connect and to give a list; lists lack one that takes longer, until it has connected
    ///
    /// A call of a server isn't limited: its client decides how long it waits.
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = some_seconds)]
    pub timeout: Duration,
    /// A header with the name of the user, which a proxy in front of the gateway has authenticated and removes from what clients send
    #[arg(long, value_name = "NAME", conflicts_with = "one_user")]
    pub principal_header: Option<HeaderName>,
    /// Let all clients share what belongs to a user, because there is only one
    #[arg(long)]
    pub one_user: bool,
    /// Log each call with its server, tool, time and outcome, and what the gateway does
    #[arg(short, long)]
    pub verbose: bool,
}
