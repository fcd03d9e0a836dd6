//! The line of a README that proves to the registry that a crate belongs to a server.

/// Returns the problem of a README that doesn't name the server in the required way.
pub fn missing_name(readme: &str, server: &str) -> Option<String> {
    let line = format!("mcp-name: {server}");
    if names(&without_comments(readme), &line) {
        return None;
    }
    Some(match names(readme, &line) {
        true => {
            format!("`{line}` is in a comment of the README, which crates.io removes; write it as text")
        }
        false => format!("the README of the crate has no line `{line}`; add it as text, and publish the crate with it"),
    })
}

/// Whether a text has this line, followed by a character that ends the name.
fn names(text: &str, line: &str) -> bool {
    let mut found = text.match_indices(line);
    found.any(|(at, _)| {
        let after = text[at + line.len()..].chars().next();
        // Markdown's marks for code and emphasis become tags, which end the name.
        after.is_none_or(|after| after.is_whitespace() || matches!(after, '<' | '`' | '*'))
    })
}

/// Markdown without its HTML comments.
fn without_comments(markdown: &str) -> String {
    let mut parts = markdown.split("<!--");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += part.split_once("-->").map_or("", |(_, after)| after);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::missing_name;

    #[test]
    fn the_name_must_be_visible_and_complete() {
        let server = "io.github.example/weather";
        for good in [
            "mcp-name: io.github.example/weather",
            "# Weather\n\n`mcp-name: io.github.example/weather`\n",
            "<!-- mcp-name: a/b --> mcp-name: io.github.example/weather <!-- more -->",
        ] {
            assert_eq!(missing_name(good, server), None, "{good}");
        }
        for (bad, why) in [
            ("# Weather", "has no line"),
            ("mcp-name: io.github.example/weather-2", "has no line"),
            ("mcp-name: io.github.example/weather.", "has no line"),
            ("<!-- mcp-name: io.github.example/weather -->", "is in a comment"),
            ("<!-- mcp-name: io.github.example/weather", "is in a comment"),
        ] {
            let found = missing_name(bad, server).expect(bad);
            assert!(found.contains(why), "{bad}: {found}");
        }
    }
}
