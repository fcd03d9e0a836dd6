//! Changes of values in a JSON text that leave the rest of the text as it is.

use std::ops::Range;

use mcp_adapters::mcp_wire::{BorrowedJson, Decoded, JsonType, MessageHeader};

/// Sets keys in the `_meta` of a request or a notification, each to a JSON text.
pub fn with_meta<'m>(message: &[u8], keys: impl IntoIterator<Item = (&'m str, &'m str)>) -> Decoded<Vec<u8>> {
    let header = MessageHeader::from_slice(message)?;
    let (mut edits, mut new) = (Vec::new(), Vec::new());
    for (key, json) in keys {
        match header.param(&["_meta", key])? {
            Some(value) => edits.push((range(value), json.to_owned())),
            None => new.push(["\"", key, "\":", json].concat()),
        }
    }
    if !new.is_empty() {
        let new = new.join(",");
        let object = ["{", &new, "}"].concat();
        let is_object = |value: BorrowedJson<'_>| value.json_type() == JsonType::Object;
        edits.push(match (header.param(&["_meta"])?, header.params()) {
            (Some(meta), _) if is_object(meta) => appended(meta, &new),
            // Avoids looking for the parameters again.
            (None, Some(params)) if is_object(params) => added(params, &["_meta"], &object),
            _ => edit(header.message(), &["params", "_meta"], &object)?,
        });
    }
    edits.sort_by_key(|(place, _)| place.start);
    let (text, mut rest) = (header.message().text(), 0);
    let mut edited = String::with_capacity(text.len() + edits.iter().map(|(_, json)| json.len()).sum::<usize>());
    for (place, json) in edits {
        edited.push_str(&text[rest..place.start]);
        edited.push_str(&json);
        rest = place.end;
    }
    edited.push_str(&text[rest..]);
    Ok(edited.into_bytes())
}

/// Returns the edit that sets a key in the `_meta` of a result: the range to replace, and the text for it. `lacks_meta`
/// states that the result is known to have no `_meta`. `None` if a member on the path occurs twice.
pub fn result_meta(result: &str, key: &str, json: &str, lacks_meta: bool) -> Option<(Range<usize>, String)> {
    let (result, path) = (BorrowedJson::of_json(result), ["_meta", key]);
    match lacks_meta {
        // Avoids parsing the result, which can be long.
        true => Some(added(result, &path, json)),
        false => edit(result, &path, json).ok(),
    }
}

/// Sets the value at `path` in an object.
pub fn set_member(object: &[u8], path: &[&str], json: &str) -> Decoded<String> {
    let object = MessageHeader::from_slice(object)?.message();
    let (place, text) = edit(object, path, json)?;
    let mut edited = object.text().to_owned();
    edited.replace_range(place, &text);
    Ok(edited)
}

/// Returns the edit that sets the value at `path` in `object`: the range to replace, and the text for it.
fn edit(object: BorrowedJson<'_>, path: &[&str], json: &str) -> Decoded<(Range<usize>, String)> {
    let [member, rest @ ..] = path else {
        return Ok((range(object), json.to_owned()));
    };
    if object.json_type() != JsonType::Object {
        return Ok((range(object), nested(path, json)));
    }
    if let Some(value) = object.get(&[member])? {
        return edit(value, rest, json);
    }
    Ok(added(object, path, json))
}

/// Like [`edit`], for an object that lacks the first member of the path.
fn added(object: BorrowedJson<'_>, path: &[&str], json: &str) -> (Range<usize>, String) {
    let members = nested(path, json);
    let members = members.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    appended(object, members.unwrap_or_default())
}

/// Returns the edit that appends members to an object.
fn appended(object: BorrowedJson<'_>, members: &str) -> (Range<usize>, String) {
    // The last byte of an object is its closing brace.
    let end = range(object).end - 1;
    let is_empty = object.text()[1..].trim_start() == "}";
    let comma = if is_empty { "" } else { "," };
    (end..end, [comma, members].concat())
}

fn range(value: BorrowedJson<'_>) -> Range<usize> {
    value.offset()..value.offset() + value.text().len()
}

/// Wraps the JSON in one object for each member of `path`.
fn nested(path: &[&str], json: &str) -> String {
    path.iter().rev().fold(json.to_owned(), |value, member| {
        ["{\"", member, "\":", &value, "}"].concat()
    })
}

#[cfg(test)]
mod tests {
    use super::{result_meta, with_meta};

    #[test]
    fn result_meta_is_the_same_if_the_result_is_known_to_lack_it() {
        for (result, expected) in [
            (r#"{"content":[]}"#, r#"{"content":[],"_meta":{"k":1}}"#),
            ("{ }", r#"{ "_meta":{"k":1}}"#),
        ] {
            for is_known in [false, true] {
                let (place, text) = result_meta(result, "k", "1", is_known).unwrap();
                let mut edited = result.to_owned();
                edited.replace_range(place, &text);
                assert_eq!(edited, expected);
            }
        }
    }

    #[test]
    fn with_meta_sets_the_key_and_changes_nothing_else() {
        for (request, expected) in [
            (
                r#"{"id":1,"method":"m"}"#,
                r#"{"id":1,"method":"m","params":{"_meta":{"progressToken":7}}}"#,
            ),
            (
                r#"{"params":{ },"id":1}"#,
                r#"{"params":{ "_meta":{"progressToken":7}},"id":1}"#,
            ),
            (
                r#"{"params":{"b":1.50,"a":1e400,"_meta":{}},"id":1}"#,
                r#"{"params":{"b":1.50,"a":1e400,"_meta":{"progressToken":7}},"id":1}"#,
            ),
            (
                r#"{"params":{"_meta":{"x":[ ],"progressToken":"mine"},"n":12345678901234567890}}"#,
                r#"{"params":{"_meta":{"x":[ ],"progressToken":7},"n":12345678901234567890}}"#,
            ),
            (
                r#"{"params":{"_meta":null}}"#,
                r#"{"params":{"_meta":{"progressToken":7}}}"#,
            ),
        ] {
            let edited = with_meta(request.as_bytes(), [("progressToken", "7")]).unwrap();
            assert_eq!(String::from_utf8(edited).unwrap(), expected);
        }
    }

    #[test]
    fn with_meta_sets_several_keys_at_once() {
        for (request, expected) in [
            (
                r#"{"params":{"_meta":{"c":0,"x":0,"a":[0]},"n":1}}"#,
                r#"{"params":{"_meta":{"c":3,"x":0,"a":1,"b":{}},"n":1}}"#,
            ),
            (
                r#"{"params":{"n":1}}"#,
                r#"{"params":{"n":1,"_meta":{"a":1,"b":{},"c":3}}}"#,
            ),
            (r#"{"id":1}"#, r#"{"id":1,"params":{"_meta":{"a":1,"b":{},"c":3}}}"#),
        ] {
            let edited = with_meta(request.as_bytes(), [("a", "1"), ("b", "{}"), ("c", "3")]).unwrap();
            assert_eq!(String::from_utf8(edited).unwrap(), expected);
        }
    }
}
