//! The lists of revisions in files that are otherwise written by hand.

use std::path::Path;

use crate::emit::revision_features;
use crate::error::GenerateError;
use crate::files::{FileSet, Report};
use crate::load::{Manifest, load, read_text};
use crate::problem::{Problem, Problems};

/// Consecutive lines of a file, one for each revision.
struct List {
    /// The prefix of each line, and a text that it contains. No other line of the file has both.
    marks: [&'static str; 2],
    lines: Vec<String>,
}

/// Replaces the lists of revisions in the files of a workspace: the features in `runtime/Cargo.toml`, which select
/// revisions, the table in `README.md`, and the pages in `docs/SUMMARY.md`. The rest of each file stays as it is. With
/// `check`, nothing is written.
///
/// # Errors
/// Problems of the input, a file without such a list, and files that can't be read or written.
pub fn generate_lists(schema: &Path, workspace: &Path, check: bool) -> Result<Report, GenerateError> {
    let mut files = FileSet::default();
    for (path, lists) in lists(&load(schema)?.manifest) {
        let problem = |what: &str| Problems::from(Problem::new(workspace.join(path).display().to_string(), what));
        let mut text = read_text(&workspace.join(path))?.ok_or_else(|| problem("the file is missing"))?;
        for list in lists {
            let [begins, has] = list.marks;
            let replaced = list.replaced(&text);
            text = replaced.ok_or_else(|| {
                problem(&format!(
                    "no line with `{begins}…{has}…` shows where the list of revisions belongs"
                ))
            })?;
        }
        files.insert(path, text)?;
    }
    Ok(files.write_or_check(workspace, &[], check)?)
}

/// Returns the lists in each file, by its path in the workspace.
fn lists(manifest: &Manifest) -> [(&'static str, Vec<List>); 3] {
    let revisions: Vec<&str> = manifest.revisions.iter().map(|entry| entry.revision.as_str()).collect();
    let hub = manifest.hub().map(|hub| hub.as_str()).unwrap_or_default();
    let features = revision_features(&revisions, hub);
    let rows = revisions.iter().enumerate().map(|(index, revision)| {
        let types = manifest.family().types_crate(revision);
        let change = match index.checked_sub(1).map(|before| revisions[before]) {
            Some(before) => format!("[since {before}](docs/changes/{before}_{revision}.md)"),
            None => "–".to_owned(),
        };
        format!("| {revision} | `{types}` | [reference](docs/reference/{revision}.md) | {change} |")
    });
    let references = revisions
        .iter()
        .rev()
        .map(|name| format!("- [{name}](reference/{name}.md)"));
    let extensions = manifest.extensions.keys();
    let extensions = extensions.map(|name| format!("- [The {name} extension](reference/extensions/{name}.md)"));
    let changes = revisions.windows(2).rev();
    let changes = changes.map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        format!("- [{from} to {to}](changes/{from}_{to}.md)")
    });
    let list = |marks, lines| List { marks, lines };
    let feature = |feature: &String| format!("{feature} = [\"mcp-adapters/{feature}\"]");
    let features = list(["since-", " = "], features.iter().map(feature).collect());
    let rows = list(["| ", "](docs/reference/"], rows.collect());
    let references = list(["- [", "](reference/"], references.chain(extensions).collect());
    let changes = list(["- [", "](changes/"], changes.collect());
    [
        ("runtime/Cargo.toml", vec![features]),
        ("README.md", vec![rows]),
        ("docs/SUMMARY.md", vec![references, changes]),
    ]
}

impl List {
    /// Returns a text in which these lines replace all lines of the list, at the place of its first one; `None` if the
    /// text has no line of the list.
    fn replaced(&self, text: &str) -> Option<String> {
        let is_listed = |line: &str| line.starts_with(self.marks[0]) && line.contains(self.marks[1]);
        let first = text.lines().position(is_listed)?;
        let (before, after) = (text.lines().take(first), text.lines().skip(first));
        let after = after.filter(|line| !is_listed(line));
        let lines = before.chain(self.lines.iter().map(String::as_str)).chain(after);
        Some(lines.map(|line| line.to_owned() + "\n").collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_of_the_list_are_replaced() {
        let list = List {
            marks: ["since-", " = "],
            lines: ["since-1 = []", "since-2 = []"].map(str::to_owned).into(),
        };
        let text = "[features]\nstdio = []\n# Revisions.\nsince-1 = []\nsince-3 = []\n\n[lints]\n";
        let expected = "[features]\nstdio = []\n# Revisions.\nsince-1 = []\nsince-2 = []\n\n[lints]\n";
        assert_eq!(list.replaced(text).as_deref(), Some(expected));
        assert_eq!(list.replaced(expected).as_deref(), Some(expected));
        assert_eq!(list.replaced("[features]\n"), None);
    }
}
