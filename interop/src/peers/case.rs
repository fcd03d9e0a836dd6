//! A peer with a transport and a mode.

use std::path::PathBuf;
use std::sync::Arc;

use mcp_runtime::Revision;
use serde::Deserialize;
use tokio::process::Command;

use super::report::Row;
use crate::eras::{Era, driver};
use crate::error::Error;
use crate::packages::Packages;
use crate::paths;
use crate::process::leading;
use crate::validation::{OurRole, released};

/// The implementation that the peer uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    /// The official SDK for TypeScript.
    TypeScript,
    /// The official SDK for Python.
    Python,
    /// The reference server, of the TypeScript SDK.
    Everything,
    /// The official SDK for TypeScript, rewritten.
    TypeScript2,
    /// The official SDK for Python, rewritten.
    Python2,
    /// FastMCP, which is built on the rewritten official SDK for Python.
    FastMcp,
    /// The official SDK for Rust.
    Rmcp,
}

/// The transport to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with SSE, the predecessor of Streamable HTTP.
    Sse,
}

impl Transport {
    /// The transports of an era.
    fn of(era: &Era) -> [Self; 2] {
        // Session ids came with Streamable HTTP, and went with the handshake. A revision with a handshake and no
        // session ids has only HTTP with SSE.
        let facts = era.revision.facts();
        match facts.session_header.is_some() || !facts.initializes {
            true => [Self::Stdio, Self::Http],
            false => [Self::Stdio, Self::Sse],
        }
    }

    /// The name in the table, and in the option of drivers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// The option of drivers.
    pub fn option(self) -> String {
        format!("--{}", self.name())
    }
}

/// How a client that supports both eras of the protocol determines the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It probes the server.
    Auto,
    /// It assumes a stateless server.
    Stateless,
    /// It assumes a server with a handshake.
    Handshake,
}

impl Mode {
    /// The modes that are tried with the peers of an era. Peers of a stateless revision support both eras of the
    /// protocol.
    fn of(era: &Era) -> &'static [Self] {
        match era.revision.facts().initializes {
            true => &[Self::Handshake],
            false => &[Self::Auto, Self::Stateless, Self::Handshake],
        }
    }

    /// The name in the table, and in the MCP_MODE variable of drivers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Stateless => "stateless",
            Self::Handshake => "handshake",
        }
    }
}

/// A peer with a transport and a mode: a row of the table.
#[derive(Debug, Clone)]
pub struct Case {
    pub era: Arc<Era>,
    /// The packages with the peer's implementation.
    pub packages: Packages,
    pub ours: OurRole,
    pub sdk: Sdk,
    pub transport: Transport,
    /// The mode of the client.
    pub mode: Mode,
}

const SDK: &str = "@modelcontextprotocol/sdk";
const SDK_2: &str = "@modelcontextprotocol/client";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";

impl Case {
    /// All cases for the packages of an era.
    pub fn of(era: &Arc<Era>) -> Vec<Self> {
        let sdks = Self::sdks(era);
        // The reference server has no client.
        let with_clients = sdks.iter().filter(|(sdk, _)| *sdk != Sdk::Everything);
        let pairs = with_clients
            .map(|peer| (OurRole::Server, peer))
            .chain(sdks.iter().map(|peer| (OurRole::Client, peer)));
        let all = |(ours, (sdk, packages)): (OurRole, &(Sdk, Packages))| {
            let case = |transport, mode| Self {
                era: Arc::clone(era),
                packages: packages.clone(),
                ours,
                sdk: *sdk,
                transport,
                mode,
            };
            let modes = Mode::of(era).iter();
            modes
                .flat_map(|mode| Transport::of(era).map(|transport| case(transport, *mode)))
                .collect::<Vec<_>>()
        };
        pairs.flat_map(all).collect()
    }

    /// The implementations of an era, with their packages.
    fn sdks(era: &Era) -> Vec<(Sdk, Packages)> {
        let own: &[Sdk] = match era.revision.facts().initializes {
            true => &[Sdk::TypeScript, Sdk::Python, Sdk::Everything],
            false => &[Sdk::TypeScript2, Sdk::Python2],
        };
        let own = own.iter().map(|sdk| Some((*sdk, era.packages.clone())));
        let others = [(Sdk::FastMcp, "fastmcp"), (Sdk::Rmcp, "rmcp")];
        let others = others.map(|(sdk, folder)| Some((sdk, era.others(folder)?)));
        own.chain(others).flatten().collect()
    }

