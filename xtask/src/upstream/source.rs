//! The source of upstream files and versions: the network, or a folder in its place.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::command::{cargo, read};

/// The limit on the size of a schema, text or list.
const MAX_BYTES: u64 = 16 << 20;

/// A registry of packages, of which a client is installed.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    Npm,
    Pypi,
    Cargo,
}

impl Registry {
    /// Its name in reports, and that of its folder in place of the network.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pypi => "pypi",
            Self::Cargo => "cargo",
        }
    }
}

pub struct Source {
    folder: Option<PathBuf>,
}

impl Source {
    /// The network, or a folder with a file for each URL, at the path after `://`, and one with the version of each
    /// package, in `npm/`, `pypi/` or `cargo/`.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// Fetches a URL.
    pub fn fetch(&self, url: &str) -> Result<Vec<u8>, Box<dyn Error>> {
        if let Some(folder) = &self.folder {
            let path = folder.join(url.split_once("://").map_or(url, |(_, path)| path));
            return std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()).into());
        }
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(60)))
            .user_agent("mcp-revisions-upstream")
            .build()
            .into();
        let mut response = agent.get(url).call().map_err(|error| format!("{url}: {error}"))?;
        let body = response.body_mut().with_config().limit(MAX_BYTES);
        body.read_to_vec().map_err(|error| format!("{url}: {error}").into())
    }

    /// The latest version of a package; with `prerelease`, the most recently published one of npm.
    pub fn version(&self, registry: Registry, name: &str, prerelease: bool) -> Result<String, Box<dyn Error>> {
        if let Some(folder) = &self.folder {
            let path = folder.join(registry.name()).join(name);
            let version = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            return Ok(version.trim().to_owned());
        }
        let version = match registry {
            Registry::Npm => {
                let wanted = if prerelease { "versions" } else { "version" };
                let text = read(Command::new("npm").args(["view", name, wanted, "--json"]))?;
                match serde_json::from_str(&text)? {
                    Value::Array(all) => all.last().and_then(Value::as_str).map(str::to_owned),
                    one => one.as_str().map(str::to_owned),
                }
            }
            Registry::Pypi => {
                let text = read(Command::new("python3").args(["-m", "pip", "index", "versions", name]))?;
                text.split_once('(')
                    .and_then(|(_, rest)| Some(rest.split_once(')')?.0.to_owned()))
            }
            Registry::Cargo => {
                // In a workspace, cargo would report the version that the workspace uses.
                let text = read(
                    cargo()
                        .args(["info", "--color", "never", name])
                        .current_dir(std::env::temp_dir()),
                )?;
                let line = text.lines().find_map(|line| line.strip_prefix("version: "));
                line.and_then(|line| line.split_whitespace().next()).map(str::to_owned)
            }
        };
        version.ok_or_else(|| format!("{} reported no version of {name}", registry.name()).into())
    }
}
