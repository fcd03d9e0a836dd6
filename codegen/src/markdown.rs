//! Markdown.

/// The fragment of a heading, as GitHub and mdBook make it.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || "_- ".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// The text of a cell of a table, which is one line.
pub(crate) fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The text of a cell, or a dash for none.
pub(crate) fn cell_or_dash(text: &str) -> String {
    if text.is_empty() { "–".to_owned() } else { cell(text) }
}

/// The text in which what it has in code is replaced by a link, where `link` has one.
pub(crate) fn linked(text: &str, link: impl Fn(&str) -> Option<String>) -> String {
    let code = |(index, part): (usize, &str)| match index % 2 {
        1 => link(part).unwrap_or_else(|| format!("`{part}`")),
        _ => part.to_owned(),
    };
    text.split('`').enumerate().map(code).collect()
}
