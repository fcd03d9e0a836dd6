//! Removes a revision.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::RevisionsError;
use super::inherited::{Inherited, lost_facts, with_results_of};
use super::mentions::{lines, texts};
use crate::cache::Cache;
use crate::error::GenerateError;
use crate::files::{move_and_replace, remove_directory};
use crate::generate::position;
use crate::ingest::check_loaded;
use crate::load::{Directory, MANIFEST, Manifest, OVERLAY, Revision, load, read_text};
use crate::model::ModelledRevision;
use crate::stages::model;

/// The result of withdrawing a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withdrawn {
    /// The folder that was removed.
    pub folder: PathBuf,
    /// Things that a person has to review, because they were about the revision: a sentence or a problem each.
    pub warnings: Vec<String>,
}

/// Removes a revision from the manifest, and its folder. The rules of its successor are then about the revision before
/// it. The successor's overlay gets the results of requests that only the revision's overlay declared.
///
/// # Errors
/// When there is no such revision, handlers are written against it, or files can't be read or written. No file is changed then.
pub fn withdraw(directory: &Path, revision: &Revision) -> Result<Withdrawn, RevisionsError> {
    let old = Manifest::load(directory)?;
    let index = position(&old, revision.as_str())?;
    if old.hub.as_ref() == Some(revision) {
        return Err(RevisionsError::Hub(revision.clone()));
    }
    let mut extensions = old.extensions.values();
    if let Some(extension) = extensions.find(|extension| extension.of == *revision) {
        return Err(RevisionsError::Extended(extension.id.clone(), revision.clone()));
    }
    let mut manifest = old.clone();
    manifest.revisions.remove(index);
    manifest.versions.remove(&old.family().types_crate(revision.as_str()));
    let left = left(directory, index);
    let mut warnings = warnings(directory, (&old, index), &manifest, left.as_ref())?;

    let folder = directory.join(revision.as_str());
    let aside = directory.join(format!(".withdrawn-{revision}"));
    let text = manifest.to_yaml().map_err(GenerateError::from)?;
    let mut files = vec![(directory.join(MANIFEST), text)];
    if let (Some(overlay), Some(successor)) = (left.and_then(|(_, overlay)| overlay), manifest.revisions.get(index)) {
        files.push((directory.join(successor.revision.as_str()).join(OVERLAY), overlay.text));
    }
    move_and_replace(&folder, &aside, &files)?;
    // The revision is already withdrawn, so this isn't an error.
    if let Err(error) = remove_directory(&aside) {
        warnings.push(error.to_string());
    }
    Ok(Withdrawn { folder, warnings })
}

/// Returns the models of all revisions before the one at an index of the manifest is removed, and the new overlay of its
/// successor, unless that stays as it is. `None` if nothing can be generated even with the revision.
fn left(directory: &Path, index: usize) -> Option<(Vec<Arc<ModelledRevision>>, Option<Inherited>)> {
    let before = model(load(directory).ok()?, &Cache::default()).ok()?.revisions;
    let overlay = before.get(index + 1).and_then(|successor| {
        let file = directory.join(successor.model.revision.as_str()).join(OVERLAY);
        let text = read_text(&file).ok()?.unwrap_or_default();
        with_results_of(&before[index].overlay, successor, &text)
    });
    Some((before, overlay))
}

/// Returns warnings about everything that depended on the revision at an index of the old manifest.
fn warnings(
    directory: &Path,
    (old, index): (&Manifest, usize),
    manifest: &Manifest,
    left: Option<&(Vec<Arc<ModelledRevision>>, Option<Inherited>)>,
) -> Result<Vec<String>, RevisionsError> {
    let revision = &old.revisions[index].revision;
    let mut warnings = Vec::new();
    let (old_hub, hub) = (old.hub(), manifest.hub());
    if let Some(hub) = hub.filter(|hub| old_hub != Some(*hub)) {
        warnings.push(format!("handlers are now written against {hub}"));
    }
    let successor = manifest.revisions.get(index).map(|entry| &entry.revision);
    if let Some(successor) = successor {
        let rules = directory.join(successor.as_str()).join("adapt.yaml");
        let now = index.checked_sub(1).map(|before| &manifest.revisions[before].revision);
        let now = now.map_or_else(
            || format!("no longer used, because {successor} is the first revision"),
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
    let overlay = left.and_then(|(_, overlay)| overlay.as_ref()).zip(successor);
    let cache = Cache::default();
    let mut files = Directory::new(directory, &cache.files);
    if let Some((overlay, successor)) = overlay {
        files.put(
            directory.join(successor.as_str()).join(OVERLAY),
            overlay.document.clone(),
        );
        let methods = overlay.methods.join(", ");
        warnings.push(format!(
            "the overlay of {successor} now declares the results of {methods}, as that of {revision} did"
        ));
    }
    let after = || files.load(manifest.clone());
    if let (Some((before, _)), Ok(after)) = (left, model(after(), &cache)) {
        warnings.extend(lost_facts(revision, before, &after.revisions));
    }
    match check_loaded(after(), &cache) {
        Err(GenerateError::Problems(problems)) => warnings.extend(problems.iter().map(ToString::to_string)),
        Err(error) => warnings.push(error.to_string()),
        Ok(()) => {}
    }
    Ok(warnings)
}
