//! Our own programs: the examples of mcp-runtime.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Error;
use crate::paths;
use crate::process::{leading, run};

/// Builds an example of mcp-runtime, and returns its path.
pub async fn build(name: &str) -> Result<PathBuf, Error> {
    let mut cargo = leading("cargo");
    cargo.args([
        "build",
        "--quiet",
        "--package",
        "mcp-runtime",
        "--all-features",
        "--example",
        name,
    ]);
    cargo
        .arg("--message-format=json-render-diagnostics")
        .current_dir(paths::in_workspace("."));
    let built = run(cargo, "install Rust").await?;
    let text = String::from_utf8_lossy(&built.stdout);
    let mut artifacts = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let example = artifacts.find(|artifact| artifact["target"]["name"] == name && artifact["executable"].is_string());
    let executable = example.and_then(|artifact| artifact["executable"].as_str().map(Into::into));
    executable.ok_or_else(|| Error::malformed(Path::new("cargo build"), format!("it built no example `{name}`")))
}
