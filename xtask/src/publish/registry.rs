//! Whether a name is free in the registry.

use std::error::Error;
use std::path::Path;

use serde::Serialize;

use super::command::{cargo, output};

/// What the registry says of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameStatus {
    /// Nobody has published a crate of that name.
    Free,
    /// There is a crate of that name.
    Taken,
    /// The registry wasn't asked, or didn't answer.
    Unknown,
}

/// Asks cargo's registry for a crate. `directory` is one without a workspace, whose crates cargo would show instead.
pub fn name_status(name: &str, offline: bool, directory: &Path) -> Result<NameStatus, Box<dyn Error>> {
    if offline {
        return Ok(NameStatus::Unknown);
    }
    let answer = output(cargo().args(["info", "--color", "never", name]).current_dir(directory))?;
    Ok(status_of(
        answer.status.success(),
        &String::from_utf8_lossy(&answer.stderr),
    ))
}

/// Cargo doesn't find a name that is free, and says the same where it may not use the network: it is free only if cargo asked.
fn status_of(found: bool, text: &str) -> NameStatus {
    let asked = text.lines().any(|line| line.trim_start().starts_with("Updating "));
    match found {
        true => NameStatus::Taken,
        false if asked && text.contains("could not find `") => NameStatus::Free,
        false => NameStatus::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_free_only_if_the_registry_was_asked() {
        let asked = "    Updating an index\nerror: could not find `mcp-wire` in registry\n";
        assert_eq!(status_of(false, asked), NameStatus::Free);
        assert_eq!(status_of(true, "    Updating an index\n"), NameStatus::Taken);
        for text in [
            "error: could not find `mcp-wire` in registry\n",
            "    Updating an index\nerror: failed to query\n",
        ] {
            assert_eq!(status_of(false, text), NameStatus::Unknown, "{text}");
        }
    }
}
