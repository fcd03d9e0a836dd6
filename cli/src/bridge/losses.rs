//! A log of the losses of messages, on standard error and in a file.

use std::collections::HashSet;
use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mcp_adapters::mcp_wire::path::Segment;
use mcp_adapters::{Loss, Revision};
use serde_json::json;

use crate::error::CommandError;
use crate::text::say_loss;

/// The maximum number of places that are remembered, so that each is reported once.
const PLACES: usize = 10_000;

/// Reports losses.
pub struct LossLog {
    file: Option<Mutex<LineWriter<File>>>,
    /// The places that have been reported; `None` if every loss is reported.
    told: Option<Mutex<HashSet<String>>>,
}

impl LossLog {
    pub fn new(file: Option<&Path>, tells_all: bool) -> Result<Self, CommandError> {
        let create = |file| File::create(file).map_err(|error| CommandError::file(file, error));
        let file = file.map(create).transpose()?;
        Ok(Self {
            file: file.map(|file| Mutex::new(LineWriter::new(file))),
            told: (!tells_all).then(Mutex::default),
        })
    }

    /// Reports the losses of a message of a method.
    pub fn add(&self, method: &str, losses: &[Loss]) {
        for loss in losses {
            if let Some(told) = &self.told {
                let place = format!("{method} {} {} {}", place(loss), loss.kind, loss.rule);
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                if told.len() >= PLACES || !told.insert(place) {
                    continue;
                }
            }
            say_loss(method, loss);
            if let Some(file) = &self.file {
                let (path, kind, rule) = (loss.path.to_string(), loss.kind.as_str(), loss.rule);
                let mut line = json!({"method": method, "path": path, "kind": kind, "rule": rule});
                if let Some(note) = deprecation(method) {
                    line["deprecated"] = note.into();
                }
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = writeln!(file, "{line}") {
                    tracing::warn!(%error, "can't write a loss to the file");
                }
            }
        }
    }
}

/// The deprecation note of the last revision that deprecates a method: losses of deprecated methods matter less.
fn deprecation(method: &str) -> Option<&'static str> {
    Revision::all()
        .filter_map(|revision| revision.deprecation(method))
        .next_back()
}

/// The path of a loss without list indexes, so that equal losses in all items of a list count as one place.
fn place(loss: &Loss) -> String {
    let segments = loss.path.segments().iter().map(|segment| match segment {
        Segment::Member(member) => format!(".{member}"),
        Segment::Index(_) => "[]".to_owned(),
    });
    segments.collect()
}

#[cfg(test)]
mod tests {
    use mcp_adapters::{AUTOMATIC, LossKind};
    use serde_json::Value;

    use super::*;

    #[test]
    fn losses_of_deprecated_methods_carry_the_deprecation_note() {
        let directory = tempfile::tempdir().expect("there is room");
        let file = directory.path().join("losses.jsonl");
        let log = LossLog::new(Some(&file), false).expect("it can be written");
        let loss = Loss {
            path: mcp_adapters::mcp_wire::Path::default(),
            kind: LossKind::Dropped,
            rule: AUTOMATIC,
        };
        log.add("sampling/createMessage", std::slice::from_ref(&loss));
        log.add("tools/list", &[loss]);
        let text = std::fs::read_to_string(file).expect("it was written");
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("it is JSON"))
            .collect();
        assert!(
            lines[0]["deprecated"]
                .as_str()
                .is_some_and(|note| note.contains("SEP-2577")),
            "{lines:?}"
        );
        assert_eq!(lines[1].get("deprecated"), None);
    }
}
