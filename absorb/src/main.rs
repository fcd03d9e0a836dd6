//! `cargo xtask absorb`

mod args;
mod batches;

use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use mcp_absorb::{Compilation, Crates, FileRow, MadeUp, Report, Schemas, files};

use crate::args::{Args, Range};
use crate::batches::Failure;

/// The number of failures that are printed for a seed or a file.
const SHOWN: usize = 3;

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match &args.batch {
        Some(range) => batches::run_here(&args.schemas(), *range).map(|()| true),
        None => run(&args),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<bool, Failure> {
    let mut is_whole = true;
    if let Some(range) = args.seeds {
        is_whole &= seeds(args, range)?;
    }
    if !args.files.is_empty() {
        is_whole &= history(args)?;
    }
    Ok(is_whole)
}

/// Tests made-up revisions, and returns whether all pass.
fn seeds(args: &Args, range: Range) -> Result<bool, Failure> {
    let schemas = Schemas::new(&args.schemas())?;
    let report = batches::run(range, args.jobs(), args.resume.as_deref())?;
    match args.json {
        true => println!("{}", serde_json::to_string_pretty(&report)?),
        false => print!("{report}"),
    }
    for failed in report.failed() {
        eprintln!("seed {} fails; these of its edits are enough:", failed.seed);
        let shrunk = failed.made_up.clone().shrunk(&schemas)?;
        eprintln!("  {}", serde_json::to_string(&shrunk)?);
        for failure in failed.failures.iter().take(SHOWN) {
            eprintln!("  {failure}");
        }
        if let Some(directory) = &args.write {
            fs::create_dir_all(directory)?;
            let file = directory.join(format!("seed-{}.json", failed.seed));
            fs::write(file, serde_json::to_string_pretty(&shrunk)? + "\n")?;
        }
    }
    Ok(compile(args, range, &report)? && report.failed().is_empty())
}

/// Compiles the type crates of the first seeds that are accepted, in one build.
fn compile(args: &Args, range: Range, report: &Report) -> Result<bool, Failure> {
    if args.compile == 0 {
        return Ok(true);
    }
    let (schemas, mut compilation) = (Schemas::new(&args.schemas())?, compilation("seeds")?);
    for seed in range.seeds() {
        if compilation.crates() == args.compile {
            break;
        }
        progress(&format!("generating seed {seed}"));
        let trial = MadeUp::of_seed(&schemas, seed).trial(&schemas, &format!("seed-{seed}"))?;
        if !report.has_failed(seed) {
            compilation.add(&trial, &schemas, Crates::Types)?;
        }
    }
    progress("compiling");
    match compilation.check() {
        Ok(()) => {
            eprintln!("{} type crates compile", compilation.crates());
            Ok(true)
        }
        Err(error) => {
            eprintln!("{error}");
            Ok(false)
        }
    }
}

/// Tests files, and returns whether everything passes.
fn history(args: &Args) -> Result<bool, Failure> {
    let (schemas, mut compilation) = (args.schemas(), compilation("files")?);
    let mut rows: Vec<FileRow> = Vec::new();
    for file in &args.files {
        progress(&format!("absorbing {}", file.display()));
        rows.extend(files(&schemas, file, &mut compilation).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        println!(
            "| File | After | Accepted | Suggested lines | Compiled | Instances | Translations | Refused | Failures | Ingest, s | Generate, s | Compile, s | Test, s |"
        );
        println!("| --- | --- | --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |");
        let yes = |yes: bool| if yes { "yes" } else { "no" };
        for row in &rows {
            let FileRow { file, outcome, .. } = row;
            println!(
                "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
                file.display(),
                row.after.as_deref().unwrap_or("none"),
                yes(outcome.accepted),
                outcome.suggestions,
                yes(matches!(row.compiled, Some(Ok(())))),
                outcome.instances,
                outcome.translations,
                outcome.refusals,
                outcome.failures.len(),
                outcome.ingesting.as_secs_f64(),
                row.generating.as_secs_f64(),
                row.compiling.as_secs_f64(),
                outcome.testing.as_secs_f64(),
            );
        }
    }
    for row in rows.iter().filter(|row| !row.is_whole()) {
        eprintln!("{}:", row.file.display());
        let errors = row.compiled.iter().filter_map(|compiled| compiled.as_ref().err());
        for failure in row.outcome.failures.iter().chain(errors).take(SHOWN) {
            eprintln!("  {failure}");
        }
    }
    Ok(rows.iter().all(FileRow::is_whole))
}

fn compilation(name: &str) -> Result<Compilation, Failure> {
    let root = workspace();
    Ok(Compilation::new(&root, &root.join("target/absorb").join(name))?)
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn progress(line: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("{line}");
    }
}
