//! A copy of the schemas, into which revisions are ingested.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use mcp_codegen::ingest::{IngestError, IngestOptions, Position, ingest, try_ingest, write_overlay};
use mcp_codegen::load::Manifest;
use mcp_codegen::{Cache, GenerateError, Problem, Problems, RevisionTable};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{AbsorbError, Outcome, Trial};

/// The maximum number of times that the suggestions of problems are applied.
const ROUNDS: usize = 12;

const SCHEMA: &str = "schema.json";
const RULES: &str = "adapt.yaml";
const OVERLAY: &str = "overlay.yaml";

/// A directory of schemas, and a copy of it, into which one revision after another is ingested.
pub struct Schemas {
    original: PathBuf,
    pub(crate) manifest: Manifest,
    /// The official schema of each revision.
    pub(crate) official: BTreeMap<String, Value>,
    copy: TempDir,
    /// The files of each copy have the same names, so that cached results are found again.
    cache: Cache,
}

impl Schemas {
    /// Opens the schemas in a directory.
    ///
    /// # Errors
    /// The schemas can't be read, or a temporary directory for the copy can't be created.
    pub fn new(directory: &Path) -> Result<Self, AbsorbError> {
        let manifest = Manifest::load(directory)?;
        let revisions = manifest.revisions.iter().map(|entry| entry.revision.as_str());
        let official = revisions.map(|revision| -> Result<_, AbsorbError> {
            let text = fs::read_to_string(directory.join(revision).join(SCHEMA))?;
            Ok((revision.to_owned(), serde_json::from_str(&text)?))
        });
        Ok(Self {
            original: directory.to_owned(),
            official: official.collect::<Result<_, _>>()?,
            manifest,
            copy: TempDir::new()?,
            cache: Cache::default(),
        })
    }

    /// The path of the copy.
    pub(crate) fn copy(&self) -> &Path {
        self.copy.path()
    }
}

/// A revision that is ingested into the copy.
pub(crate) struct Candidate<'s> {
    schemas: &'s Schemas,
    options: IngestOptions,
    /// The hub of the original schemas.
    hub: Option<String>,
    /// Whether the rules that warnings suggest are added.
    with_rules: bool,
}

impl<'s> Candidate<'s> {
    /// Copies the schemas again, and prepares the ingestion of a trial's revision.
    pub(crate) fn new(schemas: &'s Schemas, trial: &Trial) -> Result<Self, AbsorbError> {
        let directory = schemas.copy();
        copy(&schemas.original, directory)?;
        let manifest = &schemas.manifest;
        let own = directory.join(&trial.revision);
        fs::create_dir_all(&own)?;
        // If the revision is inserted before its base, it takes over the rules of the base, which apply to the base's
        // predecessor.
        let follower = manifest.revisions.get(trial.position);
        let is_follower = |base: &str| follower.is_some_and(|entry| entry.revision.as_str() == base);
        if let Some(base) = &trial.base {
            let folder = directory.join(&base.revision);
            if is_follower(&base.revision) && trial.position > 0 {
                fs::rename(folder.join(RULES), own.join(RULES))?;
            }
            if let Some(edited) = &base.edited {
                fs::write(folder.join(SCHEMA), edited.to_string())?;
            }
        }
        let name = |index: usize| manifest.revisions[index].revision.clone();
        let from = directory.join("official.json");
        fs::write(&from, trial.schema.to_string())?;
        let revision = trial.revision.parse();
        let options = IngestOptions {
            schema: directory.to_owned(),
            revision: revision.map_err(|_| std::io::Error::other(format!("{} isn't a name", trial.revision)))?,
            from: from.display().to_string(),
            source: None,
            commit: None,
            accept: false,
            keep_prose: false,
            draft: Some(!trial.released),
            position: match trial.position {
                0 => Position::Before(name(0)),
                after => Position::After(name(after - 1)),
            },
        };
        Ok(Self {
            schemas,
            options,
            hub: manifest.hub().map(|hub| hub.as_str().to_owned()),
            with_rules: trial.released,
        })
    }

    pub(crate) fn hub(&self) -> Option<&str> {
        self.hub.as_deref()
    }

    /// Generates the tables of all revisions with the schema, applying the suggestions of problems, and the rules that
    /// warnings about a release suggest. Returns `None` if it isn't accepted.
    pub(crate) fn try_ingest(&self, outcome: &mut Outcome) -> Result<Option<Vec<RevisionTable>>, AbsorbError> {
        let mut has_rules = false;
        for _ in 0..ROUNDS {
            let problems = match try_ingest(&self.options, &self.schemas.cache) {
                Ok((tables, warnings)) => {
                    if self.with_rules && !has_rules && self.add_rules(&warnings)? {
                        has_rules = true;
                        continue;
                    }
                    outcome.accepted = true;
                    return Ok(Some(tables));
                }
                Err(IngestError::Problems(problems) | IngestError::Generate(GenerateError::Problems(problems)))
                    if has_rules =>
                {
                    outcome.fail(format!("refused with the rules that its warnings suggest: {problems}"));
                    return Ok(None);
                }
                Err(IngestError::Problems(problems) | IngestError::Generate(GenerateError::Problems(problems))) => {
                    problems
                }
                Err(error) => {
                    outcome.fail(format!("refused with an error that has no position: {error}"));
                    return Ok(None);
                }
            };
            match self.follow(&problems)? {
                0 => {
                    outcome.fail(format!("refused without an applicable suggestion: {problems}"));
                    return Ok(None);
                }
                followed => outcome.suggestions += followed,
            }
        }
        outcome.fail("refused although all suggestions were applied");
        Ok(None)
    }

