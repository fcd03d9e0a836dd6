//! The beginning of what a peer sent, for those who look for what is wrong with it.

/// How many bytes are shown.
const SHOWN: usize = 200;

/// The first bytes as text that is safe to show: what isn't a printable text is escaped.
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
    fn only_the_beginning_is_shown_and_nothing_that_a_terminal_obeys() {
        assert_eq!(
            excerpt(b"Listening on \x1b[1mport 80\n"),
            "Listening on \\u{1b}[1mport 80\\n"
        );
        assert_eq!(excerpt(b"\xff"), "\u{fffd}");
        let long = excerpt("ü".repeat(1000).as_bytes());
        assert_eq!(long, format!("{} …", "ü".repeat(SHOWN / 2)));
    }
}
