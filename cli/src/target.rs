//! The server that the arguments name: by its URL, by the command that starts it, or by its name in the file of a host.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mcp_runtime::clients::expanded;
use mcp_runtime::transport::http::client::reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use tokio::process::Command;

use crate::args::{ServerArgs, header};
use crate::error::CommandError;

/// How to reach a server.
pub enum Target {
    /// Over HTTP, with these headers.
    Http {
        url: String,
        headers: Vec<(HeaderName, HeaderValue)>,
    },
    /// By the command that starts it.
    Process(Command),
}

/// The file in which hosts keep their servers.
#[derive(Deserialize)]
struct HostFile {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Target {
    /// The server of the arguments.
    pub fn of(args: &ServerArgs) -> Result<Self, CommandError> {
        let mut target = match (&args.config, &args.url) {
            (Some(file), _) => Self::in_file(file, args.server.as_deref())?,
            (None, Some(url)) => Self::Http {
                url: url.clone(),
                headers: Vec::new(),
            },
            (None, None) => {
                let (program, arguments) = args.command.split_first().unzip();
                let mut command = Command::new(program.cloned().unwrap_or_default());
                command.args(arguments.unwrap_or_default());
                Self::Process(command)
            }
        };
        match &mut target {
            Self::Http { headers, .. } => headers.extend(args.headers.iter().cloned()),
            Self::Process(command) => {
                command.envs(args.environment.iter().map(|(name, value)| (name, value)));
            }
        }
        Ok(target)
    }

    /// A server of a file by its name, which may be left out where there is one alone.
    fn in_file(file: &Path, name: Option<&str>) -> Result<Self, CommandError> {
        let wrong = |reason: &dyn std::fmt::Display| CommandError::file(file, reason);
        let text = std::fs::read(file).map_err(|error| wrong(&error))?;
        let HostFile { mut servers } = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        let only = || (servers.len() == 1).then(|| servers.keys().next().cloned()).flatten();
        let Some(name) = name.map(str::to_owned).or_else(only) else {
            let known: Vec<_> = servers.into_keys().collect();
            return Err(wrong(&format!(
                "--server says which of its servers: {}",
                known.join(", ")
            )));
        };
        let Some(entry) = servers.remove(&name) else {
            return Err(CommandError::UnknownServer {
                name,
                known: servers.into_keys().collect(),
            });
        };
        entry
            .target()
            .map_err(|reason| wrong(&format!("server {name:?}: {reason}")))
    }
}

impl Entry {
    fn target(self) -> Result<Target, String> {
        match (self.command, self.url) {
            (Some(command), None) => {
                let mut process = Command::new(expanded(&command)?);
                for argument in &self.args {
                    process.arg(expanded(argument)?);
                }
                for (variable, value) in &self.env {
                    process.env(variable, expanded(value)?);
                }
                if let Some(directory) = self.cwd {
                    process.current_dir(directory);
                }
                Ok(Target::Process(process))
            }
            (None, Some(url)) => {
                let headers = self.headers.iter().map(|(name, value)| {
                    let value = expanded(value)?;
                    header(&format!("{name}: {value}")).map_err(|reason| format!("header {name:?}: {reason}"))
                });
                Ok(Target::Http {
                    url: expanded(&url)?,
                    headers: headers.collect::<Result<_, _>>()?,
                })
            }
            _ => Err("it has either a `command` or a `url`".to_owned()),
        }
    }
}
