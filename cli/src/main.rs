//! `mcp-rev`: every revision of the Model Context Protocol from a shell.

// `println!` panics when the reader of the output is gone, as after `| head`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod decode;
mod message;
mod stream;
mod translate;
mod values;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;
use mcp_adapters::Revision;

use args::{Args, Command};
use values::{CommandError, Summary};

fn main() -> ExitCode {
    let (input, mut output) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    let done = match Args::parse().command {
        Command::Decode(args) => decode::run(&args, input, output),
        Command::Translate(args) => translate::run(&args, input, output),
        Command::Revisions => {
            let lines = Revision::ALL.map(|revision| format!("{revision}\n"));
            let written = output
                .write_all(lines.concat().as_bytes())
                .and_then(|()| output.flush());
            written.map(|()| Summary::AllSucceeded).map_err(CommandError::from)
        }
    };
    match done {
        Ok(Summary::AllSucceeded) => ExitCode::SUCCESS,
        Ok(Summary::SomeFailed) => ExitCode::FAILURE,
        Err(CommandError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // If this fails too, there is nowhere to report it.
            let _ = writeln!(io::stderr(), "mcp-rev: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
