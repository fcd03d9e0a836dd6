//! `mcp-rev generate`

use std::io::Write;
use std::path::Path;

use mcp_adapters::Revision;
use mcp_codegen::ingest::ExtensionOptions;
use mcp_codegen::{ExtensionCrateOptions, GenerateError, generate_extension};

use crate::args::{ExtensionArgs, GenerateArgs};
use crate::error::{CommandError, Summary};

/// Generates code. `schemas` is the directory of `--schemas`.
pub fn generate(args: &GenerateArgs, schemas: Option<&Path>, output: impl Write) -> Result<Summary, CommandError> {
    match args.typescript {
        Some(revision) => typescript(revision, schemas, output),
        None => extension(&args.extension, schemas, output),
    }
}

/// Prints the definitions of a revision.
fn typescript(revision: Revision, schemas: Option<&Path>, mut output: impl Write) -> Result<Summary, CommandError> {
    let text = match (revision.typescript(), schemas) {
        (None, Some(directory)) => mcp_codegen::typescript(directory, revision.as_str()).map_err(failed)?,
        (compiled, _) => compiled.unwrap_or_default().to_owned(),
    };
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(Summary::AllSucceeded)
}

/// Writes the crate of an extension.
fn extension(args: &ExtensionArgs, schemas: Option<&Path>, mut output: impl Write) -> Result<Summary, CommandError> {
    let (Some(id), Some(of), Some(folder), Some(out), Some(schemas)) =
        (&args.id, &args.of, &args.folder, &args.out, schemas)
    else {
        return Err(CommandError::Argument(
            "an extension has an id, --of, a folder, --out and --schemas".to_owned(),
        ));
    };
    let options = ExtensionCrateOptions {
        schemas: schemas.to_owned(),
        folder: folder.clone(),
        extension: ExtensionOptions {
            id: id.clone(),
            name: args.name.clone(),
            of: of.clone(),
            official: true,
        },
        version: args.version.as_ref().unwrap_or(of).clone(),
        link: args.link.clone(),
        out: out.clone(),
        check: args.check,
    };
    let report = generate_extension(&options).map_err(failed)?;
    let changed = report.stale.len() + report.missing.len();
    let (removed, unchanged) = (report.orphaned.len(), report.unchanged);
    match args.check {
        true => writeln!(output, "{} files are stale, {unchanged} current", changed + removed)?,
        false => writeln!(
            output,
            "{changed} files written, {removed} removed, {unchanged} left as they were"
        )?,
    }
    output.flush()?;
    Ok(Summary::of(!args.check || report.is_current()))
}

fn failed(error: GenerateError) -> CommandError {
    CommandError::Argument(error.to_string())
}
