//! Writes a diff as Markdown or JSON.

use serde_json::json;

use super::change::{Change, ChangeKind, Compatibility, Diff, Subject};
use crate::error::EmitError;
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
                    "description": change.description(),
                    "compatibility": change.compatibility.words(),
                    "up": change.up,
                    "down": change.down,
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
            "deprecated": self.deprecated,
        });
        render("documents/changes.md", values)
    }
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
