//! The transcripts of `mcp-rev bridge --record`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::OpenJson;
use mcp_runtime::transport::MessageDirection;
use serde::Deserialize;

use super::record::Record;
use super::report::Report;
use super::validation::validate;
use crate::error::CommandError;

/// A message of a transcript.
#[derive(Deserialize)]
struct Entry {
    session: u64,
    side: Side,
    direction: Direction,
    revision: Option<Revision>,
    message: OpenJson,
}

/// The side of the bridge.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Client,
    Server,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Received,
    Sent,
}

/// Validates what the server sent to the bridge, and what the bridge sent to its clients: a report for each session.
pub fn reports(file: &Path) -> Result<Vec<Report>, CommandError> {
    let failed = |reason: String| CommandError::File {
        file: file.to_owned(),
        reason,
    };
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let mut sessions: BTreeMap<u64, (Side, Option<Revision>, Record)> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let entry: Entry =
            serde_json::from_str(line).map_err(|error| failed(format!("line {}: {error}", number + 1)))?;
        let (side, revision, record) = sessions
            .entry(entry.session)
            .or_insert_with(|| (entry.side, None, Record::default()));
        *revision = entry.revision.or(*revision);
        // A server sends to the bridge, and the bridge is the server of its clients.
        let is_of_server = (entry.direction == Direction::Received) == (*side == Side::Server);
        let way = match is_of_server {
            true => MessageDirection::Received,
            false => MessageDirection::Sent,
        };
        record.add(way, entry.message.text().as_bytes());
    }
    let reports = sessions.into_iter().map(|(number, (side, revision, record))| {
        let mut report = validate(revision.unwrap_or(Revision::HUB), &record);
        report.session = Some(match side {
            Side::Client => format!("session {number}, from the bridge to its client"),
            Side::Server => format!("session {number}, from the server to the bridge"),
        });
        report
    });
    Ok(reports.collect())
}
