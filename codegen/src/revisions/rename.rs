//! Renames a revision.

use std::path::{Path, PathBuf};

use super::RevisionsError;
use super::mentions::{renamed, texts};
use crate::error::GenerateError;
use crate::files::move_and_replace;
use crate::generate::position;
use crate::load::{Entry, MANIFEST, Manifest, Revision};

/// The result of renaming a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The folder of the revision.
    pub folder: PathBuf,
    /// The files that named it, with the number of replacements.
    pub mentions: Vec<(PathBuf, usize)>,
    /// The files that still have the old name, and the lines. It may be an ordinary word there.
    pub left: Vec<(PathBuf, Vec<usize>)>,
}

/// Renames a revision: in the manifest, where it keeps its position and its source, its folder, and in every YAML file
/// of the schema directory that names it. A name that is also an ordinary word, such as `draft`, isn't replaced where
/// it may be that word.
///
/// # Errors
/// When there is no such revision, the new name is taken, or files can't be read or written. No file is changed then.
pub fn rename(directory: &Path, from: &Revision, to: &Revision) -> Result<Renamed, RevisionsError> {
    let mut manifest = Manifest::load(directory)?;
    let index = position(&manifest, from.as_str())?;
    // File systems may ignore case.
    let is_same = |entry: &&Entry| entry.revision.as_str().eq_ignore_ascii_case(to.as_str());
    if let Some(known) = manifest.revisions.iter().find(is_same) {
        return Err(RevisionsError::Known(known.revision.clone()));
    }
    let folder = directory.join(to.as_str());
    if folder.exists() {
        return Err(RevisionsError::Taken(folder));
    }
    let old_folder = directory.join(from.as_str());
    let (mut files, mut mentions, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let links = manifest.revisions[index].links.as_ref().or(manifest.links.as_ref());
    let specification = links.and_then(|links| Some(links.split_once("{revision}")?.0.to_owned()));
    for (path, text) in texts(directory, &manifest)? {
        let renamed = renamed(&text, (from, to), specification.as_deref());
        let path = path
            .strip_prefix(&old_folder)
            .map_or(path.clone(), |file| folder.join(file));
        if !renamed.left.is_empty() {
            left.push((path.clone(), renamed.left));
        }
        if renamed.count > 0 {
            mentions.push((path.clone(), renamed.count));
            files.push((path, renamed.text));
        }
    }
    let entry = &mut manifest.revisions[index];
    entry.revision = to.clone();
    let in_links = |links: &String| renamed(links, (from, to), specification.as_deref()).text;
    entry.links = entry.links.as_ref().map(in_links);
    let extensions = manifest.extensions.values_mut();
    for extension in extensions.filter(|extension| extension.of == *from) {
        extension.of.clone_from(to);
    }
    if let Some(hub) = manifest.hub.as_mut().filter(|hub| *hub == from) {
        hub.clone_from(to);
    }
    let [before, after] = [from, to].map(|revision| manifest.family().types_crate(revision.as_str()));
    if let Some(version) = manifest.versions.remove(&before) {
        manifest.versions.insert(after, version);
    }
    let manifest = manifest.to_yaml().map_err(GenerateError::from)?;
    files.push((directory.join(MANIFEST), manifest));
    move_and_replace(&old_folder, &folder, &files)?;
    Ok(Renamed { folder, mentions, left })
}
