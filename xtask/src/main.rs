//! The commands of this workspace. This crate reads arguments and prints; the work is done by `mcp-codegen`.

mod args;
mod generate;
mod ingest;
mod interop;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Interop(args) => return interop::run("peers", &args),
        Command::Conformance(args) => return interop::run("conformance", &args),
        Command::Ingest(args) => ingest::run(args),
        Command::Generate(args) => generate::run(&args),
        Command::Model(args) => generate::run_model(&args),
        Command::Adapters(args) => generate::run_adapters(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
