//! `mcp-rev decode`

use std::io::{BufRead, Write};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{Definition, Path};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::DecodeArgs;
use crate::lines::{CommandError, Outcome, Summary, process_lines};
use crate::message;

/// A value as it is encoded again.
#[derive(Serialize)]
struct Decoded {
    value: Box<RawValue>,
}

/// Decodes every line of `input`.
pub fn run(args: &DecodeArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let revision: Revision = args.revision.parse()?;
    if let Some(name) = &args.definition {
        find_definition(revision, name)?;
    }
    process_lines(
        input,
        output,
        args.definition.as_deref(),
        |name, json| match find_definition(revision, name) {
            Ok(definition) => decode(revision, definition, json, args.strict),
            Err(error) => Outcome::failure(None, "type", error),
        },
        |error| Outcome::failure(None, Path::default(), error),
    )
}

/// The definition of a revision's schema that has this name.
pub fn find_definition(revision: Revision, name: &str) -> Result<&'static Definition, CommandError> {
    let definitions = revision.definitions();
    let found = definitions.iter().find(|definition| definition.name == name);
    found.ok_or_else(|| CommandError::UnknownType {
        revision,
        name: name.to_owned(),
        known: definitions.iter().map(|definition| definition.name).collect(),
    })
}

fn decode(revision: Revision, definition: &Definition, json: &[u8], strict: bool) -> Outcome<Decoded> {
    let instance = match definition.decode(json) {
        Ok(instance) => instance,
        Err(error) => return Outcome::failure(None, error.path(), error.reason()),
    };
    let validated = match strict {
        true if message::is_message(definition.name) => {
            instance.validate().and_then(|()| message::validate(revision, json))
        }
        true => instance.validate(),
        false => Ok(()),
    };
    if let Err(invalid) = validated {
        let first = invalid.violations.first().map(|violation| violation.path.clone());
        return Outcome::failure(None, first.unwrap_or_default(), invalid);
    }
    match instance.to_json().and_then(RawValue::from_string) {
        Ok(value) => Outcome::success(Decoded { value }),
        Err(error) => Outcome::failure(None, Path::default(), error),
    }
}
