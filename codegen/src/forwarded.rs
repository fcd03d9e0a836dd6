//! The features by which a hand-written crate chooses revisions, as `mcp-adapters` has them.

use std::path::Path;

use crate::emit::revision_features;
use crate::error::GenerateError;
use crate::files::{FileSet, Report};
use crate::load::load;
use crate::problem::{Problem, Problems};

/// What the features of revisions begin with, in the manifest of `mcp-adapters` and in those that forward them.
const SINCE: &str = "since-";

/// Writes the features of revisions into the manifest of a crate that needs `mcp-adapters`, in place of those that are there. The rest of
/// the manifest stays as it is. With `check`, nothing is written.
///
/// # Errors
/// Problems of the input, a manifest without such a feature, and files that can't be read or written.
pub fn generate_features(schema: &Path, directory: &Path, check: bool) -> Result<Report, GenerateError> {
    const MANIFEST: &str = "Cargo.toml";
    let loaded = load(schema)?;
    let manifest = &loaded.manifest;
    let revisions: Vec<&str> = manifest.revisions.iter().map(|entry| entry.revision.as_str()).collect();
    let hub = manifest.hub().map(|hub| hub.as_str()).unwrap_or_default();
    let features = revision_features(&revisions, hub);
    let path = directory.join(MANIFEST);
    let problem = |what: String| Problems::from(Problem::new(path.display().to_string(), what));
    let text = std::fs::read_to_string(&path).map_err(|error| problem(error.to_string()))?;
    let text = with_features(&text, &features).ok_or_else(|| {
        problem(format!(
            "no feature `{SINCE}…` shows where those of the revisions belong"
        ))
    })?;
    let mut files = FileSet::default();
    files.insert(MANIFEST, text)?;
    let finish = if check { FileSet::check } else { FileSet::write };
    Ok(finish(&files, directory, &[])?)
}

/// A manifest with these features in place of the first line of one, and without the other lines.
fn with_features(manifest: &str, features: &[String]) -> Option<String> {
    let is_feature = |line: &str| line.starts_with(SINCE);
    let first = manifest.lines().position(is_feature)?;
    let forwarded = features
        .iter()
        .map(|feature| format!("{feature} = [\"mcp-adapters/{feature}\"]"));
    let (before, after) = (manifest.lines().take(first), manifest.lines().skip(first));
    let after = after.filter(|line| !is_feature(line)).map(str::to_owned);
    let lines = before.map(str::to_owned).chain(forwarded).chain(after);
    Some(lines.map(|line| line + "\n").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_features_of_revisions_are_replaced() {
        let manifest =
            "[features]\nstdio = []\n# Revisions.\nsince-1 = [\"mcp-adapters/since-1\"]\nsince-3 = []\n\n[lints]\n";
        let features = ["since-1", "since-2"].map(str::to_owned);
        let expected = "[features]\nstdio = []\n# Revisions.\nsince-1 = [\"mcp-adapters/since-1\"]\n\
                        since-2 = [\"mcp-adapters/since-2\"]\n\n[lints]\n";
        assert_eq!(with_features(manifest, &features).as_deref(), Some(expected));
        assert_eq!(with_features(expected, &features).as_deref(), Some(expected));
        assert_eq!(with_features("[features]\n", &features), None);
    }
}
