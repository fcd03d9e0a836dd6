//! Logs of messages on the wire.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mcp_runtime::transport::MessageDirection;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Error;

/// A message and its direction.
#[derive(Debug, Deserialize)]
pub struct Entry {
    /// The number of the session.
    pub session: u64,
    /// The direction of the message.
    pub way: Direction,
    /// The message as it was on the wire.
    pub message: Value,
}

impl Entry {
    /// The same message in the peer's log.
    pub fn turned(self) -> Self {
        let way = match self.way {
            Direction::In => Direction::Out,
            Direction::Out => Direction::In,
        };
        Self { way, ..self }
    }
}

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the peer.
    In,
    /// To the peer.
    Out,
}

impl From<MessageDirection> for Direction {
    fn from(way: MessageDirection) -> Self {
        match way {
            MessageDirection::Received => Self::In,
            MessageDirection::Sent => Self::Out,
        }
    }
}

/// A log that is being written.
pub struct Log(Mutex<File>);

#[derive(Serialize)]
struct Line<'a> {
    session: u64,
    way: Direction,
    message: &'a RawValue,
}

impl Log {
    /// Creates a log of one session.
    pub fn create(path: &Path) -> Result<Self, Error> {
        File::create(path)
            .map(|file| Self(Mutex::new(file)))
            .map_err(Error::io(path))
    }

    /// Writes a message. Text that isn't JSON is written as a string.
    pub fn note(&self, way: MessageDirection, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        let quoted = || serde_json::value::to_raw_value(&text);
        let Ok(message) = RawValue::from_string(text.clone().into_owned()).or_else(|_| quoted()) else {
            return;
        };
        let line = Line {
            session: 1,
            way: way.into(),
            message: &message,
        };
        let Ok(mut line) = serde_json::to_vec(&line) else {
            return;
        };
        line.push(b'\n');
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = file.write_all(&line) {
            let _ = writeln!(io::stderr(), "mcp-interop: the log can't be written: {error}");
        }
    }
}

/// Reads all entries of a log.
pub fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
    let entry = |(number, line)| {
        serde_json::from_str(line).map_err(|error| Error::malformed(path, format!("line {}: {error}", number + 1)))
    };
    text.lines().enumerate().map(entry).collect()
}
