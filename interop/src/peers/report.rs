//! What came of it all, for people and for programs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use mcp_runtime::Revision;
use serde::{Deserialize, Serialize};

use crate::validation::OurRole;

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It went as it should.
    Ok,
    /// It didn't.
    Failed,
    /// It didn't, which is known.
    Known,
    /// The peer has no such thing.
    Absent,
}

/// A step that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Step {
    /// Its name.
    pub step: String,
    /// What came of it.
    pub status: Status,
    /// What there is to say about it.
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

/// A peer over a transport.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The revision of the peer's era.
    pub revision: Revision,
    /// Which side we were.
    pub ours: OurRole,
    /// The peer.
    pub peer: String,
    /// The transport.
    pub transport: &'static str,
    /// How many steps went well.
    pub ok: usize,
    /// How many failed.
    pub failed: usize,
    /// How many failed as is known.
    pub known: usize,
    /// How many the peer doesn't have.
    pub absent: usize,
    /// How many messages our side sent.
    pub sent: usize,
    /// What is wrong with them by the official schema.
    pub violations: Vec<String>,
    /// Each step.
    pub steps: Vec<Step>,
    /// Every message.
    pub log: PathBuf,
}

impl Row {
    /// Counts the steps.
    pub fn count(&mut self) {
        let count = |status| self.steps.iter().filter(|step| step.status == status).count();
        (self.ok, self.failed) = (count(Status::Ok), count(Status::Failed));
        (self.known, self.absent) = (count(Status::Known), count(Status::Absent));
    }

    /// Whether everything is as it should be.
    pub fn passed(&self) -> bool {
        self.failed == 0 && self.violations.is_empty()
    }

    /// Whether a word is found in one of the columns that name the row.
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

/// The table, which is also Markdown.
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
            // What is counted is aligned to the right.
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

/// What is wrong, row by row.
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
    fn the_table_has_a_line_for_each_row_and_counts_right() {
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
    fn a_failed_step_and_an_invalid_message_are_told_with_the_log() {
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
