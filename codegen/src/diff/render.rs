//! A diff as Markdown.

use std::fmt::Write as _;

use super::change::{Change, ChangeKind, Compatibility, Diff, Subject};
use super::place::way_to;
use crate::markdown::{cell, cell_or_dash, table};
use crate::overlay::Deprecation;

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
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Changes from {} to {}\n\n", self.from, self.to);
        for sentence in &self.summary {
            let _ = writeln!(text, "- {sentence}");
        }
        if !self.summary.is_empty() {
            text += "\n## What the tables say\n\n";
        }
        text += "Compatibility is that of a peer that stays with the earlier revision while the other side \
             moves to the later one.\n\"Breaking for senders\" means that a message of the earlier revision may be invalid \
             in the later one, and \"breaking for\nreceivers\" that the later revision has messages which the earlier one \
             doesn't know. The last columns say what the\nadapters do on the way up, to the later revision, and down, to \
             the earlier one; a dash means that no conversion is\nabout it.\n";
        if !self.ruled {
            text += "\nThere are no rules between these two: the adapters convert between adjacent revisions. What is shown is \
                     what the\nschemas imply.\n";
        }
        for (subject, title) in SUBJECTS {
            let changes = self.changes.iter().filter(|change| change.subject == subject);
            let rows = changes.map(|change| {
                [
                    format!("`{}`", change.name),
                    cell(&change.description()),
                    change.compatibility.words().to_owned(),
                    cell_or_dash(&change.up.join("; ")),
                    cell_or_dash(&change.down.join("; ")),
                ]
            });
            let table = table(["Where", "Change", "Compatibility", "Up", "Down"], rows);
            if !table.is_empty() {
                let _ = write!(text, "\n## {title}\n{table}");
            }
        }
        text + &deprecations(&self.deprecated)
    }
}

/// A section of what is deprecated, if anything is.
pub(crate) fn deprecations(deprecated: &[Deprecation]) -> String {
    let rows = deprecated.iter().map(|entry| {
        let what: Vec<String> = entry.at.iter().map(|at| format!("`{}`", way_to(at))).collect();
        [
            format!("[{}]({})", entry.feature, entry.link),
            cell_or_dash(&what.join(", ")),
            entry.since.clone(),
            cell_or_dash(entry.sep.as_deref().unwrap_or_default()),
            entry.removal.clone(),
            cell(&entry.instead),
        ]
    });
    let columns = [
        "Feature",
        "What belongs to it",
        "Since",
        "By",
        "Removed at the earliest",
        "Instead",
    ];
    match table(columns, rows).as_str() {
        "" => String::new(),
        table => format!("\n## Deprecated\n{table}"),
    }
}

impl Change {
    /// What happened, in words.
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
