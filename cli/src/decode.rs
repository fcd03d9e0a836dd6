//! `mcp-rev decode`

use std::io::{BufRead, Write};

use mcp_adapters::mcp_wire::{Definition, Path};
use mcp_adapters::{Policy, Revision, translate};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::DecodeArgs;
use crate::error::{CommandError, Summary};
use crate::message;
use crate::values::{Definitions, Failure, process_values};

/// A value that was decoded and encoded again.
#[derive(Serialize)]
struct Decoded {
    value: Box<RawValue>,
}

/// Decodes every value of `input`.
pub fn run(args: &DecodeArgs, input: impl BufRead, output: impl Write) -> Result<Summary, CommandError> {
    let revision = args.revision;
    let names = match revision.definitions() {
        [] => revision.definition_names().collect(),
        compiled => compiled.iter().map(|definition| definition.name).collect(),
    };
    let definitions = Definitions::new(revision, names, args.definition.as_deref())?;
    process_values(input, output, &definitions, false, |name, json| {
        let value = match find_definition(revision, name) {
            Some(definition) => encoded_again(definition, json),
            None => checked(revision, name, json),
        }?;
        if args.strict {
            validate(revision, name, json, &value)?;
        }
        let value = RawValue::from_string(value).map_err(|error| Failure::new(None, Path::default(), error))?;
        Ok(Decoded { value })
    })
}

/// The type of a definition; `None` if the revision isn't compiled.
pub fn find_definition(revision: Revision, name: &str) -> Option<&'static Definition> {
    let mut definitions = revision.definitions().iter();
    definitions.find(|definition| definition.name == name)
}

fn encoded_again(definition: &Definition, json: &[u8]) -> Result<String, Failure> {
    let instance = definition.decode(json);
    let instance = instance.map_err(|error| Failure::new(None, error.path(), error.reason()))?;
    instance
        .to_json()
        .map_err(|error| Failure::new(None, Path::default(), error))
}

/// Checks a value of a revision that isn't compiled, by the table of the revision.
fn checked(revision: Revision, name: &str, json: &[u8]) -> Result<String, Failure> {
    let checked = translate(revision, revision, name, json, Policy::Carry);
    let checked = checked.map_err(|error| Failure::new(None, error.path(), error.reason()))?;
    Ok(checked.value.text().to_owned())
}

fn validate(revision: Revision, name: &str, json: &[u8], value: &str) -> Result<(), Failure> {
    let by_definition = revision.validate_definition(name, value).unwrap_or(Ok(()));
    let validated = match message::is_message(name) {
        true => by_definition.and_then(|()| message::validate(revision, json)),
        false => by_definition,
    };
    validated.map_err(|invalid| match &*invalid.violations {
        // The path is written in its own member.
        [violation] => Failure::new(None, violation.path.clone(), violation.reason()),
        violations => {
            let first = violations.first().map(|violation| violation.path.clone());
            Failure::new(None, first.unwrap_or_default(), invalid)
        }
    })
}
