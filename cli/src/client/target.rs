//! The server that the arguments name: by a URL, by the command that starts it, or by its name in a host's
//! configuration file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use mcp_runtime::clients::{ServerConfig, ServerTransport, ServersFile};
use mcp_runtime::transport::http::client::HttpClient;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};
use mcp_runtime::transport::stdio::{self, SpawnOptions, spawn};
use tokio::process::Command;

use super::authorization::http_options;
use crate::args::ServerArgs;
use crate::error::CommandError;

/// How to reach a server.
enum Target {
    /// Over HTTP, with these headers.
    Http {
        url: String,
        headers: Vec<(HeaderName, HeaderValue)>,
    },
    /// By the command that starts it.
    Process(Command),
}

/// Connects to the server of the arguments.
pub async fn connect(args: &ServerArgs) -> Result<ServerTransport, CommandError> {
    Ok(match Target::of(args)? {
        Target::Http { url, headers } => {
            let options = args.limit.of_http(http_options(&headers, &args.auth).await?);
            let client = HttpClient::new(&url, options)?;
            ServerTransport::Http(Box::new(client))
        }
        Target::Process(command) => ServerTransport::Process(Box::new(spawn(
            command,
            args.limit.of_process(SpawnOptions::default()),
        )?)),
    })
}

/// The command that starts a server, from its program and arguments.
pub fn command_of(words: &[OsString]) -> Command {
    let (program, arguments) = words.split_first().unzip();
    let mut command = stdio::command(program.cloned().unwrap_or_default());
    command.args(arguments.unwrap_or_default());
    command
}

impl Target {
    fn of(args: &ServerArgs) -> Result<Self, CommandError> {
        let mut target = match (&args.config, &args.url) {
            (Some(file), _) => Self::in_file(file, args.server.as_deref())?,
            (None, Some(url)) => Self::Http {
                url: url.clone(),
                headers: Vec::new(),
            },
            (None, None) => Self::Process(command_of(&args.command)),
        };
        match &mut target {
            Self::Http { headers, .. } => headers.extend(args.headers.iter().cloned()),
            Self::Process(command) => {
                command.envs(args.environment.iter().map(|(name, value)| (name, value)));
            }
        }
        Ok(target)
    }

    /// Finds a server in a file by its name, which may be omitted if the file has only one.
    fn in_file(file: &Path, name: Option<&str>) -> Result<Self, CommandError> {
        let ServersFile {
            mut servers,
            mut invalid,
            disabled,
            ..
        } = servers_of(file)?;
        let invalid_names = invalid.keys().map(String::as_str);
        let known: BTreeSet<_> = servers.keys().chain(invalid_names).map(str::to_owned).collect();
        let known = Vec::from_iter(known);
        let name = match (name, &known[..]) {
            (Some(name), _) => name.to_owned(),
            (None, [only]) => only.clone(),
            (None, []) => return Err(CommandError::file(file, without_servers(&disabled))),
            (None, known) => {
                let reason = format!("--server chooses one of its servers: {}", known.join(", "));
                return Err(CommandError::file(file, reason));
            }
        };
        if let Some(reason) = invalid.remove(&name) {
            return Err(CommandError::file(file, format!("server {name:?}: {reason}")));
        }
        match servers.remove(&name) {
            Some(ServerConfig::Process(process)) => Ok(Self::Process(process.command())),
            Some(ServerConfig::Http(http)) => Ok(Self::Http {
                headers: http
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
                url: http.url,
            }),
            None => Err(missing_server(file, name, &disabled, known)),
        }
    }
}

/// Reads the servers of a host's configuration file.
pub fn servers_of(file: &Path) -> Result<ServersFile, CommandError> {
    ServersFile::read(file).map_err(|error| CommandError::file(file, error.reason))
}

/// The error for a server that isn't in a file, or is disabled there.
pub fn missing_server(file: &Path, name: String, disabled: &BTreeSet<String>, known: Vec<String>) -> CommandError {
    if disabled.contains(&name) {
        return CommandError::file(file, format!("server {name:?} is disabled"));
    }
    CommandError::UnknownServer {
        file: file.to_owned(),
        name,
        known,
    }
}

/// The reason for which a file has no server to use.
pub fn without_servers(disabled: &BTreeSet<String>) -> &'static str {
    match disabled.is_empty() {
        true => "it names no server",
        false => "all its servers are disabled",
    }
}
