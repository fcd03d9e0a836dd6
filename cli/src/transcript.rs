//! The transcripts of `mcp-rev bridge --record`: a JSON line for each message, and for the headers of each HTTP
//! exchange.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::RawJson;
use mcp_runtime::transport::MessageDirection;
use serde::{Deserialize, Serialize};

use crate::error::CommandError;
use crate::input_file::read_text;
use crate::message::Seen;
use crate::text::say;

/// The file mode of transcripts on Unix.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// A line of a transcript.
#[derive(Serialize, Deserialize)]
pub struct Line {
    /// Seconds since 1970.
    pub time: f64,
    /// The number of the connection, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    pub side: Side,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<RawJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpHeads>,
}

/// The side of the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Between the bridge and its clients
    Client,
    /// Between the bridge and the server
    Server,
}

/// The direction of a message, as seen by the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Received,
    Sent,
}

/// An HTTP request and its response without their bodies. Values that may be credentials are masked.
#[derive(Serialize, Deserialize)]
pub struct HttpHeads {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub request: BTreeMap<String, String>,
    pub status: u16,
    pub response: BTreeMap<String, String>,
}

/// The messages of one connection.
pub struct Session {
    pub number: u64,
    pub side: Side,
    pub revision: Revision,
    /// The messages in order, with their direction as seen by the client of this side.
    pub messages: Vec<Seen>,
}

impl Session {
    /// The name of the session in reports.
    pub fn title(&self) -> String {
        match self.side {
            Side::Client => format!("session {}, from the bridge to its client", self.number),
            Side::Server => format!("session {}, from the server to the bridge", self.number),
        }
    }
}

/// Creates the file of a transcript, which only its owner can read, because messages can contain private data.
pub fn create(file: &Path) -> Result<File, CommandError> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    let created = options.open(file).and_then(|created| {
        // The mode above applies only to a new file. An existing file may have another mode. Devices and pipes, such as
        // /dev/null, keep theirs: other programs use them too.
        #[cfg(unix)]
        if created.metadata()?.is_file() {
            created.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(OWNER_ONLY))?;
        }
        Ok(created)
    });
    created.map_err(|error| CommandError::file(file, error))
}

/// The error for a line that isn't part of a transcript. For the first line, it also explains what a transcript is.
fn not_a_line(number: usize, error: &serde_json::Error) -> String {
    match number {
        1 => format!("it isn't what `mcp-rev bridge --record` writes: line 1: {error}"),
        _ => format!("line {number}: {error}"),
    }
}

/// The error for a transcript that doesn't have the requested session, only these.
pub fn no_such_session(file: &Path, others: &[Session]) -> CommandError {
    let others = others.iter();
    let others = others.map(|session| format!("\n  {}, revision {}", session.title(), session.revision));
    let reason = match others.len() {
        0 => "it has no sessions".to_owned(),
        _ => format!("it has only these sessions:{}", others.collect::<String>()),
    };
    CommandError::file(file, reason)
}

/// Reads the sessions of a transcript, in order of their numbers.
pub fn read(file: &Path) -> Result<Vec<Session>, CommandError> {
    let text = read_text(file).map_err(|error| CommandError::file(file, error))?;
    let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
    let mut lines = text.lines().zip(1..).peekable();
    while let Some((line, number)) = lines.next() {
        let line: Line = match serde_json::from_str(line) {
            Ok(line) => line,
            // The bridge was killed while it wrote the line.
            Err(error) if error.is_eof() && number > 1 && lines.peek().is_none() && !text.ends_with('\n') => {
                say(&format!(
                    "warning: {}: line {number} is incomplete, and is left out",
                    file.display()
                ));
                break;
            }
            Err(error) => return Err(CommandError::file(file, not_a_line(number, &error))),
        };
        let (Some(number), Some(direction), Some(message)) = (line.session, line.direction, line.message) else {
            continue;
        };
        let session = sessions.entry(number).or_insert_with(|| Session {
            number,
            side: line.side,
            revision: Revision::HUB,
            messages: Vec::new(),
        });
        session.revision = line.revision.unwrap_or(session.revision);
        // The server's messages go to the bridge, and the bridge acts as the server to its clients.
        let is_of_server = (direction == Direction::Received) == (session.side == Side::Server);
        let way = match is_of_server {
            true => MessageDirection::Received,
            false => MessageDirection::Sent,
        };
        session.messages.push((way, message.text().as_bytes().to_vec()));
    }
    Ok(sessions.into_values().collect())
}
