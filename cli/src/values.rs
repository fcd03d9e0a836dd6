//! Input that is read value by value, with one line of output for each.

use std::io::{self, BufRead, Write};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{Path, RawJson, error_code};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Summary};
use crate::stream::{Place, Stream};

/// A value that names its type.
#[derive(Deserialize)]
#[serde(expecting = "an object with `type` and `value`")]
struct TypedValue {
    r#type: String,
    value: RawJson,
}

/// The reason why a value failed.
#[derive(Serialize)]
pub struct Failure {
    /// The JSON-RPC error code for a peer that sends such a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// The path within the value.
    pub path: String,
    pub error: String,
}

impl Failure {
    pub fn new(code: Option<i64>, path: impl ToString, error: impl ToString) -> Self {
        Self {
            code,
            path: path.to_string(),
            error: error.to_string(),
        }
    }
}

/// The outcome for a value, as written to the output.
#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<T> {
    Success {
        ok: bool,
        #[serde(flatten)]
        value: T,
    },
    Failure {
        ok: bool,
        #[serde(flatten)]
        place: Place,
        #[serde(flatten)]
        failure: Failure,
    },
}

/// The definitions that values can be instances of.
pub struct Definitions<'a> {
    revision: Revision,
    names: Vec<&'static str>,
    /// The definition of every value; without it, each value names its own.
    only: Option<&'a str>,
}

impl<'a> Definitions<'a> {
    /// Fails if `only` isn't one of the names.
    pub fn new(revision: Revision, names: Vec<&'static str>, only: Option<&'a str>) -> Result<Self, CommandError> {
        let definitions = Self { revision, names, only };
        if let Some(name) = only {
            definitions.check(name)?;
        }
        Ok(definitions)
    }

    fn check(&self, name: &str) -> Result<(), CommandError> {
        match self.names.contains(&name) {
            true => Ok(()),
            false => Err(CommandError::UnknownType {
                revision: self.revision,
                name: name.to_owned(),
                known: self.names.clone(),
            }),
        }
    }
}

/// Writes the outcome of every value of `input`. Failures have the codes of JSON-RPC errors if `with_codes`.
pub fn process_values<T: Serialize>(
    input: impl BufRead,
    mut output: impl Write,
    definitions: &Definitions<'_>,
    with_codes: bool,
    process: impl Fn(&str, &[u8]) -> Result<T, Failure>,
) -> Result<Summary, CommandError> {
    let mut summary = Summary::AllSucceeded;
    let (mut stream, mut text) = (Stream::new(input), Vec::new());
    let root = Path::default().to_string();
    let fail = |code: i64, path: &str, error: String| Err(Failure::new(with_codes.then_some(code), path, error));
    while let Some((place, read)) = stream.read(&mut text)? {
        let processed = match (read, definitions.only) {
            (Err(malformed), _) => fail(error_code::PARSE_ERROR, &root, malformed.to_string()),
            (Ok(()), Some(name)) => process(name, &text),
            (Ok(()), None) => match serde_json::from_slice::<TypedValue>(&text) {
                Ok(TypedValue { r#type, value }) => match definitions.check(&r#type) {
                    Ok(()) => process(&r#type, value.text().as_bytes()),
                    Err(error) => {
                        let tip = error.tip().unwrap_or_default();
                        fail(error_code::METHOD_NOT_FOUND, "type", format!("{error}; {tip}"))
                    }
                },
                Err(error) => {
                    let code = match serde_json::from_slice::<IgnoredAny>(&text) {
                        Ok(_) => error_code::INVALID_REQUEST,
                        Err(_) => error_code::PARSE_ERROR,
                    };
                    // The line and column of this error are relative to the value, and the output has the value's
                    // position in the input.
                    let error = error.to_string();
                    let reason = error.split(" at line ").next().unwrap_or_default();
                    fail(code, &root, format!("not a value {{\"type\":…,\"value\":…}}: {reason}"))
                }
            },
        };
        let outcome = match processed {
            Ok(value) => Outcome::Success { ok: true, value },
            Err(failure) => {
                summary = Summary::SomeFailed;
                Outcome::Failure {
                    ok: false,
                    place,
                    failure,
                }
            }
        };
        serde_json::to_writer(&mut output, &outcome).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(summary)
}
