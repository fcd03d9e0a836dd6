//! A diff as Markdown.

use std::fmt::Write as _;

use crate::overlay::Deprecation;

use super::change::{Change, ChangeKind, Compatibility, Diff, Subject};
use super::place::way_to;

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
            let changes: Vec<&Change> = self.changes.iter().filter(|change| change.subject == subject).collect();
            if changes.is_empty() {
                continue;
            }
            let _ = write!(
                text,
                "\n## {title}\n\n| Where | Change | Compatibility | Up | Down |\n|---|---|---|---|---|\n"
            );
            for change in changes {
                let _ = writeln!(
                    text,
                    "| `{}` | {} | {} | {} | {} |",
                    change.name,
                    cell(&change.description()),
                    change.compatibility.words(),
                    cell(&change.up.join("; ")),
                    cell(&change.down.join("; ")),
                );
            }
        }
        text + &deprecations(&self.deprecated)
    }
}

/// A section of what is deprecated, if anything is.
pub(crate) fn deprecations(deprecated: &[Deprecation]) -> String {
    if deprecated.is_empty() {
        return String::new();
    }
    let mut text = "\n## Deprecated\n\n| Feature | What belongs to it | Since | By | Removed at the earliest | Instead |\n|---|---|---|---|---|---|\n".to_owned();
    for entry in deprecated {
        let Deprecation {
            feature,
            since,
            sep,
            removal,
            instead,
            link,
            ..
        } = entry;
        let what: Vec<String> = entry.at.iter().map(|at| format!("`{}`", way_to(at))).collect();
        let what = if what.is_empty() {
            "–".to_owned()
        } else {
            what.join(", ")
        };
        let sep = sep.as_deref().unwrap_or("–");
        let _ = writeln!(
            text,
            "| [{feature}]({link}) | {what} | {since} | {sep} | {removal} | {} |",
            cell(instead)
        );
    }
    text
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

fn cell(text: &str) -> String {
    match text {
        "" => "–".into(),
        text => text.replace('\n', " ").replace('|', "\\|"),
    }
}
