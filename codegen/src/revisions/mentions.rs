//! Where the files of a schema directory name a revision.

use std::path::{Path, PathBuf};

use super::RevisionsError;
use crate::files::files_in;
use crate::load::{MANIFEST, Manifest, Revision, extension_directory, read_text};

/// The YAML files of a schema directory with their texts, without the manifest. Official schemas aren't among them: they are kept as they
/// are.
pub(super) fn texts(directory: &Path, manifest: &Manifest) -> Result<Vec<(PathBuf, String)>, RevisionsError> {
    let folders = manifest.revisions.iter();
    let folders = folders.map(|entry| directory.join(entry.revision.as_str()));
    let extensions = manifest.extensions.iter();
    let extensions =
        extensions.map(|(name, extension)| extension_directory(directory, name, &extension.schema.revision));
    let mut texts = Vec::new();
    for folder in folders.chain(extensions).chain([directory.to_owned()]) {
        for path in files_in(&folder)? {
            let is_ours = path.extension().is_some_and(|extension| extension == "yaml");
            if is_ours && path.file_name().is_none_or(|name| name != MANIFEST) {
                let text = read_text(&path)?.unwrap_or_default();
                texts.push((path, text));
            }
        }
    }
    Ok(texts)
}

/// The lines that name a revision, counted from 1.
pub(super) fn lines(text: &str, revision: &Revision) -> Vec<usize> {
    let lines = text.lines().enumerate();
    let naming = lines.filter(|(_, line)| positions(line, revision.as_str()).next().is_some());
    naming.map(|(index, _)| index + 1).collect()
}

/// The text with another name of a revision, and how often it has it.
pub(super) fn renamed(text: &str, from: &Revision, to: &Revision) -> (String, usize) {
    let (mut renamed, mut end, mut count) = (String::with_capacity(text.len()), 0, 0);
    for position in positions(text, from.as_str()) {
        renamed += &text[end..position];
        renamed += to.as_str();
        end = position + from.as_str().len();
        count += 1;
    }
    (renamed + &text[end..], count)
}

/// Where a text has a name that isn't a part of a longer one.
fn positions<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_');
    let is_whole = move |position: usize| {
        let before = text[..position].chars().next_back();
        let mut after = text[position + name.len()..].chars();
        let next = after.next();
        // A dot may end the sentence.
        let is_longer = next.is_some_and(is_part) || next == Some('.') && after.next().is_some_and(is_part);
        !is_longer && before.is_none_or(|char| !is_part(char) && char != '.')
    };
    let found = text.match_indices(name).map(|(position, _)| position);
    found.filter(move |position| is_whole(*position))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_where_it_is_no_part_of_a_longer_one() {
        let text =
            "draft /draft/x#draft \"draft\", `draft`. draft.\ndraft-07 a-draft drafted draft.json x.draft _draft\n";
        let [from, to] = ["draft", "2099-01-01"].map(|name| name.parse().unwrap());
        let expected = "2099-01-01 /2099-01-01/x#2099-01-01 \"2099-01-01\", `2099-01-01`. 2099-01-01.\n\
                        draft-07 a-draft drafted draft.json x.draft _draft\n";
        assert_eq!(renamed(text, &from, &to), (expected.to_owned(), 6));
        assert_eq!(lines(text, &from), [1]);
    }
}
