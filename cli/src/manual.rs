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

/// Writes the manual page of the program, or of the command with these names, such as `registry` and `validate`.
pub fn page(names: &[String], mut output: impl Write) -> Result<Summary, CommandError> {
    let mut program = Args::command();
    program.build();
    let mut command = &program;
    for name in names {
        command = command
            .find_subcommand(name)
            .ok_or_else(|| CommandError::UnknownCommand {
                name: name.to_owned(),
                known: command.get_subcommands().map(|it| it.get_name().to_owned()).collect(),
            })?;
    }
    // By default, the page of a command shows the command's own version, and commands have none.
    let source = concat!("mcp-rev ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(source).render(&mut output)?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}
