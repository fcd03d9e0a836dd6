//! Input read line by line, and one line of output for each.

use std::io::{self, BufRead, Write};

use mcp_adapters::UnknownRevision;
use mcp_adapters::mcp_wire::{OpenJson, error_code};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// Whether all lines of the input succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summary {
    AllSucceeded,
    SomeFailed,
}

/// Why the command failed as a whole.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Revision(#[from] UnknownRevision),
    #[error("revision {revision} has no definition {name:?}; it has {}", known.join(", "))]
    UnknownType {
        revision: mcp_adapters::Revision,
        name: String,
        known: Vec<&'static str>,
    },
    #[error("can't read or write: {0}")]
    Io(#[from] io::Error),
}

impl CommandError {
    /// 2 for wrong arguments, 1 for a failure to read or write.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Revision(_) | Self::UnknownType { .. } => 2,
            Self::Io(_) => 1,
        }
    }
}

/// A line that names its type.
#[derive(Deserialize)]
#[serde(expecting = "an object with `type` and `value`")]
struct TypedLine {
    r#type: String,
    value: OpenJson,
}

/// The error for a line that should name its type and doesn't.
#[derive(Debug, thiserror::Error)]
#[error("not a line {{\"type\":…,\"value\":…}}: {error}")]
pub struct UntypedLine {
    /// The JSON-RPC error code for a peer that sends such a line.
    pub code: i64,
    error: serde_json::Error,
}

impl UntypedLine {
    fn new(line: &[u8], error: serde_json::Error) -> Self {
        let code = match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => error_code::INVALID_REQUEST,
            Err(_) => error_code::PARSE_ERROR,
        };
        Self { code, error }
    }
}

/// The outcome of a line, as it is written.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Outcome<T> {
    Success {
        ok: bool,
        #[serde(flatten)]
        value: T,
    },
    Failure {
        ok: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<i64>,
        path: String,
        error: String,
    },
}

impl<T> Outcome<T> {
    pub fn success(value: T) -> Self {
        Self::Success { ok: true, value }
    }

    pub fn failure(code: Option<i64>, path: impl ToString, error: impl ToString) -> Self {
        Self::Failure {
            ok: false,
            code,
            path: path.to_string(),
            error: error.to_string(),
        }
    }
}

/// Writes the outcome of every line of `input`. Each line is an instance of `definition`, or names its own definition;
/// `reject` gives the outcome of a line that should and doesn't.
pub fn process_lines<T: Serialize>(
    mut input: impl BufRead,
    mut output: impl Write,
    definition: Option<&str>,
    process: impl Fn(&str, &[u8]) -> Outcome<T>,
    reject: impl Fn(UntypedLine) -> Outcome<T>,
) -> Result<Summary, CommandError> {
    let mut summary = Summary::AllSucceeded;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let outcome = match definition {
            Some(name) => process(name, &line),
            None => match serde_json::from_slice::<TypedLine>(&line) {
                Ok(typed) => process(&typed.r#type, typed.value.text().as_bytes()),
                Err(error) => reject(UntypedLine::new(&line, error)),
            },
        };
        if let Outcome::Failure { .. } = outcome {
            summary = Summary::SomeFailed;
        }
        serde_json::to_writer(&mut output, &outcome).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(summary)
}
