//! Removes a revision.

use std::path::{Path, PathBuf};

use super::mentions::{lines, texts};
use super::{RevisionsError, position};
use crate::emit::crate_name;
use crate::error::GenerateError;
use crate::files::{move_and_replace, remove_directory};
use crate::ingest::check_loaded;
use crate::load::{MANIFEST, Manifest, Revision, load, load_with};
use crate::modelled::model;
use crate::protocol::ModelledRevision;

/// The result of withdrawing a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawn {
    /// The folder that was removed.
    pub folder: PathBuf,
    /// What a person has to look at, because it was about the revision: a sentence or a problem each.
    pub warnings: Vec<String>,
}

/// Removes a revision from the manifest, and its folder. The rules of its successor are then about the revision before it.
///
/// # Errors
/// When there is no such revision, handlers are written against it, or files can't be read or written. No file is changed then.
pub fn withdraw(directory: &Path, revision: &Revision) -> Result<Withdrawn, RevisionsError> {
    let old = Manifest::load(directory)?;
    let index = position(&old, revision)?;
    if old.hub.as_ref() == Some(revision) {
        return Err(RevisionsError::Hub(revision.clone()));
    }
    let mut extensions = old.extensions.values();
    if let Some(extension) = extensions.find(|extension| extension.of == *revision) {
        return Err(RevisionsError::Extended(extension.id.clone(), revision.clone()));
    }
    let mut manifest = old.clone();
    manifest.revisions.remove(index);
    manifest.versions.remove(&crate_name(revision.as_str()));
    let mut warnings = warnings(directory, (&old, index), &manifest)?;

    let folder = directory.join(revision.as_str());
    let aside = directory.join(format!(".withdrawn-{revision}"));
    let text = manifest.to_yaml().map_err(GenerateError::from)?;
    move_and_replace(&folder, &aside, &[(directory.join(MANIFEST), text)])?;
    // The revision is withdrawn already.
    if let Err(error) = remove_directory(&aside) {
        warnings.push(error.to_string());
    }
    Ok(Withdrawn { folder, warnings })
}

/// What was about the revision at an index of the old manifest.
fn warnings(
    directory: &Path,
    (old, index): (&Manifest, usize),
    manifest: &Manifest,
) -> Result<Vec<String>, RevisionsError> {
    let revision = &old.revisions[index].revision;
    let mut warnings = Vec::new();
    let (old_hub, hub) = (old.hub(), manifest.hub());
    if let Some(hub) = hub.filter(|hub| old_hub != Some(*hub)) {
        warnings.push(format!("handlers are now written against {hub}"));
    }
    if let Some(successor) = manifest.revisions.get(index).map(|entry| &entry.revision) {
        let rules = directory.join(successor.as_str()).join("adapt.yaml");
        let now = index.checked_sub(1).map(|before| &manifest.revisions[before].revision);
        let now = now.map_or_else(
            || format!("no longer about anything, because {successor} is the first revision"),
            |before| format!("now about {before} and {successor}"),
        );
        if rules.exists() {
            warnings.push(format!("{}: the rules are {now}", rules.display()));
        }
    }
    for (path, text) in texts(directory, manifest)? {
        let lines = lines(&text, revision).into_iter().map(|line| format!("line {line}"));
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            let lines = lines.join(", ");
            warnings.push(format!("{}: {revision} is named in {lines}", path.display()));
        }
    }
    let after = || load_with(directory, manifest.clone(), &[]);
    if let (Ok(before), Ok(after)) = (load(directory).and_then(model), model(after())) {
        for later in &after.revisions {
            let mut before = before.revisions.iter();
            let before = before.find(|before| before.entry.revision == later.entry.revision);
            let changed = before.map_or_else(Vec::new, |before| changed_facts(before, later));
            if !changed.is_empty() {
                let (later, changed) = (&later.entry.revision, changed.join(", "));
                warnings.push(format!("{later} had these facts from {revision}: {changed}"));
            }
        }
    }
    match check_loaded(after()) {
        Err(GenerateError::Problems(problems)) => warnings.extend(problems.iter().map(ToString::to_string)),
        Err(error) => warnings.push(error.to_string()),
        Ok(()) => {}
    }
    Ok(warnings)
}

/// The names of the facts that aren't as they were.
fn changed_facts(before: &ModelledRevision, after: &ModelledRevision) -> Vec<String> {
    let facts = |revision: &ModelledRevision| serde_json::to_value(&revision.facts).unwrap_or_default();
    let (before, after) = (facts(before), facts(after));
    let names = before.as_object().into_iter().flatten().map(|(name, _)| name);
    let changed = names.filter(|name| before.get(name) != after.get(name));
    changed.cloned().collect()
}
