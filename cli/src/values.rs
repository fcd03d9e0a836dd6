//! Input that is read value by value, with one line of output for each.

use std::io::{self, BufRead, Write};

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

impl<T> Outcome<T> {
    fn new(place: Place, processed: Result<T, Failure>) -> Self {
        match processed {
            Ok(value) => Self::Success { ok: true, value },
            Err(failure) => Self::Failure {
                ok: false,
                place,
                failure,
            },
        }
    }
}

/// Writes the outcome of every value of `input`. Each value is an instance of `definition`, or names its own definition.
/// Failures have the codes of JSON-RPC errors if `with_codes`.
pub fn process_values<T: Serialize>(
    input: impl BufRead,
    mut output: impl Write,
    definition: Option<&str>,
    with_codes: bool,
    process: impl Fn(&str, &[u8]) -> Result<T, Failure>,
) -> Result<Summary, CommandError> {
    let mut summary = Summary::AllSucceeded;
    let (mut stream, mut text) = (Stream::new(input), Vec::new());
    let fail =
        |code: i64, error: &dyn ToString| Failure::new(with_codes.then_some(code), Path::default(), error.to_string());
    while let Some((place, read)) = stream.read(&mut text)? {
        let processed = match (read, definition) {
            (Err(malformed), _) => Err(fail(error_code::PARSE_ERROR, &malformed)),
            (Ok(()), Some(name)) => process(name, &text),
            (Ok(()), None) => match serde_json::from_slice::<TypedValue>(&text) {
                Ok(typed) => process(&typed.r#type, typed.value.text().as_bytes()),
                Err(error) => {
                    let code = match serde_json::from_slice::<IgnoredAny>(&text) {
                        Ok(_) => error_code::INVALID_REQUEST,
                        Err(_) => error_code::PARSE_ERROR,
                    };
                    // The line and column of this error are relative to the value, and the output has the value's
                    // position in the input.
                    let error = error.to_string();
                    let reason = error.split(" at line ").next().unwrap_or_default();
                    Err(fail(code, &format!("not a value {{\"type\":…,\"value\":…}}: {reason}")))
                }
            },
        };
        if processed.is_err() {
            summary = Summary::SomeFailed;
        }
        let outcome = Outcome::new(place, processed);
        serde_json::to_writer(&mut output, &outcome).map_err(io::Error::from)?;
        output.write_all(b"\n")?;
    }
    output.flush()?;
    Ok(summary)
}
