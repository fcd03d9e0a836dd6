//! The machine and the software with which numbers were measured.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The packages whose versions are reported.
const PEERS: [&str; 5] = ["serde_json", "rmcp", "rust-mcp-schema", "sonic-rs", "tokio"];

/// The machine, and the versions of the software. It contains no host name and no path.
#[derive(Debug, Serialize, Deserialize)]
pub struct Machine {
    pub date: String,
    pub commit: String,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub rustc: String,
    pub node: Option<String>,
    /// Names and versions from the lock file.
    pub packages: Vec<String>,
    /// The nice value of the measuring programs: 0 is the default, a lower value has higher priority.
    pub nice: i64,
    /// The load average of the preceding minute.
    pub load: f64,
}

impl Machine {
    /// Describes this machine in its current state.
    pub fn now(bench: &Path) -> Result<Self> {
        let cpu = std::fs::read_to_string("/proc/cpuinfo")
            .context("the description of the machine is only available on Linux")?;
        let cpu = cpu
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let load = std::fs::read_to_string("/proc/loadavg")?;
        let load = load.split(' ').next().and_then(|load| load.parse().ok());
        Ok(Self {
            date: said("date", &["-u", "+%F"])?,
            commit: said("git", &["rev-parse", "--short", "HEAD"])?,
            cpu: cpu.map_or("unknown", |(_, model)| model.trim()).to_owned(),
            cores: std::thread::available_parallelism()?.get(),
            system: said("uname", &["-sm"])?,
            rustc: said("rustc", &["--version"])?,
            node: said("node", &["--version"]).ok(),
            packages: packages(&std::fs::read_to_string(bench.join("Cargo.lock"))?),
            nice: said("nice", &[])?.parse()?,
            load: load.context("no load average")?,
        })
    }
}

fn packages(lock: &str) -> Vec<String> {
    let mut packages = Vec::new();
    let mut lines = lock.lines().peekable();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix("name = ").map(|name| name.trim_matches('"'));
        let version = lines.peek().and_then(|next| next.strip_prefix("version = "));
        if let (Some(name), Some(version)) = (name, version)
            && PEERS.contains(&name)
        {
            packages.push(format!("{name} {}", version.trim_matches('"')));
        }
    }
    packages
}

/// Returns the first line that a program prints.
fn said(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.with_context(|| format!("{program} can't be run"))?;
    let text = String::from_utf8(output.stdout)?;
    text.lines()
        .next()
        .map(str::to_owned)
        .with_context(|| format!("{program} prints nothing"))
}
