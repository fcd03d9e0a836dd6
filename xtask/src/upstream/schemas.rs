//! The official schemas, the draft, and the extensions.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use mcp_codegen::ingest::sha256;
use mcp_codegen::load::Manifest;
use serde_json::Value;
use tempfile::NamedTempFile;

use super::source::Source;
use super::{Item, State, Upstream};

/// The name of the revision that isn't released yet, in the report and in the list of folders.
const DRAFT: &str = "draft";

pub fn compare(upstream: &Upstream, schema: &Path, source: &Source) -> Result<Vec<Item>, Box<dyn Error>> {
    let manifest = Manifest::load(schema)?;
    let mut items = released("", schema, &manifest, (&upstream.revisions, &upstream.schema), source);
    if let Some(last) = manifest.revisions.last() {
        let state = schema_state(schema, last.revision.as_str(), &last.hashes(), &upstream.draft, source);
        items.push(Item::new("schema", DRAFT, state));
    }
    for (name, family) in &upstream.families {
        let (prefix, directory) = (format!("{name}/"), schema.join(name));
        let manifest = Manifest::load(&directory)?;
        let urls = (family.revisions.as_str(), family.schema.as_str());
        items.extend(released(&prefix, &directory, &manifest, urls, source));
    }
    for (name, extension) in &upstream.extensions {
        let known = manifest.extensions.get(name).map(|known| &known.schema.sha256);
        let state = source.fetch(&extension.current).and_then(|theirs| {
            let theirs = sha256(&theirs);
            let ours = match &extension.pinned {
                Some(pinned) => sha256(&source.fetch(pinned)?),
                None => known
                    .ok_or("schema/revisions.yaml has no extension of this name")?
                    .clone(),
            };
            Ok(State::of(ours == theirs, &ours, theirs))
        });
        items.push(Item::new("extension", name, state));
    }
    Ok(items)
}

/// The list of revisions, and the schema of each released one. `prefix` precedes their names, and `urls` are those of
/// the list and of a schema.
fn released(prefix: &str, schema: &Path, manifest: &Manifest, (list, url): (&str, &str), source: &Source) -> Vec<Item> {
    let new = new_revisions(list, manifest, source);
    let mut items = vec![Item::new("revision", format!("{prefix}all"), new)];
    for entry in manifest.revisions.iter().filter(|entry| entry.released) {
        let revision = entry.revision.as_str();
        let url = url.replace("{revision}", revision);
        let state = schema_state(schema, revision, &[&entry.sha256], &url, source);
        items.push(Item::new("schema", format!("{prefix}{revision}"), state));
    }
    items
}

/// The listed revisions that aren't ingested.
fn new_revisions(list: &str, manifest: &Manifest, source: &Source) -> Result<State, Box<dyn Error>> {
    let listed: Value = serde_json::from_slice(&source.fetch(list)?)?;
    let names = listed.as_array().ok_or("the list of revisions isn't an array")?;
    let names = names.iter().filter_map(|folder| folder["name"].as_str());
    let new: Vec<&str> = names
        .filter(|name| *name != DRAFT && manifest.entry(name).is_none())
        .collect();
    Ok(State::of(new.is_empty(), "none", new.join(", ")))
}

/// Compares a schema with that of a revision. One that differs only in prose counts as the same.
fn schema_state(
    schema: &Path,
    revision: &str,
    ours: &[&str],
    url: &str,
    source: &Source,
) -> Result<State, Box<dyn Error>> {
    let bytes = source.fetch(url)?;
    let theirs = sha256(&bytes);
    if ours.contains(&&*theirs) {
        return Ok(State::Same);
    }
    let mut file = NamedTempFile::new()?;
    file.write_all(&bytes)?;
    let mut diff = mcp_codegen::revision_diff(schema, revision, &file.path().to_string_lossy())?;
    url.clone_into(&mut diff.to);
    Ok(match diff.changes.is_empty() {
        true => State::Same,
        false => State::Changed {
            ours: revision.to_owned(),
            theirs,
            diff: Some(diff),
        },
    })
}
