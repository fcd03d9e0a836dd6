//! Excerpts of a peer's input, for error messages and logs.

/// The number of bytes that are shown.
const SHOWN: usize = 200;

/// Returns the first bytes as text that is safe to print: control characters are escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN).unwrap_or(bytes);
    let mut text = String::from_utf8_lossy(shown).escape_debug().to_string();
    if shown.len() < bytes.len() {
        text.push_str(" …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_and_escapes_control_characters() {
        assert_eq!(
            excerpt(b"Listening on \x1b[1mport 80\n"),
            "Listening on \\u{1b}[1mport 80\\n"
        );
        assert_eq!(excerpt(b"\xff"), "\u{fffd}");
        let long = excerpt("ü".repeat(1000).as_bytes());
        assert_eq!(long, format!("{} …", "ü".repeat(SHOWN / 2)));
    }
}
