//! `mcp-rev registry upgrade`

use std::io::Write;
use std::path::Path as FilePath;

use mcp_registry_types::{Policy, Revision, Translation, translate};
use tempfile::NamedTempFile;

use super::document::{DEFINITION, Document, SCHEMA};
use super::pretty::pretty;
use super::problem::{Problem, place_of};
use super::validate::{invalid, print};
use crate::args::{Format, UpgradeArgs};
use crate::error::{CommandError, Summary};
use crate::text::say;

/// Converts a file to the newest schema version.
pub fn run(args: &UpgradeArgs, mut output: impl Write) -> Result<Summary, CommandError> {
    let mut document = Document::read(&args.file)?;
    if let Some(revision) = args.from {
        document = document.naming(revision);
    }
    let refuse = |problems: &[Problem], output| print(&args.file, &document, problems, Format::Text, output);
    let revision = match document.revision() {
        Ok(revision) => revision,
        Err(mut problem) => {
            if document.value.is_object() && document.value.get(SCHEMA).is_none() {
                problem.message += "; `--from` gives the version of a document that names no schema";
            }
            return refuse(&[problem], output);
        }
    };
    let wrong = invalid(revision, &document.text);
    if !wrong.is_empty() {
        return refuse(&wrong, output);
    }
    let upgraded = match upgrade(revision, &document.text) {
        Ok(upgraded) => upgraded,
        Err(problem) => return refuse(&[problem], output),
    };
    for loss in &upgraded.losses {
        let place = place_of(&document.text, &loss.path);
        let (file, path) = (args.file.display(), &loss.path);
        say(&format!(
            "{file}:{}:{}: {path}: {} ({})",
            place.line, place.column, loss.kind, loss.rule
        ));
    }
    if args.strict && !upgraded.losses.is_empty() {
        return Ok(Summary::SomeFailed);
    }
    let text = pretty(upgraded.value.text());
    match args.write {
        true if text == document.text => {}
        true => replace(&args.file, &text).map_err(|error| CommandError::file(&args.file, error))?,
        false => output.write_all(text.as_bytes())?,
    }
    output.flush()?;
    Ok(Summary::AllSucceeded)
}

/// Converts a document to the newest schema version, and validates the result.
fn upgrade(from: Revision, text: &str) -> Result<Translation, Problem> {
    let newest = Revision::LATEST;
    let upgraded = translate(from, newest, DEFINITION, text.as_bytes(), Policy::Conform)
        .map_err(|error| Problem::error(error.path(), format!("{newest} can't express this: {}", error.reason())))?;
    match invalid(newest, upgraded.value.text()).into_iter().next() {
        Some(problem) => Err(Problem {
            message: format!("{newest} can't express this: {}", problem.message),
            ..problem
        }),
        None => Ok(upgraded),
    }
}

/// Replaces a file atomically, so that it is never half written. A link stays, and the file that it leads to keeps its
/// permissions.
fn replace(file: &FilePath, text: &str) -> std::io::Result<()> {
    let file = file.canonicalize()?;
    let mut new = NamedTempFile::new_in(file.parent().unwrap_or(&file))?;
    new.write_all(text.as_bytes())?;
    new.as_file().set_permissions(file.metadata()?.permissions())?;
    new.persist(&file)?;
    Ok(())
}
