//! The commands of this workspace. This crate reads arguments, runs cargo and git, and prints; the work is done by `mcp-codegen`.

// These macros panic when the pipe is closed.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod command;
mod generate;
mod help;
mod ingest;
mod print;
mod programs;
mod publish;
mod report;
mod revisions;
mod show;
mod upstream;

use std::process::ExitCode;

use clap::FromArgMatches;

use args::{Args, Command};

fn main() -> ExitCode {
    let matches = help::command().get_matches();
    let args = Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let done = match args.command {
        Command::Bench(args) => return programs::bench(&args),
        Command::Absorb(args) => return programs::absorb(&args),
        Command::Interop(args) => return programs::interop("peers", &args),
        Command::Authorization(args) => return programs::interop("authorization", &args),
        Command::Conformance(args) => return programs::interop("conformance", &args),
        Command::JsonSchemaSuite(args) => return programs::interop("json-schema-suite", &args),
        Command::Ingest(args) => ingest::run(args),
        Command::Rename(args) => revisions::run_rename(&args),
        Command::Withdraw(args) => revisions::run_withdraw(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Publish(args) => publish::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Upstream(args) => upstream::run(&args),
        Command::Lock(args) => generate::run_lock(&args),
        Command::Model(args) => show::run_model(&args),
        Command::Adapters(args) => show::run_adapters(&args),
        Command::Diff(args) => show::run_diff(&args),
        Command::Jsonld(args) => show::run_jsonld(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if print::is_closed_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            print::status(error);
            ExitCode::FAILURE
        }
    }
}
