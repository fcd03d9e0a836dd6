//! Values line by line: in, and what became of each out.

use std::io::{self, BufRead, Write};

use mcp_adapters::UnknownRevision;
use mcp_adapters::mcp_wire::{OpenJson, error_code};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// What every line of input came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    AllGood,
    SomeFailed,
}

/// Why no line was looked at.
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
    /// 2 for what was typed, 1 for what happened.
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

/// A line that should name its type and doesn't.
#[derive(Debug, thiserror::Error)]
#[error("not a line {{\"type\":…,\"value\":…}}: {error}")]
pub struct NotTyped {
    /// The JSON-RPC error code that would tell a peer.
    pub code: i64,
    error: serde_json::Error,
}

impl NotTyped {
    fn new(line: &[u8], error: serde_json::Error) -> Self {
        let code = match serde_json::from_slice::<IgnoredAny>(line) {
            Ok(_) => error_code::INVALID_REQUEST,
            Err(_) => error_code::PARSE_ERROR,
        };
        Self { code, error }
    }
}

/// What became of a line.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Answer<T> {
    Good(Good<T>),
    Bad(Bad),
}

/// A line that went well.
#[derive(Serialize)]
pub struct Good<T> {
    ok: bool,
    #[serde(flatten)]
    value: T,
}

/// A line that didn't.
#[derive(Serialize)]
pub struct Bad {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    path: String,
    error: String,
}

impl<T> Answer<T> {
    pub fn good(value: T) -> Self {
        Self::Good(Good { ok: true, value })
    }

    pub fn bad(path: impl ToString, error: impl ToString) -> Self {
        Self::refused(None, path, error)
    }

    pub fn refused(code: Option<i64>, path: impl ToString, error: impl ToString) -> Self {
        Self::Bad(Bad {
            ok: false,
            code,
            path: path.to_string(),
            error: error.to_string(),
        })
    }
}

/// Answers every line of `input`, each an instance of `definition` or naming its own, and refuses those that name none.
pub fn answer_lines<T: Serialize>(
    mut input: impl BufRead,
    mut output: impl Write,
    definition: Option<&str>,
    answer: impl Fn(&str, &[u8]) -> Answer<T>,
    refuse: impl Fn(NotTyped) -> Answer<T>,
) -> Result<Outcome, CommandError> {
    let mut outcome = Outcome::AllGood;
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answered = match definition {
            Some(name) => answer(name, &line),
            None => match serde_json::from_slice::<TypedLine>(&line) {
                Ok(typed) => answer(&typed.r#type, typed.value.text().as_bytes()),
                Err(error) => refuse(NotTyped::new(&line, error)),
            },
        };
        if let Answer::Bad(_) = answered {
            outcome = Outcome::SomeFailed;
        }
        serde_json::to_writer(&mut output, &answered).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(outcome)
}
