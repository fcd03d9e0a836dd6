//! The configuration of a server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use mcp_runtime_core::transport::{Connector, TransportError};
use mcp_runtime_http::client::{HttpClient, HttpOptions};
use mcp_runtime_local::stdio::{self, SpawnOptions, spawn};
use reqwest::header::HeaderMap;
use tokio::process::Command;

use super::transport::ServerTransport;

/// The way to reach a server: by a command that starts it, or over HTTP.
#[derive(Debug, Clone)]
pub enum ServerConfig {
    /// A process that serves on its standard input and output.
    Process(ProcessConfig),
    /// A server over HTTP.
    Http(HttpServerConfig),
}

/// The command that starts a server.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ProcessConfig {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Environment variables, in addition to those of this process.
    pub environment: BTreeMap<String, String>,
    /// Its working directory, if it isn't that of this process.
    pub directory: Option<PathBuf>,
    /// The options of its transport.
    pub options: SpawnOptions,
}

/// A server over HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpServerConfig {
    /// Its URL.
    pub url: String,
    /// Headers of each request. If there are any, they replace those of the options.
    pub headers: HeaderMap,
    /// The options of its transport, such as tokens.
    pub options: HttpOptions,
}

impl ServerConfig {
    /// Configures a server that is started by running a program, without arguments.
    ///
    /// ```
    /// use mcp_runtime::clients::ServerConfig;
    ///
    /// let weather = ServerConfig::process("weather-mcp");
    /// let git = ServerConfig::process("git-mcp").args(["--repository", "."]);
    /// ```
    pub fn process(program: impl Into<OsString>) -> Self {
        Self::Process(ProcessConfig {
            program: program.into(),
            ..ProcessConfig::default()
        })
    }

    /// Adds arguments of the program. For a server over HTTP, this has no effect.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        if let Self::Process(process) = &mut self {
            process.arguments.extend(arguments.into_iter().map(Into::into));
        }
        self
    }

    /// Configures a server over HTTP.
    pub fn http(url: impl Into<String>, options: HttpOptions) -> Self {
        Self::Http(HttpServerConfig {
            url: url.into(),
            headers: HeaderMap::new(),
            options,
        })
    }
}

impl ProcessConfig {
    /// Returns the command.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = stdio::command(&self.program);
        command.args(&self.arguments).envs(&self.environment);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

impl Connector for ServerConfig {
    type Transport = ServerTransport;

    async fn connect(&self) -> Result<ServerTransport, TransportError> {
        match self {
            Self::Process(process) => {
                let child = spawn(process.command(), process.options.clone()).map_err(other)?;
                Ok(ServerTransport::Process(Box::new(child)))
            }
            Self::Http(http) => {
                let (headers, mut options) = (http.headers.clone(), http.options.clone());
                if !headers.is_empty() {
                    options = options.headers(move |all| all.extend(headers.clone()));
                }
                let client = HttpClient::new(&http.url, options).map_err(other)?;
                Ok(ServerTransport::Http(Box::new(client)))
            }
        }
    }
}

fn other(error: impl std::error::Error + Send + Sync + 'static) -> TransportError {
    TransportError::Other(Box::new(error))
}
