//! `mcp-rev`: every revision of the Model Context Protocol from a shell.

// `println!` panics when the reader of the output is gone, as after `| head`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod bridge;
mod check;
mod client;
mod decode;
mod error;
mod gateway;
mod generate;
mod input_file;
mod interface;
mod manual;
mod message;
mod mock;
mod paint;
mod plain;
mod pointer;
mod registry;
mod replay;
mod report;
mod schemas;
mod shell;
mod status;
mod stream;
mod suggest;
mod text;
mod transcript;
mod translate;
mod values;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use mcp_adapters::Revision;

use args::{Args, Command};
use error::{CommandError, Summary};

fn main() -> ExitCode {
    match start() {
        Ok(Summary::AllSucceeded) => ExitCode::SUCCESS,
        Ok(Summary::SomeFailed) => ExitCode::FAILURE,
        Err(CommandError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            text::say(&error.for_people());
            ExitCode::from(error.exit_code())
        }
    }
}

fn start() -> Result<Summary, CommandError> {
    let args: Vec<_> = std::env::args_os().collect();
    let schemas = schemas::directory(&args);
    if let Some(directory) = &schemas {
        schemas::load(directory)?;
    }
    let args = Args::parse_with_color(args)?;
    paint::choose(args.color);
    run(&args.command, schemas.as_deref())
}

fn run(command: &Command, schemas: Option<&Path>) -> Result<Summary, CommandError> {
    let mut output = paint::output();
    match command {
        Command::Inspect(args) => client::inspect(args, output),
        Command::Tool(args) => client::tool(args, output),
        Command::Call(args) => client::call(args, output),
        Command::Read(args) => client::read(args, output),
        Command::Prompt(args) => client::prompt(args, output),
        Command::Request(args) => client::request(args, output),
        Command::Complete(args) => client::complete(args, output),
        Command::Ping(args) => client::ping(args, output),
        Command::SetLevel(args) => client::set_level(args),
        Command::Snapshot(args) => client::snapshot(args, output),
        Command::Diff(args) => interface::diff(args, output),
        Command::Shell(args) => shell::shell(args, output),
        Command::Listen(args) => client::listen(args, output),
        Command::Check(args) => check::check(args, output),
        Command::Replay(args) => replay::replay(args, output),
        Command::Mock(args) => mock::mock(args, io::stdin().lock(), output),
        Command::Bridge(args) => bridge::bridge(args),
        Command::Gateway(args) => gateway::gateway(args),
        Command::Decode(args) => decode::run(args, io::stdin().lock(), output),
        Command::Translate(args) => translate::run(args, io::stdin().lock(), output),
        Command::Generate(args) => generate::generate(args, schemas, output),
        Command::Registry(args) => registry::registry(args, output),
        Command::Revisions => {
            for revision in Revision::all() {
                writeln!(output, "{revision}")?;
            }
            output.flush()?;
            Ok(Summary::AllSucceeded)
        }
        Command::Completions { shell } => manual::completions(*shell, output),
        Command::Man { command } => manual::page(command, output),
    }
}
