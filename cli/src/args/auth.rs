//! How a client gets a token where a server over HTTP wants one.

use std::path::PathBuf;

use clap::ValueEnum;

/// How a client gets a token.
#[derive(Debug, clap::Args)]
pub struct AuthArgs {
    /// Get a token with OAuth where the server wants one
    ///
    /// The page to open is printed on standard error, and the redirect comes to a port of this machine.
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
    /// The id of this client, if it is registered at an authorization server
    #[arg(long, value_name = "ID", requires_all = ["auth", "issuer"], help_heading = "Server")]
    pub client_id: Option<String>,
    /// The authorization server that the client is registered at, as its metadata name it
    ///
    /// The secret goes to no other, whatever the server says.
    #[arg(long, value_name = "URL", requires = "client_id", help_heading = "Server")]
    pub issuer: Option<String>,
    /// A file with the secret of this client
    #[arg(long, value_name = "FILE", requires = "client_id", help_heading = "Server")]
    pub client_secret: Option<PathBuf>,
    /// The file that keeps the tokens [default: mcp-rev/tokens.json in the user's directory for data]
    #[arg(long, value_name = "FILE", requires = "auth", help_heading = "Server")]
    pub tokens: Option<PathBuf>,
}

/// On whose behalf a client is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuthMode {
    /// The user is asked in a browser
    User,
    /// The client acts for itself, with its id and secret
    Client,
}
