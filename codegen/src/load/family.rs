//! The subject of a schema directory, and the names of the crates that are generated from it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::MANIFEST;

/// The subject of a schema directory: a protocol, or another kind of document with several revisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Its name, which descriptions and READMEs use after `the`.
    pub(crate) name: String,
    /// The abbreviation of its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) abbreviation: Option<String>,
    /// The prefix of the names of its crates.
    pub(crate) crates: String,
    /// Whether the revisions are modules of one crate, instead of one crate per revision.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) single_crate: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) keywords: Vec<String>,
}

/// The family of a directory whose manifest doesn't define one.
pub(super) static MCP: LazyLock<Family> = LazyLock::new(|| Family {
    name: "Model Context Protocol".to_owned(),
    abbreviation: Some("MCP".to_owned()),
    crates: "mcp".to_owned(),
    single_crate: false,
    keywords: ["mcp", "model-context-protocol", "json-rpc"]
        .map(str::to_owned)
        .to_vec(),
});

impl Family {
    /// Returns its name and, in parentheses, its abbreviation.
    pub(crate) fn title(&self) -> String {
        match &self.abbreviation {
            Some(abbreviation) => format!("{} ({abbreviation})", self.name),
            None => self.name.clone(),
        }
    }

    pub(crate) fn types_crate(&self, revision: &str) -> String {
        match self.single_crate {
            true => format!("{}-types", self.crates),
            false => format!("{}-types-{}", self.crates, crate_part(revision)),
        }
    }

    /// Returns the name of the crate that depends on all revisions.
    pub(crate) fn adapters_crate(&self) -> String {
        let kind = if self.single_crate { "types" } else { "adapters" };
        format!("{}-{kind}", self.crates)
    }

    pub(crate) fn extension_crate(&self, name: &str) -> String {
        format!("{}-ext-{name}", self.crates)
    }

    /// Returns the prefixes of the names of its crates.
    pub(crate) fn owned(&self) -> Vec<String> {
        let kinds: &[&str] = if self.single_crate {
            &["types"]
        } else {
            &["adapters", "ext-", "types-"]
        };
        kinds.iter().map(|kind| format!("{}-{kind}", self.crates)).collect()
    }
}

/// Returns the schema directories of all families: the given one, and each folder in it with its own manifest.
#[must_use]
pub fn families(schema: &Path) -> Vec<PathBuf> {
    let folders = folders(schema)
        .into_iter()
        .filter(|folder| folder.join(MANIFEST).is_file());
    std::iter::once(schema.to_owned()).chain(folders).collect()
}

/// Returns the folders of a directory, sorted.
pub(super) fn folders(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten();
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// Returns the name of a revision as a part of the name of a crate or feature.
pub(crate) fn crate_part(revision: &str) -> String {
    let part = |c: char| match c {
        '-' | '_' => c,
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    };
    revision.chars().map(part).collect()
}
