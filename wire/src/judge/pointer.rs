//! JSON pointers in the form of URI fragments: `#/$defs/Tool`.

use serde_json::Value;

/// The pointer to `name` inside of `at`.
pub(super) fn child(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The same pointer without percent escapes; `None` if it doesn't start at the root of the document or isn't UTF-8.
pub(super) fn canonical(reference: &str) -> Option<String> {
    let pointer = percent_decoded(reference)?;
    let rest = pointer.strip_prefix('#')?;
    let valid_escapes = rest.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    ((rest.is_empty() || rest.starts_with('/')) && valid_escapes).then_some(pointer)
}

/// What a canonical pointer points at.
pub(super) fn resolve<'a>(document: &'a Value, pointer: &str) -> Option<&'a Value> {
    document.pointer(pointer.strip_prefix('#')?)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn both_kinds_of_escapes_are_understood() {
        let document = json!({"$defs": {"a/b~c d%": [0, "here"]}});
        let pointer = canonical("#/%24defs/a~1b~0c%20d%25/1").expect("local");
        assert_eq!(pointer, "#/$defs/a~1b~0c d%/1");
        assert_eq!(resolve(&document, &pointer), Some(&json!("here")));
        assert_eq!(child("#/$defs", "a/b~c d%"), "#/$defs/a~1b~0c d%");
    }

    #[test]
    fn only_a_pointer_from_the_root_is_local() {
        assert_eq!(canonical("#").as_deref(), Some("#"));
        for reference in ["", "a", "#a", "other.json#/a", "#/%", "#/%g0", "#/~2", "#/%ff"] {
            assert_eq!(canonical(reference), None, "{reference}");
        }
    }
}
