//! The options for the authorization of a client at a server over HTTP.

use std::path::PathBuf;

use clap::ValueEnum;

/// The options for the authorization of a client.
#[derive(Debug, clap::Args)]
pub struct AuthArgs {
    /// Get a token with OAuth if the server requires one
    ///
    /// The URL of the page to open is printed on standard error, and the redirect goes to a port of this machine.
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "user",
        conflicts_with = "command",
        help_heading = "Server"
    )]
    pub auth: Option<AuthMode>,
    /// The client id, if this client is registered with an authorization server
    #[arg(long, value_name = "ID", requires_all = ["auth", "issuer"], help_heading = "Server")]
    pub client_id: Option<String>,
    /// The issuer identifier of the authorization server at which the client is registered
    ///
    /// The client secret is never sent to another authorization server, even if the MCP server names one.
    #[arg(long, value_name = "URL", requires = "client_id", help_heading = "Server")]
    pub issuer: Option<String>,
    /// A file with the client secret
    #[arg(long, value_name = "FILE", requires = "client_id", help_heading = "Server")]
    pub client_secret: Option<PathBuf>,
    /// The redirect URI that the client is registered with, such as http://localhost:8080/callback [default: a free port]
    ///
    /// Some authorization servers accept no other port. The host is this machine.
    #[arg(long, value_name = "URI", requires = "auth", help_heading = "Server")]
    pub redirect_uri: Option<String>,
    /// The file in which tokens are stored [default: mcp-rev/tokens.json in the user's data directory]
    #[arg(long, value_name = "FILE", requires = "auth", help_heading = "Server")]
    pub tokens: Option<PathBuf>,
}

/// The party on whose behalf a client is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    /// The user logs in with a browser
    User,
    /// The client authenticates itself with its id and secret
    Client,
}
