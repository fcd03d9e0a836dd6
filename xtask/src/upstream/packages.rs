//! SDKs, suites and crates: the version in one of our files, and the latest one.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::source::{Registry, Source};
use super::{Item, State};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    registry: Registry,
    name: String,
    file: PathBuf,
    #[serde(default)]
    prerelease: bool,
}

impl Package {
    pub fn compare(&self, root: &Path, source: &Source) -> Item {
        let name = format!("{} ({})", self.name, self.file.display());
        Item::new(self.registry.name(), name, self.state(root, source))
    }

    fn state(&self, root: &Path, source: &Source) -> Result<State, Box<dyn Error>> {
        let path = root.join(&self.file);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let ours = pinned(&text, &self.name).ok_or_else(|| format!("{} has no version of it", self.file.display()))?;
        let theirs = source.version(self.registry, &self.name, self.prerelease)?;
        Ok(State::of(is_same(ours, &theirs), ours, theirs))
    }
}

/// The version that follows a name: `name==1.0`, `"name": "1.0"`, `name = { version = "1.0" }`, `npm:name@1.0/file`.
fn pinned<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let is_part = |c: char| c.is_alphanumeric() || "-_/".contains(c);
    let after = text.lines().find_map(|line| {
        let (before, after) = line.split_once(name)?;
        let is_whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        (is_whole && after.contains(|c: char| c.is_ascii_digit())).then_some(after)
    })?;
    let after = &after[after.find(|c: char| c.is_ascii_digit())?..];
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && !".-+".contains(c));
    Some(&after[..end.unwrap_or(after.len())])
}

/// Whether a version matches the pinned one, which can have fewer numbers.
fn is_same(pinned: &str, version: &str) -> bool {
    let rest = version.strip_prefix(pinned);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_any_manifest() {
        assert_eq!(pinned("mcp-types==2.0\nmcp==2.3.0\n", "mcp"), Some("2.3.0"));
        assert_eq!(
            pinned("{\"@a/sdk\": \"1.2.3-alpha.4\",", "@a/sdk"),
            Some("1.2.3-alpha.4")
        );
        assert_eq!(
            pinned(
                "rmcp-driver = \"9\"\nrmcp = { version = \"=3.11.0\", features = [",
                "rmcp"
            ),
            Some("3.11.0")
        );
        assert_eq!(
            pinned("source: npm:@a/ext@2.0.4/dist/schema.json", "@a/ext"),
            Some("2.0.4")
        );
        assert_eq!(pinned("mcp-types==2.0\n", "mcp"), None);
    }

    #[test]
    fn a_shorter_pin_matches_every_version_that_starts_with_it() {
        assert!(is_same("3.11", "3.11.2") && is_same("3.11.0", "3.11.0"));
        assert!(!is_same("3.1", "3.11.2") && !is_same("3.11.0", "3.11.1"));
    }
}
