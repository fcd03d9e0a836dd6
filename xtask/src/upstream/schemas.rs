//! The official schemas, the draft, and the extensions.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;

use mcp_codegen::load::Manifest;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use super::source::Source;
use super::{Item, State, Upstream};

/// The name of the revision that isn't released yet, in the report and in the list of folders.
const DRAFT: &str = "draft";

pub fn compare(upstream: &Upstream, schema: &Path, source: &Source) -> Result<Vec<Item>, Box<dyn Error>> {
    let manifest = Manifest::load(schema)?;
    let mut items = Vec::new();
    let mut add = |kind, name: &str, state: Result<State, Box<dyn Error>>| {
        let state = state.unwrap_or_else(|error| State::Unread { why: error.to_string() });
        items.push(Item {
            kind,
            name: name.to_owned(),
            state,
        });
    };
    add("revision", "all", new_revisions(&upstream.revisions, &manifest, source));
    for (revision, state) in released(schema, &manifest, &upstream.schema, source) {
        add("schema", revision, state);
    }
    if let Some(last) = manifest.revisions.last() {
        let hashes: Vec<&String> = std::iter::once(&last.sha256).chain(&last.accepted).collect();
        add(
            "schema",
            DRAFT,
            schema_state(schema, last.revision.as_str(), &hashes, &upstream.draft, source),
        );
    }
    for (name, family) in &upstream.families {
        let directory = schema.join(name);
        let manifest = Manifest::load(&directory)?;
        add(
            "revision",
            &format!("{name}/all"),
            new_revisions(&family.revisions, &manifest, source),
        );
        for (revision, state) in released(&directory, &manifest, &family.schema, source) {
            add("schema", &format!("{name}/{revision}"), state);
        }
    }
    for (name, extension) in &upstream.extensions {
        let known = manifest.extensions.get(name);
        let state = source.fetch(&extension.current).and_then(|theirs| {
            let theirs = hash(&theirs);
            let ours = match &extension.pinned {
                Some(pinned) => hash(&source.fetch(pinned)?),
                None => known
                    .ok_or("schema/revisions.yaml has no extension of this name")?
                    .schema
                    .sha256
                    .clone(),
            };
            Ok(match ours == theirs {
                true => State::Same,
                false => State::Changed {
                    ours,
                    theirs,
                    diff: None,
                },
            })
        });
        add("extension", name, state);
    }
    Ok(items)
}

/// The schema of each released revision.
fn released<'m>(
    schema: &'m Path,
    manifest: &'m Manifest,
    url: &'m str,
    source: &'m Source,
) -> impl Iterator<Item = (&'m str, Result<State, Box<dyn Error>>)> {
    let released = manifest.revisions.iter().filter(|entry| entry.released);
    released.map(move |entry| {
        let revision = entry.revision.as_str();
        let url = url.replace("{revision}", revision);
        (revision, schema_state(schema, revision, &[&entry.sha256], &url, source))
    })
}

/// The listed revisions that aren't ingested.
fn new_revisions(list: &str, manifest: &Manifest, source: &Source) -> Result<State, Box<dyn Error>> {
    let listed: Value = serde_json::from_slice(&source.fetch(list)?)?;
    let names = listed.as_array().ok_or("the list of revisions isn't an array")?;
    let names = names.iter().filter_map(|folder| folder["name"].as_str());
    let new: Vec<&str> = names
        .filter(|name| *name != DRAFT && manifest.entry(name).is_none())
        .collect();
    Ok(match new.is_empty() {
        true => State::Same,
        false => State::Changed {
            ours: "none".to_owned(),
            theirs: new.join(", "),
            diff: None,
        },
    })
}

/// Compares a schema with that of a revision. One that differs only in prose counts as the same.
fn schema_state<H: AsRef<str>>(
    schema: &Path,
    revision: &str,
    ours: &[H],
    url: &str,
    source: &Source,
) -> Result<State, Box<dyn Error>> {
    let bytes = source.fetch(url)?;
    let theirs = hash(&bytes);
    if ours.iter().any(|ours| ours.as_ref() == theirs) {
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

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
