//! Documentation of types and members: `docs.yaml`.

use std::collections::{BTreeMap, BTreeSet};

use mcp_json_schema::pointer;

use super::document::Document;
use crate::problem::Problem;

/// Documentation by `Type`, `Type.member` and `*.member`.
#[derive(Debug, Clone)]
pub(crate) struct Docs {
    entries: BTreeMap<String, String>,
    document: Document,
}

impl Docs {
    /// Decodes documentation. If that fails, it adds the problems to `problems`, and returns no entries.
    pub(crate) fn of(document: Document, problems: &mut Vec<Problem>) -> Self {
        Self {
            entries: document.decode_or_report(problems),
            document,
        }
    }

    /// Returns this documentation with the entries of one revision, which take precedence.
    pub(crate) fn with(&self, own: &Self) -> Self {
        let mut both = self.clone();
        both.entries.extend(own.entries.clone());
        both
    }

    /// Returns the key and the text of the entry that documents a type, or with `member`, a member of it or a value of
    /// an enumeration.
    pub(crate) fn entry(&self, key: &str, member: Option<&str>) -> Option<(String, &str)> {
        let find = |key: String| {
            let text = self.entries.get(&key)?;
            Some((key, text.as_str()))
        };
        let Some(member) = member else {
            return find(key.to_owned());
        };
        find(format!("{key}.{member}")).or_else(|| find(format!("*.{member}")))
    }

    /// Adds another revision's documentation of a type with another name, and of its members and values, unless they
    /// are documented.
    pub(crate) fn add_renamed(&mut self, earlier: &Self, old: &str, new: &str) {
        for (key, text) in &earlier.entries {
            let rest = key
                .strip_prefix(old)
                .filter(|rest| rest.is_empty() || rest.starts_with('.'));
            if let Some(rest) = rest {
                self.entries
                    .entry(format!("{new}{rest}"))
                    .or_insert_with(|| text.clone());
            }
        }
    }

    /// Adds another revision's documentation of a member with another name, unless it is documented.
    pub(crate) fn add_renamed_member(&mut self, earlier: &Self, old: (&str, &str), new: (&str, &str)) {
        if let (Some((_, text)), None) = (earlier.entry(old.0, Some(old.1)), self.entry(new.0, Some(new.1))) {
            let text = text.to_owned();
            self.entries.insert(format!("{}.{}", new.0, new.1), text);
        }
    }

    /// Returns a problem for each entry of one revision that is unused, or repeats that of all revisions. `used` are
    /// the keys of the used entries.
    pub(crate) fn needless(&self, own: &Self, used: &BTreeSet<String>) -> Vec<Problem> {
        let needless = own.entries.iter().filter_map(|(key, text)| {
            let what = match (used.contains(key), self.entries.get(key) == Some(text)) {
                (false, _) => format!("the revision has nothing that `{key}` documents"),
                (true, true) => format!("the entry `{key}` repeats that of all revisions"),
                (true, false) => return None,
            };
            Some(own.needless_entry(key, what))
        });
        needless.collect()
    }

    /// Returns a problem for each entry that no revision uses. `used` are the keys of the used entries.
    pub(crate) fn unused(&self, used: &BTreeSet<String>) -> Vec<Problem> {
        let unused = self.entries.keys().filter(|key| !used.contains(*key));
        let unused = unused.map(|key| self.needless_entry(key, format!("no revision has what `{key}` documents")));
        unused.collect()
    }

    fn needless_entry(&self, key: &str, what: String) -> Problem {
        let problem = self.document.problem(&pointer::child("#", key), what);
        problem.help("correct the key, or remove the entry")
    }
}
