//! Writes a diff as Markdown or JSON.

use serde_json::{Value, json};

use super::change::{Change, ChangeKind, Compatibility, Diff, Subject};
use super::place::way_to;
use crate::error::EmitError;
use crate::markdown::{cell, cell_or_dash};
use crate::overlay::Deprecation;
use crate::templates::render;

const SUBJECTS: [(Subject, &str); 5] = [
    (Subject::Method, "Methods"),
    (Subject::Definition, "Definitions"),
    (Subject::Type, "Members and values"),
    (Subject::ErrorCode, "Error codes"),
    (Subject::Fact, "Transport and lifecycle"),
];

impl Diff {
    /// The changes as a JSON document.
    ///
    /// # Errors
    /// None: a diff consists of texts.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The changes as a Markdown document.
    ///
    /// # Errors
    /// The template doesn't fit the values, which doesn't happen in practice.
    pub fn markdown(&self) -> Result<String, EmitError> {
        let sections = SUBJECTS.map(|(subject, title)| {
            let changes = self.changes.iter().filter(|change| change.subject == subject);
            let rows = changes.map(|change| {
                json!({
                    "name": change.name,
                    "change": cell(&change.description()),
                    "compatibility": change.compatibility.words(),
                    "up": cell_or_dash(&change.up.join("; ")),
                    "down": cell_or_dash(&change.down.join("; ")),
                })
            });
            json!({"title": title, "changes": Vec::from_iter(rows)})
        });
        let values = json!({
            "from": self.from,
            "to": self.to,
            "summary": self.summary,
            "ruled": self.ruled,
            "sections": sections,
            "deprecated": deprecations(&self.deprecated),
        });
        render("documents/changes.md", &values)
    }
}

/// Returns the values for the template's section of deprecations.
pub(crate) fn deprecations(deprecated: &[Deprecation]) -> Vec<Value> {
    let rows = deprecated.iter().map(|entry| {
        let at: Vec<String> = entry.at.iter().map(|at| format!("`{}`", way_to(at))).collect();
        json!({
            "feature": entry.feature,
            "link": entry.link,
            "at": cell_or_dash(&at.join(", ")),
            "since": entry.since,
            "by": cell_or_dash(entry.sep.as_deref().unwrap_or_default()),
            "removal": entry.removal,
            "instead": cell(&entry.instead),
        })
    });
    rows.collect()
}

impl Change {
    /// Describes in words what happened.
    #[must_use]
    pub fn description(&self) -> String {
        let what = match self.what {
            ChangeKind::Added => "added",
            ChangeKind::Removed => "removed",
            ChangeKind::Renamed => "renamed",
            ChangeKind::Required => "now required",
            ChangeKind::Optional => "now optional",
            ChangeKind::Loosened => "loosened",
            ChangeKind::Tightened => "tightened",
            ChangeKind::Changed => "changed",
        };
        match (self.what, &self.before, &self.after) {
            (ChangeKind::Removed, Some(before), _) => format!("{what}: {before}"),
            (ChangeKind::Added, _, Some(after)) => format!("{what}: {after}"),
            (ChangeKind::Renamed, Some(before), Some(after)) => format!("{what} from `{before}` to `{after}`"),
            (ChangeKind::Changed | ChangeKind::Tightened, None, Some(after)) => format!("{what}: now {after}"),
            (_, Some(before), Some(after)) => format!("{what}: no longer {before}, now {after}"),
            (_, Some(before), None) => format!("{what}: no longer {before}"),
            (_, None, Some(after)) => format!("{what}: also {after}"),
            (_, None, None) => what.into(),
        }
    }
}

impl Compatibility {
    fn words(self) -> &'static str {
        match self {
            Self::Additive => "additive",
            Self::BreakingForSenders => "breaking for senders",
            Self::BreakingForReceivers => "breaking for receivers",
            Self::Breaking => "breaking for both",
            Self::Cosmetic => "cosmetic",
        }
    }
}
