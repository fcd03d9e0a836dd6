//! `mcp-rev registry validate`

use std::fs;
use std::io::{self, Write};
use std::path::{Path as FilePath, PathBuf};

use mcp_registry_types::Revision;
use mcp_registry_types::mcp_wire::path::Path;
use serde::Serialize;
use serde_json::Value;

use super::document::{DEFINITION, Document, SCHEMA};
use super::limits::limits;
use super::problem::{Problem, Severity, place_of};
use super::readme::missing_name;
use crate::args::{Format, ValidateArgs};
use crate::error::{CommandError, Summary};
use crate::plain::plain;
use crate::text::write_json;

/// The report on a document, as it is printed.
#[derive(Serialize)]
struct Report {
    file: String,
    revision: Option<&'static str>,
    problems: Vec<Row>,
}

/// A problem, as it is printed.
#[derive(Serialize)]
struct Row {
    severity: Severity,
    line: u64,
    column: u64,
    path: String,
    message: String,
}

/// Prints the problems of a file.
pub fn run(args: &ValidateArgs, output: impl Write) -> Result<Summary, CommandError> {
    let document = Document::read(&args.file)?;
    let readme = match &args.readme {
        Some(file) => Some(fs::read_to_string(file).map_err(|error| CommandError::file(file, error))?),
        None => fs::read_to_string(beside(&args.file)).ok(),
    };
    let mut problems = problems(&document);
    problems.extend(readme.and_then(|readme| unnamed(&document.value, &readme)));
    print(&args.file, &document, &problems, args.format, output)
}

/// The README next to a file.
pub fn beside(file: &FilePath) -> PathBuf {
    file.with_file_name("README.md")
}

/// The problems of a document, without those of its README.
pub fn problems(document: &Document) -> Vec<Problem> {
    let revision = match document.revision() {
        Ok(revision) => revision,
        Err(problem) => return vec![problem],
    };
    let mut problems = invalid(revision, &document.text);
    problems.extend(limits(&document.value));
    if revision < Revision::LATEST {
        let mut path = Path::default();
        path.push_member(SCHEMA);
        let newest = Revision::LATEST;
        let message = format!("the newest schema is {newest}; `mcp-rev registry upgrade` converts the document");
        problems.push(Problem::warning(path, message));
    }
    problems
}

/// The violations of a version's schema.
pub fn invalid(revision: Revision, text: &str) -> Vec<Problem> {
    let invalid = revision.validate_definition(DEFINITION, text).and_then(Result::err);
    let violations = invalid.into_iter().flat_map(|invalid| invalid.violations);
    violations
        .map(|found| {
            Problem::error(
                found.path,
                format!("expected {}, found {}", found.expected, found.found),
            )
        })
        .collect()
}

/// The problem of a crate whose README doesn't name the server.
fn unnamed(document: &Value, readme: &str) -> Option<Problem> {
    let packages = document["packages"].as_array()?;
    let is_crate = |package: &Value| package["registryType"] == "cargo" || package["registry_type"] == "cargo";
    let index = packages.iter().position(is_crate)?;
    let mut path = Path::default();
    path.push_member("packages");
    path.push_index(index);
    Some(Problem::error(path, missing_name(readme, document["name"].as_str()?)?))
}

/// Prints problems, and returns the outcome. Warnings don't make it a failure.
pub fn print(
    file: &FilePath,
    document: &Document,
    problems: &[Problem],
    format: Format,
    mut output: impl Write,
) -> Result<Summary, CommandError> {
    let rows = problems.iter().map(|problem| {
        let (line, column) = problem.at.unwrap_or_else(|| {
            let place = place_of(&document.text, &problem.path);
            (place.line, place.column)
        });
        Row {
            severity: problem.severity,
            line,
            column,
            path: problem.path.to_string(),
            message: problem.message.clone(),
        }
    });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| (row.line, row.column));
    let report = Report {
        file: file.display().to_string(),
        revision: document.revision().ok().map(Revision::as_str),
        problems: rows,
    };
    match format {
        Format::Json => write_json(&mut output, &report)?,
        Format::Text => write_text(&report, &mut output)?,
    }
    output.flush()?;
    let has_errors = problems.iter().any(|problem| problem.severity == Severity::Error);
    Ok(Summary::of(!has_errors))
}

fn write_text(report: &Report, output: &mut impl Write) -> io::Result<()> {
    for row in &report.problems {
        let Row { line, column, .. } = row;
        let severity = match row.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        let (file, path, message) = (&report.file, plain(&row.path), plain(&row.message));
        writeln!(output, "{file}:{line}:{column}: {severity}{path}: {message}")?;
    }
    let errors = report.problems.iter().filter(|row| row.severity == Severity::Error);
    let revision = report.revision.unwrap_or("unknown schema");
    match errors.count() {
        0 => writeln!(output, "{}: valid, {revision}", report.file),
        1 => writeln!(output, "{}: 1 problem, {revision}", report.file),
        count => writeln!(output, "{}: {count} problems, {revision}", report.file),
    }
}
