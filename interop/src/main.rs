//! `mcp-interop`: tests of the runtime with other people's implementations.

// These macros panic when the output is closed.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod authorization;
mod bridge;
mod conformance;
mod eras;
mod error;
mod example;
mod gateways;
mod json_schema_suite;
mod packages;
mod paths;
mod peers;
mod process;
mod validation;
mod wire;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};

#[tokio::main]
async fn main() -> ExitCode {
    let Args { command } = Args::parse();
    let run = async {
        match command {
            Command::Peers(args) if args.bridge => bridge::run(&args).await,
            Command::Peers(args) if args.gateways => gateways::run().await,
            Command::Peers(args) => peers::run(&args).await,
            Command::Authorization => authorization::run().await,
            Command::Conformance(args) => conformance::run(&args).await,
            Command::JsonSchemaSuite => json_schema_suite::run().await,
        }
    };
    let done = tokio::select! {
        done = run => done,
        // The dropped future kills the processes that it has started.
        () = process::shutdown_signal() => return ExitCode::FAILURE,
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "mcp-interop: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