    /// Ingests the schema, applying the suggestions of problems, and returns whether it was accepted.
    pub(crate) fn ingest(&self) -> Result<bool, AbsorbError> {
        let accepted = self.try_ingest(&mut Outcome::default())?.is_some();
        Ok(accepted && ingest(&self.options).is_ok())
    }

    /// Applies the suggestions of problems, as a user without further knowledge would, and returns their number.
    fn follow(&self, problems: &Problems) -> Result<usize, AbsorbError> {
        let mut followed = 0;
        let mut removed = Vec::new();
        for problem in problems {
            if let Some((section, line)) = suggested_line(problem, OVERLAY) {
                followed += usize::from(self.add_line(section, line)?);
            } else if is_removable(problem) {
                removed.push((PathBuf::from(&problem.file), problem.pointer.clone()));
            }
        }
        // Later entries are removed first, so that the indices of the others stay valid.
        removed.sort_by_key(|(_, pointer)| std::cmp::Reverse((index_in(pointer, 2), index_in(pointer, 4))));
        removed.dedup();
        for (file, pointer) in removed {
            followed += usize::from(remove(&file, &pointer)?);
        }
        Ok(followed)
    }

    /// Adds the rules that warnings suggest, except for those with a value that a user has to know. Returns whether there
    /// were any.
    fn add_rules(&self, warnings: &[Problem]) -> Result<bool, AbsorbError> {
        let lines = warnings.iter().filter_map(|warning| suggested_line(warning, RULES));
        let mut lines = lines.filter(|(_, line)| !["default: ", "replace: "].iter().any(|key| line.contains(key)));
        lines.try_fold(false, |added, (section, line)| {
            Ok(add_line(&self.path(RULES), section, line)? || added)
        })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.options.schema.join(self.options.revision.as_str()).join(file)
    }

    fn add_line(&self, section: &str, line: &str) -> Result<bool, AbsorbError> {
        let path = self.path(OVERLAY);
        // An overlay replaces the inherited one, so the command advises users to write that first.
        if !path.exists() {
            write_overlay(&self.options, &self.schemas.cache).map_err(std::io::Error::other)?;
        }
        add_line(&path, section, line)
    }
}

/// Adds an entry to a section of a YAML file, and returns whether it wasn't there.
fn add_line(path: &Path, section: &str, line: &str) -> Result<bool, AbsorbError> {
    let Ok(entry) = yaml_serde::from_str::<Value>(line) else {
        return Ok(false);
    };
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut document: Value = yaml_serde::from_str(&text).unwrap_or_default();
    if document.is_null() {
        document = json!({});
    }
    let added = entry.as_array().cloned().unwrap_or_default();
    let entries = &mut document[section];
    if entries.is_null() {
        *entries = json!([]);
    }
    let Some(entries) = entries
        .as_array_mut()
        .filter(|entries| !added.iter().all(|entry| entries.contains(entry)))
    else {
        return Ok(false);
    };
    entries.extend(added);
    fs::write(path, document.to_string())?;
    Ok(true)
}

/// Returns the section and the entry of a file of the revision that a problem suggests.
fn suggested_line<'p>(problem: &'p Problem, file: &str) -> Option<(&'p str, &'p str)> {
    let (_, help) = problem.help.as_deref()?.rsplit_once("this line under `")?;
    help.split_once(&format!("` in the revision's {file}: "))
}

/// Whether a problem suggests removing its entry of a YAML file.
fn is_removable(problem: &Problem) -> bool {
    let suggests = |help: &str| {
        let remedies = ["remove the entry", "remove this line", "remove the role"];
        help.starts_with("remove ") || remedies.iter().any(|remedy| help.contains(remedy))
    };
    problem.help.as_deref().is_some_and(suggests) && problem.file.ends_with(".yaml")
}

/// Returns the index that a pointer has at a position.
fn index_in(pointer: &str, position: usize) -> Option<usize> {
    pointer.split('/').nth(position)?.parse().ok()
}

/// Removes the place of an entry at a pointer, or the entry of a list, or the member of the root, that contains the
/// value at the pointer.
fn remove(file: &Path, pointer: &str) -> Result<bool, AbsorbError> {
    let text = fs::read_to_string(file)?;
    let Ok(mut document) = yaml_serde::from_str::<Value>(&text) else {
        return Ok(false);
    };
    let mut tokens = pointer.trim_start_matches("#/").split('/');
    let section = tokens.next().unwrap_or_default().replace("~1", "/").replace("~0", "~");
    let is_removed = match (document.get_mut(&section), index_in(pointer, 2)) {
        (Some(Value::Array(entries)), Some(index)) if index < entries.len() => {
            let places = entries[index].get_mut("at").and_then(Value::as_array_mut);
            match (places, index_in(pointer, 4)) {
                (Some(places), Some(place)) if places.len() > 1 => drop(places.remove(place)),
                _ => drop(entries.remove(index)),
            }
            true
        }
        (Some(_), _) => document
            .as_object_mut()
            .is_some_and(|members| members.remove(&section).is_some()),
        (None, _) => false,
    };
    fs::write(file, document.to_string())?;
    Ok(is_removed)
}

/// Makes a directory equal to another. Files that are equal stay: to compare them takes less time than to write them.
pub(crate) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        match (from.join(entry.file_name()).exists(), entry.file_type()?.is_dir()) {
            (true, _) => {}
            (false, true) => fs::remove_dir_all(entry.path())?,
            (false, false) => fs::remove_file(entry.path())?,
        }
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if fs::read(&target).ok() != Some(fs::read(entry.path())?) {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
