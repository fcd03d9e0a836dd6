//! JSON Pointers in the form of URI fragments: `#`, `#/$defs/Tool`, `#/properties/a~1b`.
//!
//! A canonical pointer has no percent-encoding, so that each value has one canonical pointer.

use serde_json::Value;

/// Returns the pointer to the member or element `token` of the value at `pointer`.
///
/// ```
/// use mcp_json_schema::pointer;
///
/// assert_eq!(pointer::child("#/$defs", "a/b"), "#/$defs/a~1b");
/// ```
#[must_use]
pub fn child(pointer: &str, token: &str) -> String {
    let mut child = String::with_capacity(pointer.len() + 1 + token.len());
    child.push_str(pointer);
    push(&mut child, token);
    child
}

/// Appends `token` to a pointer.
pub fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    if !token.contains(['~', '/']) {
        return pointer.push_str(token);
    }
    for char in token.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Returns the unescaped tokens of a canonical pointer. `None` if it isn't one.
#[must_use]
pub fn tokens(pointer: &str) -> Option<Vec<String>> {
    let path = pointer.strip_prefix('#')?;
    if path.is_empty() {
        return Some(Vec::new());
    }
    let steps = path.strip_prefix('/')?.split('/');
    // `~1` is replaced first, or else `~01` would become a slash.
    Some(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect())
}

/// Returns the canonical pointer of a reference into its own document. `None` if it refers to another document or to an
/// anchor, or isn't UTF-8.
#[must_use]
pub fn canonical(reference: &str) -> Option<String> {
    let pointer = percent_decode(reference)?;
    let path = pointer.strip_prefix('#')?;
    let valid_escapes = path.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    ((path.is_empty() || path.starts_with('/')) && valid_escapes).then_some(pointer)
}

/// Returns the reference to the value at a canonical pointer.
///
/// ```
/// use mcp_json_schema::pointer;
///
/// assert_eq!(pointer::reference("#/$defs/100%"), "#/$defs/100%25");
/// ```
#[must_use]
pub fn reference(pointer: &str) -> String {
    pointer.replace('%', "%25")
}

/// Returns the value at a canonical pointer.
#[must_use]
pub fn resolve<'v>(document: &'v Value, pointer: &str) -> Option<&'v Value> {
    let path = pointer.strip_prefix('#')?;
    if path.contains('~') {
        return document.pointer(path);
    }
    // `Value::pointer` copies each token twice, to replace escapes.
    let mut tokens = path.split('/');
    if tokens.next() != Some("") {
        return None;
    }
    tokens.try_fold(document, |value, token| match value {
        Value::Array(elements) => elements.get(index(token)?),
        value => value.get(token),
    })
}

/// Parses the index of an element, which has no sign and no leading zero.
fn index(token: &str) -> Option<usize> {
    let is_canonical = token == "0" || token.starts_with(|first: char| matches!(first, '1'..='9'));
    token.parse().ok().filter(|_| is_canonical)
}

/// Decodes percent-encoding. `None` if an escape is incomplete, or the result isn't UTF-8.
#[must_use]
pub fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn percent_and_tilde_escapes_are_decoded() {
        let document = json!({"$defs": {"a/b~c d%": [0, "here"]}});
        let pointer = canonical("#/%24defs/a~1b~0c%20d%25/1").expect("local");
        assert_eq!(pointer, "#/$defs/a~1b~0c d%/1");
        assert_eq!(resolve(&document, &pointer), Some(&json!("here")));
        assert_eq!(child("#/$defs", "a/b~c d%"), "#/$defs/a~1b~0c d%");
        let tokens = tokens(&pointer).expect("a pointer");
        assert_eq!(tokens, ["$defs", "a/b~c d%", "1"]);
    }

    #[test]
    fn elements_have_one_index() {
        let document = json!({"": {"list": ["first", "second"]}, "0": null});
        assert_eq!(resolve(&document, "#"), Some(&document));
        assert_eq!(resolve(&document, "#//list/1"), Some(&json!("second")));
        assert_eq!(resolve(&document, "#/0"), Some(&json!(null)));
        for nowhere in ["/0", "#0", "#//list/01", "#//list/+1", "#//list/2", "#//list/", "#/0/0"] {
            assert_eq!(resolve(&document, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn only_pointers_from_the_root_are_canonical() {
        assert_eq!(canonical("#").as_deref(), Some("#"));
        for reference in ["", "a", "#a", "other.json#/a", "#/%", "#/%g0", "#/~2", "#/%ff"] {
            assert_eq!(canonical(reference), None, "{reference}");
        }
    }
}
