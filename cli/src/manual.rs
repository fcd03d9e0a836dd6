//! Completions for shells, and manual pages.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::args::Args;
use crate::error::{CommandError, Summary};

/// Writes the completion script for a shell.
pub fn completions(shell: Shell, mut output: impl Write) -> Result<Summary, CommandError> {
    // The generator panics when it can't write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "mcp-rev", &mut script);
    output.write_all(&script)?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}

/// Writes the manual page of the program, or of a command.
pub fn page(name: Option<&str>, mut output: impl Write) -> Result<Summary, CommandError> {
    let mut program = Args::command();
    program.build();
    let command = match name {
        None => program,
        Some(name) => program
            .find_subcommand(name)
            .cloned()
            .ok_or_else(|| CommandError::UnknownCommand {
                name: name.to_owned(),
                known: program.get_subcommands().map(|it| it.get_name().to_owned()).collect(),
            })?,
    };
    Man::new(command).render(&mut output)?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}
