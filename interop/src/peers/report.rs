//! The results, for people and for programs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use mcp_runtime::Revision;
use serde::{Deserialize, Serialize};

use crate::validation::OurRole;

/// The outcome of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The step succeeded.
    Ok,
    /// The step failed.
    Failed,
    /// The step failed, and is listed as a known failure.
    Known,
    /// The peer or the revision doesn't have the feature.
    Absent,
}

/// A step and its outcome.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// The name of the step.
    pub step: String,
    /// The outcome of the step.
    pub status: Status,
    /// Details, such as the reason of a failure.
    #[serde(default)]
    pub detail: String,
}

impl Step {
    /// A step that failed.
    pub fn failed(step: &str, detail: impl ToString) -> Self {
        Self {
            step: step.to_owned(),
            status: Status::Failed,
            detail: detail.to_string(),
        }
    }
}

/// The results with a peer over a transport.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The revision that must be negotiated.
    pub revision: Revision,
    /// The role of our side.
    pub ours: OurRole,
    /// The peer.
    pub peer: String,
    /// The transport.
    pub transport: &'static str,
    /// The number of steps that succeeded.
    pub ok: usize,
    /// The number of steps that failed.
    pub failed: usize,
    /// The number of known failures.
    pub known: usize,
    /// The number of steps that the peer doesn't support.
    pub absent: usize,
    /// The number of messages that our side sent.
    pub sent: usize,
    /// The violations of these messages, by the official schema.
    pub violations: Vec<String>,
    /// All steps.
    pub steps: Vec<Step>,
    /// The log with every message.
    pub log: PathBuf,
}

impl Row {
    /// Counts the steps.
    pub fn count(&mut self) {
        let count = |status| self.steps.iter().filter(|step| step.status == status).count();
        (self.ok, self.failed) = (count(Status::Ok), count(Status::Failed));
        (self.known, self.absent) = (count(Status::Known), count(Status::Absent));
    }

    /// Whether no step failed and no message is invalid.
    pub fn passed(&self) -> bool {
        self.failed == 0 && self.violations.is_empty()
    }

    /// Whether one of the columns that name the row contains a word.
    pub fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        self.columns()
            .iter()
            .take(4)
            .any(|column| column.to_lowercase().contains(&word))
    }

    fn columns(&self) -> [String; 10] {
        let ours = match self.ours {
            OurRole::Server => "server",
            OurRole::Client => "client",
        };
        [
            self.revision.to_string(),
            ours.to_owned(),
            self.peer.clone(),
            self.transport.to_owned(),
            self.ok.to_string(),
            self.failed.to_string(),
            self.known.to_string(),
            self.absent.to_string(),
            self.sent.to_string(),
            self.violations.len().to_string(),
        ]
    }
}

const TITLES: [&str; 10] = [
    "revision",
    "we are the",
    "peer",
    "transport",
    "ok",
    "failed",
    "known",
    "absent",
    "sent",
    "invalid",
];

/// Makes the table, which is valid Markdown.
pub fn table(rows: &[Row]) -> String {
    let lines: Vec<[String; 10]> = rows.iter().map(Row::columns).collect();
    let mut widths = TITLES.map(str::len);
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut table = String::new();
    let mut write = |cells: &[&str], fill: char| {
        for ((index, cell), width) in cells.iter().enumerate().zip(widths) {
            let padding: String = std::iter::repeat_n(fill, width.saturating_sub(cell.chars().count())).collect();
            // Columns with counts are aligned to the right.
            let _ = match index < 4 {
                true => write!(table, "| {cell}{padding} "),
                false => write!(table, "| {padding}{cell} "),
            };
        }
        table.push_str("|\n");
    };
    write(&TITLES, ' ');
    write(&["-", "-", "-", "-", ":", ":", ":", ":", ":", ":"], '-');
    for line in &lines {
        write(&line.each_ref().map(String::as_str), ' ');
    }
    table
}

/// Lists the failures and violations of each row.
pub fn failures(rows: &[Row], here: &Path) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| !row.passed()) {
        let [revision, ours, peer, transport, ..] = row.columns();
        let log = row.log.strip_prefix(here).unwrap_or(&row.log).display();
        let _ = writeln!(text, "\n{revision}, our {ours} with {peer} over {transport} ({log}):");
        for step in row.steps.iter().filter(|step| step.status == Status::Failed) {
            let _ = writeln!(text, "  {} failed: {}", step.step, step.detail);
        }
        for violation in &row.violations {
            let _ = writeln!(text, "  invalid {violation}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(status: Status, violations: &[&str]) -> Row {
        let step = Step {
            step: "ping".to_owned(),
            status,
            detail: "nothing came back".to_owned(),
        };
        let mut row = Row {
            revision: Revision::LATEST,
            ours: OurRole::Client,
            peer: "SDK 1".to_owned(),
            transport: "stdio",
            ok: 0,
            failed: 0,
            known: 0,
            absent: 0,
            sent: 3,
            violations: violations.iter().map(ToString::to_string).collect(),
            steps: vec![step],
            log: PathBuf::from("/here/log.jsonl"),
        };
        row.count();
        row
    }

    #[test]
    fn the_table_has_a_line_with_counts_for_each_row() {
        let table = table(&[row(Status::Ok, &[]), row(Status::Absent, &["a", "b"])]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(
            lines[1].starts_with("| ---") && lines[1].ends_with("-: |"),
            "{}",
            lines[1]
        );
        assert!(
            lines[3].ends_with("|  0 |      0 |     0 |      1 |    3 |       2 |"),
            "{}",
            lines[3]
        );
    }

    #[test]
    fn failed_steps_and_invalid_messages_are_listed_with_the_log() {
        let rows = [
            row(Status::Ok, &[]),
            row(Status::Failed, &[]),
            row(Status::Ok, &["by it: wrong"]),
        ];
        assert_eq!(rows.iter().map(Row::passed).collect::<Vec<_>>(), [true, false, false]);
        let text = failures(&rows, Path::new("/here"));
        assert!(
            text.contains("over stdio (log.jsonl):\n  ping failed: nothing came back\n"),
            "{text}"
        );
        assert!(text.contains("  invalid by it: wrong\n"), "{text}");
    }
}
