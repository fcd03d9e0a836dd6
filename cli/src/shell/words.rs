//! Splitting of a line into words.

use serde::de::IgnoredAny;

/// Splits a line into words, as a POSIX shell does, except that JSON doesn't have to be quoted; `None` if a quote isn't
/// closed.
pub fn words(line: &str) -> Option<Vec<String>> {
    let (mut rest, mut words) = (line.trim_start(), Vec::new());
    while !rest.is_empty() && !rest.starts_with('#') {
        let end = match json_end(rest) {
            Some(end) => {
                words.push(rest[..end].to_owned());
                end
            }
            None => {
                let end = word_end(rest);
                words.extend(shlex::split(&rest[..end])?);
                end
            }
        };
        rest = rest[end..].trim_start();
    }
    Some(words)
}

/// The end of a word that is JSON, or of an argument whose value is JSON.
fn json_end(text: &str) -> Option<usize> {
    let is_json = |start: &usize| text[*start..].starts_with(['{', '[']);
    let start = Some(0).filter(is_json).or_else(|| {
        let equals = text.find(|it: char| it == '=' || it.is_whitespace() || "'\"\\".contains(it))?;
        let start = text[equals..].starts_with('=').then_some(equals + 1)?;
        (is_json(&start) || text[..equals].ends_with(':')).then_some(start)
    })?;
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    let end = start + values.byte_offset();
    text[end..]
        .chars()
        .next()
        .is_none_or(char::is_whitespace)
        .then_some(end)
}

/// The end of a word with quotes and escapes.
fn word_end(text: &str) -> usize {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            _ if is_escaped => is_escaped = false,
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), close) if open == close => quote = None,
            (None, space) if space.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unquoted_json_is_one_word() {
        for (line, expected) in [
            ("", &[][..]),
            ("call add a=1 b=2", &["call", "add", "a=1", "b=2"]),
            (
                r#"call add {"a": 1, "b": "x y"}"#,
                &["call", "add", r#"{"a": 1, "b": "x y"}"#],
            ),
            (
                r#"call x tags:=["a b", "c"] n=1"#,
                &["call", "x", r#"tags:=["a b", "c"]"#, "n=1"],
            ),
            (
                r#"call x tags=["a"] name:="b c""#,
                &["call", "x", r#"tags=["a"]"#, r#"name:="b c""#],
            ),
            (r#"call x '{"a": 1}' b="c d""#, &["call", "x", r#"{"a": 1}"#, "b=c d"]),
            (r#"call x tags:='["a b"]'"#, &["call", "x", r#"tags:=["a b"]"#]),
            // Text that isn't JSON is quoted as in any shell.
            (r#"call x note={"a b" c"#, &["call", "x", "note={a b", "c"]),
            (r#"call x a=[1]2 b\ c # d"#, &["call", "x", "a=[1]2", "b c"]),
        ] {
            assert_eq!(words(line).expect("the quotes are closed"), expected, "{line}");
        }
        for line in ["call 'a", "call \"a b", "a\\"] {
            assert_eq!(words(line), None, "{line}");
        }
    }
}