    /// The revision that must be negotiated. For clients that start with a handshake, it is the latest that has one.
    pub fn revision(&self) -> Revision {
        let with_handshake = || released().filter(|revision| revision.facts().initializes).max();
        match self.mode {
            Mode::Handshake if !self.era.revision.facts().initializes => with_handshake().unwrap_or(self.era.revision),
            _ => self.era.revision,
        }
    }

    /// The row of this case, without results.
    pub fn row(&self) -> Result<Row, Error> {
        let peer = match self.sdk {
            Sdk::TypeScript => format!("TypeScript SDK {}", self.packages.npm_version(SDK)?),
            Sdk::Python | Sdk::Python2 => {
                format!("Python SDK {}", self.packages.python_version("mcp")?)
            }
            Sdk::Everything => format!("server-everything {}", self.packages.npm_version(EVERYTHING)?),
            Sdk::TypeScript2 => format!("TypeScript SDK {}", self.packages.npm_version(SDK_2)?),
            Sdk::FastMcp => format!("FastMCP {}", self.packages.python_version("fastmcp")?),
            Sdk::Rmcp => format!("rmcp {}", self.packages.crate_version("rmcp")?),
        };
        Ok(Row {
            revision: self.revision(),
            ours: self.ours,
            peer: match Mode::of(&self.era) {
                [_] => peer,
                _ => format!("{peer}, {}", self.mode.name()),
            },
            transport: self.transport.name(),
            ok: 0,
            failed: 0,
            known: 0,
            absent: 0,
            sent: 0,
            violations: Vec::new(),
            steps: Vec::new(),
            log: self.file("jsonl"),
        })
    }

    /// The path of a file for this case, with the given extension.
    pub fn file(&self, kind: &str) -> PathBuf {
        let sdk = format!("{:?}", self.sdk).to_lowercase();
        let ours = match self.ours {
            OurRole::Server => "client",
            OurRole::Client => "server",
        };
        let name = format!("{sdk}-{ours}-{}-{}.{kind}", self.transport.name(), self.mode.name());
        paths::install_directory()
            .join("logs")
            .join(self.era.revision.as_str())
            .join(name)
    }

    /// The command of an SDK's driver, `client` or `server`.
    pub fn driver(&self, name: &str) -> Command {
        let mut command = match self.sdk {
            Sdk::Rmcp => {
                let mut command = leading(self.packages.program("rmcp-driver"));
                command.arg(name);
                command
            }
            Sdk::Python | Sdk::Python2 | Sdk::FastMcp => {
                let mut command = leading(self.packages.python());
                let prefix = match self.sdk {
                    Sdk::FastMcp => "fastmcp_",
                    Sdk::Python2 => "python_2_",
                    _ => "",
                };
                command.arg(driver(&format!("{prefix}{name}.py")));
                // Avoids byte code files next to the drivers.
                command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
                command
            }
            Sdk::TypeScript | Sdk::Everything | Sdk::TypeScript2 => {
                let mut command = leading("node");
                command
                    .arg(driver(&format!("{name}.mjs")))
                    .arg(&self.packages.installed);
                command
            }
        };
        command.env("MCP_MODE", self.mode.name());
        command
    }

    /// The command of the reference server, with the port to listen on unless it uses stdio.
    pub fn everything(&self, port: u16) -> Result<Command, Error> {
        let home = self.packages.module(EVERYTHING).join("dist");
        let file = match self.transport {
            Transport::Stdio => "index.js",
            Transport::Http => "streamableHttp.js",
            Transport::Sse => "sse.js",
        };
        // Later versions have a separate directory for their transports.
        let places = [home.join(file), home.join("transports").join(file)];
        let script = places.iter().find(|place| place.exists());
        let script = script.ok_or_else(|| Error::malformed(&home, format!("there is no {file}")))?;
        let mut command = leading("node");
        command.arg(script).env("PORT", port.to_string());
        Ok(command)
    }
}
