//! `mcp-rev diff`: the effect of changes of a server's interface on its clients.

mod changes;
mod keyword;
mod normal;
mod schema;

use std::path::Path;

use clap::builder::styling::Style;
use serde_json::Value;

use self::changes::changes;
use crate::args::{DiffArgs, Format, is_url};
use crate::client::interface_of;
use crate::error::{CommandError, Summary};
use crate::input_file::read_text;
use crate::paint::{BAD, DOUBTFUL, GOOD, NONE, Paint};
use crate::plain::plain;
use crate::text::{write_json, write_table};

/// The effect of a change on the clients of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    /// A call that was valid before may fail, or its result may not be what a client expects.
    Breaking,
    /// A model or a client may behave differently.
    Risky,
    /// Something was added.
    Additive,
}

impl Effect {
    fn style(self) -> Style {
        match self {
            Self::Breaking => BAD,
            Self::Risky => DOUBTFUL,
            Self::Additive => GOOD,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Risky => "risky",
            Self::Additive => "additive",
        }
    }
}

/// A change of the interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
struct Change {
    effect: Effect,
    /// The part that has changed, such as `tool weather`.
    subject: String,
    /// A description of the change.
    change: String,
}

/// Prints the changes, the breaking ones first.
pub fn diff(args: &DiffArgs, mut output: impl Paint) -> Result<Summary, CommandError> {
    let old = read(&args.old)?;
    let new = match args.server.url.as_deref().filter(|new| !is_url(new)) {
        Some(file) => read(Path::new(file))?,
        None => interface_of(&args.server)?,
    };
    let mut changes = changes(&old, &new);
    changes.sort();
    match args.format {
        Format::Json => write_json(&mut output, &changes)?,
        Format::Text => {
            let rows = changes.iter().map(|change| {
                [
                    change.effect.name().to_owned(),
                    plain(&change.subject),
                    plain(&change.change),
                ]
            });
            write_table(&mut output, &rows.collect::<Vec<_>>(), |row, column| match column {
                0 => changes.get(row).map_or(NONE, |change| change.effect.style()),
                _ => NONE,
            })?;
        }
    }
    output.flush()?;
    let is_breaking = changes.iter().any(|change| change.effect == Effect::Breaking);
    Ok(Summary::of(!is_breaking))
}

/// Reads a snapshot.
fn read(file: &Path) -> Result<Value, CommandError> {
    let text = read_text(file).map_err(|error| CommandError::file(file, error))?;
    let snapshot: Value = serde_json::from_str(&text).map_err(|error| CommandError::file(file, error))?;
    match snapshot.get("tools").is_some_and(Value::is_array) {
        true => Ok(snapshot),
        false => Err(CommandError::file(
            file,
            "it isn't a snapshot of `mcp-rev snapshot`: there are no `tools`",
        )),
    }
}
