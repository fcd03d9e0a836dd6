//! `mcp-rev decode`

use std::io::{BufRead, Write};

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{Definition, Path};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::DecodeArgs;
use crate::error::{CommandError, Summary};
use crate::message;
use crate::values::{Failure, process_values};

/// A value as it is encoded again.
#[derive(Serialize)]
struct Decoded {
    value: Box<RawValue>,
}

/// Decodes every value of `input`.
pub fn run(args: &DecodeArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let revision = args.revision;
    if let Some(name) = &args.definition {
        find_definition(revision, name)?;
    }
    let definition = args.definition.as_deref();
    process_values(input, output, definition, false, |name, json| {
        let definition = find_definition(revision, name).map_err(|error| {
            let tip = error.tip().unwrap_or_default();
            Failure::new(None, "type", format!("{error}; {tip}"))
        })?;
        decode(revision, definition, json, args.strict)
    })
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

fn decode(revision: Revision, definition: &Definition, json: &[u8], strict: bool) -> Result<Decoded, Failure> {
    let instance = definition.decode(json);
    let instance = instance.map_err(|error| Failure::new(None, error.path(), error.reason()))?;
    let validated = match strict {
        true if message::is_message(definition.name) => {
            instance.validate().and_then(|()| message::validate(revision, json))
        }
        true => instance.validate(),
        false => Ok(()),
    };
    validated.map_err(|invalid| {
        let first = invalid.violations.first().map(|violation| violation.path.clone());
        Failure::new(None, first.unwrap_or_default(), invalid)
    })?;
    let json = instance.to_json();
    let json = json.map_err(|error| Failure::new(None, Path::default(), error))?;
    let value = RawValue::from_string(json).map_err(|error| Failure::new(None, Path::default(), error))?;
    Ok(Decoded { value })
}
