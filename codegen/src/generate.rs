//! The whole pipeline, from a schema directory to crates.

use std::path::{Path, PathBuf};

use crate::adapt::report;
use crate::cache::Cache;
use crate::crates::{Undocumented, emit_protocol};
use crate::emit::EmitInput;
use crate::emit::typescript::definitions;
use crate::error::GenerateError;
use crate::files::Report;
use crate::load::{Manifest, load};
use crate::model::ModelledRevision;
use crate::problem::Problem;
use crate::published::names_files;
use crate::revision_table::RevisionTable;
use crate::stages::{model, plan, planned};

/// The input and output directories.
#[derive(Debug, Clone)]
pub struct GenerateOptions {
    /// The directory of the manifest and the schemas.
    pub schema: PathBuf,
    /// The directory that the crates are written to.
    pub out: PathBuf,
    /// The directory of `mcp-wire` and `mcp-convert`, as a generated crate's manifest names it.
    pub crates: String,
    /// Whether to write nothing, and only compare the files.
    pub check: bool,
}

/// The result of [`generate`].
#[derive(Debug)]
pub struct Generated {
    /// The comparison with the files on disk.
    pub files: Report,
    /// The comparison of the published names with the files on disk. [`lock_names`](crate::lock_names) adds the missing
    /// ones.
    pub names: Report,
    /// The number of extensions.
    pub extensions: usize,
    /// The number of types of all revisions and extensions.
    pub types: usize,
    /// The problems of drafts that aren't errors: the facts and roles that they concern were left out.
    pub warnings: Vec<Problem>,
    /// The missing documentation of each revision and extension.
    pub undocumented: Vec<Undocumented>,
}

/// Generates the crates of all revisions.
///
/// # Errors
/// All problems that a stage finds in the input. Nothing is written then.
pub fn generate(options: &GenerateOptions) -> Result<Generated, GenerateError> {
    let cache = Cache::default();
    let modelled = model(load(&options.schema)?, &cache)?;
    let names = names_files(&modelled, ModelledRevision::is_locked)?.check(&options.schema, &[])?;
    let protocol = plan(modelled, &cache)?;
    let emitted = emit_protocol((&protocol, &cache), &options.crates)?;
    let owned = protocol.manifest.family().owned();
    let owned: Vec<&str> = owned.iter().map(String::as_str).collect();
    let types = protocol.all().map(|revision| revision.model.own_types().count()).sum();
    Ok(Generated {
        files: emitted.files.write_or_check(&options.out, &owned, options.check)?,
        names,
        extensions: protocol.extensions.len(),
        types,
        warnings: protocol.warnings,
        undocumented: emitted.undocumented,
    })
}

/// Returns the tables of the revisions of a schema directory, in the protocol's order.
///
/// # Errors
/// All problems that a stage finds in the input.
pub fn revision_tables(schema: &Path) -> Result<Vec<RevisionTable>, GenerateError> {
    let cache = Cache::default();
    Ok(RevisionTable::of(&planned(load(schema)?, &cache)?, &cache.tables))
}

/// Returns the position of a revision in the manifest, which is also that of its model.
pub(crate) fn position(manifest: &Manifest, revision: &str) -> Result<usize, GenerateError> {
    let known = manifest.revisions.iter().map(|entry| entry.revision.as_str());
    let position = known.clone().position(|known| known == revision);
    position.ok_or_else(|| GenerateError::UnknownRevision {
        wanted: revision.to_owned(),
        known: known.map(str::to_owned).collect(),
    })
}

/// Returns the model of a revision as YAML, for people to read.
///
/// # Errors
/// Problems of the input, or an unknown revision.
pub fn model_yaml(schema: &Path, revision: &str) -> Result<String, GenerateError> {
    let protocol = model(load(schema)?, &Cache::default())?;
    let found = &protocol.revisions[position(&protocol.manifest, revision)?];
    Ok(yaml_serde::to_string(&serde_json::to_value(&found.model)?)?)
}

/// Returns the definitions of a revision in TypeScript.
///
/// # Errors
/// Problems of the input, or an unknown revision.
pub fn typescript(schema: &Path, revision: &str) -> Result<String, GenerateError> {
    let protocol = planned(load(schema)?, &Cache::default())?;
    let position = position(&protocol.manifest, revision)?;
    let definitions = EmitInput::all(&protocol, "").nth(position).as_ref().map(definitions);
    Ok(definitions.transpose()?.unwrap_or_default())
}

/// Returns a report of the conversions between adjacent revisions, as Markdown: automatic ones, those by rule, and
/// refused values.
///
/// # Errors
/// Problems of the input.
pub fn adapters_report(schema: &Path) -> Result<String, GenerateError> {
    let planned = planned(load(schema)?, &Cache::default())?;
    Ok(report(planned.plans.iter().flat_map(|plans| plans.iter()))?)
}
