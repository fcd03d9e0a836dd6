//! The arguments that name a command's server, and the options of the session with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::ArgGroup;
use mcp_adapters::Revision;
use mcp_runtime::transport::http::client::reqwest::Url;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};

use super::{AuthArgs, LimitArgs, revision};

/// The default time to wait for a response.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The server: a URL, a command after `--`, or a name in the file of a host.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("target").required(true).args(["url", "command", "config"]))]
pub struct ServerArgs {
    /// The URL of a server over HTTP
    #[arg(value_parser = server_url)]
    pub url: Option<String>,
    /// The command that starts a server on its standard input and output, with its arguments
    #[arg(last = true)]
    pub command: Vec<OsString>,
    /// A host's configuration file with servers (`mcpServers`), such as mcp.json, instead of a URL or a command
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub config: Option<PathBuf>,
    /// The name of the server in that file, if it has several
    #[arg(long, value_name = "NAME", requires = "config", help_heading = "Server")]
    pub server: Option<String>,
    /// An environment variable for the server's process; may be given several times
    #[arg(short = 'e', long = "env", value_name = "NAME=VALUE", value_parser = pair, conflicts_with = "url", help_heading = "Server")]
    pub environment: Vec<(String, String)>,
    /// A header of each HTTP request, such as 'Authorization: Bearer …'
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header, conflicts_with = "command", help_heading = "Server")]
    pub headers: Vec<(HeaderName, HeaderValue)>,
    #[command(flatten)]
    pub auth: AuthArgs,
    #[command(flatten)]
    pub limit: LimitArgs,
    /// Speak only this revision with the server; may be given several times
    #[arg(long = "revision", value_name = "REVISION", value_parser = revision(), help_heading = "Server")]
    pub revisions: Vec<Revision>,
    /// Seconds to wait for a response; progress restarts the time [default: 60, and 600 if the server can request
    /// input]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Server")]
    pub timeout: Option<u64>,
    /// Show the standard error of the server, and with -vv every message: > is sent, < is received
    #[arg(short, long, action = clap::ArgAction::Count, help_heading = "Server")]
    pub verbose: u8,
}

impl ServerArgs {
    pub fn timeout(&self, is_asked: bool) -> Duration {
        let default = if is_asked { 10 * TIMEOUT } else { TIMEOUT };
        self.timeout.map_or(default, Duration::from_secs)
    }
}

pub fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

pub fn url(text: &str) -> Result<String, &'static str> {
    match is_url(text) && Url::parse(text).is_ok() {
        true => Ok(text.to_owned()),
        false => Err("not an HTTP URL, such as https://example.org/mcp"),
    }
}

/// Parses the URL of a server, for which its command may have been given.
fn server_url(text: &str) -> Result<String, &'static str> {
    url(text).map_err(
        |_| "not an HTTP URL: the name of a tool goes before it, and the command that starts a server goes after `--`",
    )
}

pub fn header(text: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
    let (name, value) = text.split_once(':').ok_or("there is no `:` between name and value")?;
    let name = name.trim().parse().map_err(|_| "not a valid header name")?;
    let mut value: HeaderValue = value.trim().parse().map_err(|_| "not a valid header value")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// Parses NAME=VALUE.
pub fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("there is no `=` between name and value")?;
    if name.is_empty() {
        return Err("the name before `=` is empty");
    }
    Ok((name.to_owned(), value.to_owned()))
}
