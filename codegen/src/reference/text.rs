//! Markdown.

use crate::diff::Diff;

/// The fragment of a heading, as GitHub and mdBook make it.
pub(super) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The text of a cell of a table, which is one line.
pub(super) fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The page about a diff, seen from a page of the reference.
pub(super) fn changes_page(diff: &Diff) -> String {
    format!("../changes/{}_{}.md", diff.from, diff.to)
}

/// The text with links where it names something in code that `address_of` knows.
pub(super) fn linked(text: &str, address_of: impl Fn(&str) -> Option<String>) -> String {
    let code = |(index, part): (usize, &str)| match (index % 2 == 1).then(|| address_of(part)) {
        Some(Some(address)) => format!("[`{part}`]({address})"),
        Some(None) => format!("`{part}`"),
        None => part.to_owned(),
    };
    text.split('`').enumerate().map(code).collect()
}
