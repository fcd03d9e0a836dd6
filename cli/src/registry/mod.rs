//! `mcp-rev registry`: the `server.json` of a project.

mod document;
mod init;
mod limits;
mod pretty;
mod problem;
mod readme;
mod upgrade;
mod validate;

use std::io::Write;

use crate::args::{RegistryArgs, RegistryCommand};
use crate::error::{CommandError, Summary};

/// Runs one of the commands.
pub fn registry(args: &RegistryArgs, output: impl Write) -> Result<Summary, CommandError> {
    match &args.command {
        RegistryCommand::Init(args) => init::run(args, output),
        RegistryCommand::Validate(args) => validate::run(args, output),
        RegistryCommand::Upgrade(args) => upgrade::run(args, output),
    }
}
