//! Finds and replaces the name of a revision in the files of a schema directory.

use std::path::{Path, PathBuf};

use super::RevisionsError;
use crate::files::files_in;
use crate::load::{MANIFEST, Manifest, Revision, extension_directory, read_text};

/// Reads the YAML files of a schema directory except the manifest. Official schemas aren't among them, since they are
/// never edited.
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

/// Returns the numbers of the lines that name a revision, counted from 1.
pub(super) fn lines(text: &str, revision: &Revision) -> Vec<usize> {
    let lines = text.lines().enumerate();
    let naming = lines.filter(|(_, line)| positions(line, revision.as_str()).next().is_some());
    naming.map(|(index, _)| index + 1).collect()
}

/// A text in which a revision was renamed.
pub(super) struct RenamedText {
    pub(super) text: String,
    /// Number of replacements.
    pub(super) count: usize,
    /// Numbers of the lines that still have the old name, because it may be an ordinary word there, counted from 1.
    pub(super) left: Vec<usize>,
}

/// Renames a revision in a text. A name without a digit, such as `draft`, is also an ordinary word: it is replaced only
/// if it is a whole value, is quoted, or follows the start of an address of the specification.
pub(super) fn renamed(text: &str, (from, to): (&Revision, &Revision), specification: Option<&str>) -> RenamedText {
    let (mut renamed, mut end, mut count, mut left) = (String::with_capacity(text.len()), 0, 0, Vec::new());
    let is_word = !from.as_str().contains(|char: char| char.is_ascii_digit());
    for position in positions(text, from.as_str()) {
        let (before, after) = (&text[..position], &text[position + from.as_str().len()..]);
        if is_word && !is_name(before, after, specification) {
            left.push(before.matches('\n').count() + 1);
            continue;
        }
        renamed += &text[end..position];
        renamed += to.as_str();
        end = position + from.as_str().len();
        count += 1;
    }
    left.dedup();
    renamed += &text[end..];
    RenamedText {
        text: renamed,
        count,
        left,
    }
}

/// Whether the name between these texts can't be a word of a sentence.
fn is_name(before: &str, after: &str, specification: Option<&str>) -> bool {
    let is_quoted = ['`', '"', '\'']
        .iter()
        .any(|quote| before.ends_with(*quote) && after.starts_with(*quote));
    let is_value =
        [": ", "- "].iter().any(|start| before.ends_with(start)) && (after.is_empty() || after.starts_with('\n'));
    let line = before.rsplit('\n').next().unwrap_or_default();
    let in_comment = line.trim_start().starts_with('#');
    let is_address = specification.is_some_and(|start| !start.is_empty() && before.ends_with(start));
    is_quoted || is_address || is_value && !in_comment
}

/// Returns the positions of a name in a text, except where it is a part of a longer one.
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
    fn a_name_inside_a_longer_name_is_not_replaced() {
        let text =
            "draft /draft/x#draft \"draft\", `draft`. draft.\ndraft-07 a-draft drafted draft.json x.draft _draft\n";
        let [draft, date, other] = ["draft", "2099-01-01", "2099-02-02"].map(|name| name.parse().unwrap());
        let text = text.replace("draft", "2099-01-01");
        let expected = "2099-02-02 /2099-02-02/x#2099-02-02 \"2099-02-02\", `2099-02-02`. 2099-02-02.\n\
                        2099-01-01-07 a-2099-01-01 2099-01-01ed 2099-01-01.json x.2099-01-01 _2099-01-01\n";
        let done = renamed(&text, (&date, &other), None);
        assert_eq!((done.text.as_str(), done.count), (expected, 6));
        assert_eq!(lines(&text, &date), [1]);
        assert_eq!(lines(&text, &draft), [0; 0]);
    }

    #[test]
    fn a_name_that_is_also_a_word_is_replaced_only_where_it_must_be_a_name() {
        let text = "# A draft of `draft`.\nhub: draft\nwhy: It is a draft\nto: \"draft\"\n- draft\n# - draft\n\
                    link: https://example.org/spec/draft/tools\nother: https://example.org/blob/draft/tools\n";
        let expected = "# A draft of `2099-01-01`.\nhub: 2099-01-01\nwhy: It is a draft\nto: \"2099-01-01\"\n- 2099-01-01\n# - draft\n\
                        link: https://example.org/spec/2099-01-01/tools\nother: https://example.org/blob/draft/tools\n";
        let [from, to] = ["draft", "2099-01-01"].map(|name| name.parse().unwrap());
        let done = renamed(text, (&from, &to), Some("https://example.org/spec/"));
        assert_eq!((done.text.as_str(), done.count), (expected, 5));
        assert_eq!(done.left, [1, 3, 6, 8]);
    }
}
