//! One peer over one transport.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tokio::process::Command;

use super::report::Row;
use crate::eras::{Era, driver};
use crate::error::Error;
use crate::judge::Ours;
use crate::places;
use crate::process::leading;

/// Whose implementation the peer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// The official SDK for TypeScript.
    TypeScript,
    /// The official SDK for Python.
    Python,
    /// The reference server, of the TypeScript SDK.
    Everything,
}

/// How to reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Transport {
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with SSE, which came before.
    Sse,
}

impl Transport {
    /// Its name in the table, and as an option of drivers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }

    /// The drivers' option for it.
    pub fn option(self) -> String {
        format!("--{}", self.name())
    }
}

/// One peer over one transport.
#[derive(Debug, Clone)]
pub struct Cell {
    pub era: Arc<Era>,
    pub ours: Ours,
    pub maker: Maker,
    pub transport: Transport,
}

const SDK: &str = "@modelcontextprotocol/sdk";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything";

impl Cell {
    /// All that are to be tried with the packages of an era.
    pub fn of(era: &Arc<Era>) -> Vec<Self> {
        // Session ids came with Streamable HTTP; whoever has none only has what was before.
        let http = if era.revision.facts().sessions {
            Transport::Http
        } else {
            Transport::Sse
        };
        let pairs = [
            (Ours::Server, Maker::TypeScript),
            (Ours::Server, Maker::Python),
            (Ours::Client, Maker::TypeScript),
            (Ours::Client, Maker::Python),
            (Ours::Client, Maker::Everything),
        ];
        let both = |(ours, maker)| {
            [Transport::Stdio, http].map(|transport| Self {
                era: Arc::clone(era),
                ours,
                maker,
                transport,
            })
        };
        pairs.into_iter().flat_map(both).collect()
    }

    /// A row in which nothing has been tried yet.
    pub fn row(&self) -> Result<Row, Error> {
        let peer = match self.maker {
            Maker::TypeScript => format!("TypeScript SDK {}", self.era.npm_version(SDK)?),
            Maker::Python => format!("Python SDK {}", self.era.python_version("mcp")?),
            Maker::Everything => format!("server-everything {}", self.era.npm_version(EVERYTHING)?),
        };
        Ok(Row {
            revision: self.era.revision,
            ours: self.ours,
            peer,
            transport: self.transport.name(),
            ok: 0,
            failed: 0,
            absent: 0,
            sent: 0,
            faults: Vec::new(),
            steps: Vec::new(),
            log: self.file("jsonl"),
        })
    }

    /// Where something about this cell is noted.
    pub fn file(&self, kind: &str) -> PathBuf {
        let maker = format!("{:?}", self.maker).to_lowercase();
        let ours = match self.ours {
            Ours::Server => "client",
            Ours::Client => "server",
        };
        let name = format!("{maker}-{ours}-{}.{kind}", self.transport.name());
        places::workshop()
            .join("logs")
            .join(self.era.revision.as_str())
            .join(name)
    }

    /// A driver of the SDK, `client` or `server`.
    pub fn driver(&self, name: &str) -> Command {
        match self.maker {
            Maker::Python => {
                let mut command = leading(self.era.packages.python());
                command.arg(driver(&format!("{name}.py")));
                // Nobody wants its byte code beside the drivers.
                command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUNBUFFERED", "1");
                command
            }
            Maker::TypeScript | Maker::Everything => {
                let mut command = leading("node");
                command
                    .arg(driver(&format!("{name}.mjs")))
                    .arg(&self.era.packages.installed);
                command
            }
        }
    }

    /// The reference server, with the port that it is to listen on unless it speaks over stdio.
    pub fn everything(&self, port: u16) -> Result<Command, Error> {
        let home = self.era.packages.module(EVERYTHING).join("dist");
        let file = match self.transport {
            Transport::Stdio => "index.js",
            Transport::Http => "streamableHttp.js",
            Transport::Sse => "sse.js",
        };
        // Later versions keep their transports apart.
        let places = [home.join(file), home.join("transports").join(file)];
        let script = places.iter().find(|place| place.exists());
        let script = script.ok_or_else(|| Error::malformed(&home, format!("there is no {file}")))?;
        let mut command = leading("node");
        command.arg(script).env("PORT", port.to_string());
        Ok(command)
    }
}
