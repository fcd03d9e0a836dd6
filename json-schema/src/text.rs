//! Texts in messages.

use std::borrow::Cow;

/// Shortens a text for a message that quotes it, so that messages stay small.
///
/// ```
/// assert_eq!(mcp_json_schema::shortened("short"), "short");
/// assert_eq!(mcp_json_schema::shortened(&"x".repeat(1000)).chars().count(), 81);
/// ```
#[must_use]
pub fn shortened(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
