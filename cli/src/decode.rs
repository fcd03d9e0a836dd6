//! `mcp-rev decode`

use std::io::{self, BufRead, Write};

use mcp_adapters::mcp_wire::{Definition, OpenJson, Path};
use mcp_adapters::{Revision, UnknownRevision};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Outcome;
use crate::args::DecodeArgs;

/// Why no line could be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeCommandError {
    #[error(transparent)]
    Revision(#[from] UnknownRevision),
    #[error(transparent)]
    Type(#[from] UnknownType),
    #[error("can't read or write: {0}")]
    Io(#[from] io::Error),
}

impl DecodeCommandError {
    /// 2 for what was typed, 1 for what happened.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Revision(_) | Self::Type(_) => 2,
            Self::Io(_) => 1,
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("revision {revision} has no definition {name:?}; it has {}", known(*revision))]
pub struct UnknownType {
    revision: Revision,
    name: String,
}

fn known(revision: Revision) -> String {
    let names: Vec<&str> = revision
        .definitions()
        .iter()
        .map(|definition| definition.name)
        .collect();
    names.join(", ")
}

/// A line that names its type.
#[derive(Deserialize)]
#[serde(expecting = "an object with `type` and `value`")]
struct TypedLine {
    r#type: String,
    value: OpenJson,
}

/// A line of output.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Good { ok: bool, value: Box<RawValue> },
    Bad { ok: bool, path: String, error: String },
}

impl Answer {
    fn bad(path: impl ToString, error: impl ToString) -> Self {
        Self::Bad {
            ok: false,
            path: path.to_string(),
            error: error.to_string(),
        }
    }
}

/// Decodes every line of `input`.
pub fn run(args: &DecodeArgs, mut input: impl BufRead, mut output: impl Write) -> Result<Outcome, DecodeCommandError> {
    let revision: Revision = args.revision.parse()?;
    let fixed = args
        .definition
        .as_deref()
        .map(|name| find(revision, name))
        .transpose()?;
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
        let answer = match fixed {
            Some(definition) => decode(definition, &line, args.strict),
            None => decode_typed(revision, &line, args.strict),
        };
        if let Answer::Bad { .. } = answer {
            outcome = Outcome::SomeFailed;
        }
        serde_json::to_writer(&mut output, &answer).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(outcome)
}

fn find(revision: Revision, name: &str) -> Result<&'static Definition, UnknownType> {
    let found = revision.definitions().iter().find(|definition| definition.name == name);
    found.ok_or_else(|| UnknownType {
        revision,
        name: name.to_owned(),
    })
}

fn decode_typed(revision: Revision, line: &[u8], strict: bool) -> Answer {
    let typed: TypedLine = match serde_json::from_slice(line) {
        Ok(typed) => typed,
        Err(error) => {
            return Answer::bad(
                Path::default(),
                format!("not a line {{\"type\":…,\"value\":…}}: {error}"),
            );
        }
    };
    match find(revision, &typed.r#type) {
        Ok(definition) => decode(definition, typed.value.text().as_bytes(), strict),
        Err(error) => Answer::bad("type", error),
    }
}

fn decode(definition: &Definition, json: &[u8], strict: bool) -> Answer {
    let instance = match definition.decode(json) {
        Ok(instance) => instance,
        Err(error) => return Answer::bad(error.path(), error.reason()),
    };
    if strict && let Err(invalid) = instance.validate() {
        let first = invalid.violations.first().map(|violation| violation.path.clone());
        return Answer::bad(first.unwrap_or_default(), invalid);
    }
    match instance.to_json().and_then(RawValue::from_string) {
        Ok(value) => Answer::Good { ok: true, value },
        Err(error) => Answer::bad(Path::default(), error),
    }
}
