//! `mcp-rev`: every revision of the Model Context Protocol from a shell.

mod args;
mod decode;
mod lines;
mod translate;

use std::io::{self, BufWriter};
use std::process::ExitCode;

use clap::Parser;
use mcp_adapters::Revision;

use args::{Args, Command};
use lines::Outcome;

fn main() -> ExitCode {
    let (input, output) = (io::stdin().lock(), BufWriter::new(io::stdout().lock()));
    let done = match Args::parse().command {
        Command::Decode(args) => decode::run(&args, input, output),
        Command::Translate(args) => translate::run(&args, input, output),
        Command::Revisions => {
            for revision in Revision::ALL {
                println!("{revision}");
            }
            Ok(Outcome::AllGood)
        }
    };
    match done {
        Ok(Outcome::AllGood) => ExitCode::SUCCESS,
        Ok(Outcome::SomeFailed) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mcp-rev: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
