//! Tests schema files, each as a draft after the last revision, and at the position of its date.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mcp_codegen::load::Manifest;
use serde::Serialize;
use serde_json::Value;

use crate::compile::Crates;
use crate::{AbsorbError, Compilation, Outcome, Schemas, Trial};

/// The outcome of a file at a position among the revisions.
#[derive(Debug, Serialize)]
pub struct FileRow {
    /// The file.
    pub file: PathBuf,
    /// The revision after which it was inserted; `None` if it was inserted before the first.
    pub after: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// Whether its crates compile, or the output of the compiler; `None` if the schema isn't accepted.
    pub compiled: Option<Result<(), String>>,
    /// The time to generate all crates.
    pub generating: Duration,
    /// The time to compile them.
    pub compiling: Duration,
}

impl FileRow {
    /// Whether everything passes.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.outcome.failures.is_empty() && matches!(self.compiled, Some(Ok(())))
    }

    fn compile(&mut self, trial: &Trial, schemas: &Schemas, compilation: &mut Compilation) -> Result<(), AbsorbError> {
        compilation.clear()?;
        let start = Instant::now();
        let generated = compilation.add(trial, schemas, Crates::All);
        self.generating = start.elapsed();
        let start = Instant::now();
        let compiled = match generated.and_then(|_| compilation.check()) {
            Ok(()) => Ok(()),
            Err(AbsorbError::Compile(error)) => Err(error.to_string()),
            Err(error) => return Err(error),
        };
        self.compiling = start.elapsed();
        self.compiled = Some(compiled);
        Ok(())
    }
}

/// Tests a file at each of its positions.
///
/// # Errors
/// The file isn't JSON or YAML, or the schemas can't be copied.
pub fn files(schemas: &Path, file: &Path, compilation: &mut Compilation) -> Result<Vec<FileRow>, AbsorbError> {
    let text = fs::read_to_string(file)?;
    let schema: Value = match serde_json::from_str(&text) {
        Ok(schema) => schema,
        Err(error) => yaml_serde::from_str(&text).map_err(|_| error)?,
    };
    let (manifest, schemas) = (Manifest::load(schemas)?, Schemas::new(schemas)?);
    let names: Vec<&str> = manifest.revisions.iter().map(|entry| entry.revision.as_str()).collect();
    let last = names.len();
    let of_date = date(file).map(|date| names.iter().take_while(|name| **name <= date).count());
    let mut places = vec![last];
    places.extend(of_date.filter(|place| *place != last));
    let rows = places.into_iter().map(|position| {
        let trial = Trial {
            revision: "absorbed".to_owned(),
            position,
            released: position == last,
            schema: schema.clone(),
            base: None,
        };
        let outcome = trial.run(&schemas)?;
        let mut row = FileRow {
            file: file.to_owned(),
            after: position.checked_sub(1).map(|before| names[before].to_owned()),
            outcome,
            compiled: None,
            generating: Duration::ZERO,
            compiling: Duration::ZERO,
        };
        if row.outcome.accepted {
            row.compile(&trial, &schemas, compilation)?;
        }
        Ok(row)
    });
    rows.collect()
}

/// Returns the last date in the path of a file.
fn date(file: &Path) -> Option<&str> {
    const DATE: &str = "0000-00-00";
    let path = file.to_str()?;
    let is_date = |text: &&str| {
        let fits = |(byte, model): (u8, u8)| match model {
            b'0' => byte.is_ascii_digit(),
            sign => byte == sign,
        };
        text.bytes().zip(DATE.bytes()).all(fits)
    };
    let starts = (0..path.len().saturating_sub(DATE.len() - 1)).rev();
    starts
        .filter_map(|start| path.get(start..start + DATE.len()))
        .find(is_date)
}
