//! Markdown.

/// Returns the URL fragment that GitHub and mdBook give a heading.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Returns a text as a cell of a table, on one line.
pub(crate) fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// Returns a text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns a text in which each part in backticks is replaced by its link, if `link` returns one.
pub(crate) fn linked(text: &str, link: impl Fn(&str) -> Option<String>) -> String {
    let code = |(index, part): (usize, &str)| match index % 2 {
        1 => link(part).unwrap_or_else(|| format!("`{part}`")),
        _ => part.to_owned(),
    };
    text.split('`').enumerate().map(code).collect()
}
