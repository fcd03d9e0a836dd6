//! Changes of values in a JSON text that leave the rest of the text as it is.

use std::ops::Range;

use mcp_adapters::mcp_wire::{Decoded, JsonType, Reader};

/// A member of an object: its key, and its value as JSON text.
type Member<'m> = (&'m str, &'m str);

/// The range of a text to replace, and the text for it.
type Edit = (Range<usize>, String);

/// Sets members of the `_meta` of a request or a notification.
pub fn with_meta(message: Vec<u8>, members: &[Member<'_>]) -> Decoded<Vec<u8>> {
    let edit = edit(Reader::from_slice(&message)?, &["params", "_meta"], members)?;
    Ok(applied(message, edit))
}

/// Sets the value at a path in an object.
pub fn set_member(object: Vec<u8>, path: &[&str], json: &str) -> Decoded<Vec<u8>> {
    let Some((key, path)) = path.split_last() else {
        return Ok(object);
    };
    let edit = edit(Reader::from_slice(&object)?, path, &[(key, json)])?;
    Ok(applied(object, edit))
}

/// Applies an edit in place. Unlike `splice`, this copies slices instead of bytes.
fn applied(mut json: Vec<u8>, (place, text): Edit) -> Vec<u8> {
    let (length, end) = (json.len(), place.start + text.len());
    let edited = length - place.len() + text.len();
    json.resize(length.max(edited), 0);
    json.copy_within(place.end..length, end);
    json[place.start..end].copy_from_slice(text.as_bytes());
    json.truncate(edited);
    json
}

/// Returns the edit that sets a key in the `_meta` of a result. `lacks_meta` states that the result is known to have no
/// `_meta`. `None` if a member on the path occurs twice.
pub fn result_meta(result: &str, key: &str, json: &str, lacks_meta: bool) -> Option<Edit> {
    let (path, members) = (["_meta"], [(key, json)]);
    if lacks_meta {
        // Avoids parsing the result, which can be long. Its last byte is its closing brace.
        let is_empty = result[1..].trim_start() == "}";
        let place = Place::in_object(result.len() - 1, is_empty, &path);
        let mut text = String::new();
        place.append(&members, &mut text);
        return Some((place.range, text));
    }
    edit(Reader::new(result), &path, &members).ok()
}

/// Returns the edit that sets members of the object at a path in an object. A member on the path that occurs twice is an
/// error, because a receiver could use the one that isn't edited.
fn edit(mut reader: Reader<'_>, path: &[&str], members: &[Member<'_>]) -> Decoded<Edit> {
    let (mut known, mut new) = (Vec::new(), members.to_vec());
    let place = find(&mut reader, path, &mut |key, value| {
        match new.iter().position(|(name, _)| *name == key) {
            Some(index) => known.push((value, new.remove(index).1)),
            // It has been read before.
            None if members.iter().any(|(name, _)| *name == key) => return false,
            None => {}
        }
        true
    })?;
    let original = reader.text();
    reader.finish()?;
    let start = known.first().map_or(place.range.start, |(value, _)| value.start);
    // Room for the members with their quotes and commas, and for as much of the original between them.
    let length: usize = members.iter().map(|(key, json)| key.len() + json.len() + 4).sum();
    let (mut end, mut text) = (start, String::with_capacity(2 * length));
    for (value, json) in known {
        text.extend([&original[end..value.start], json]);
        end = value.end;
    }
    if !new.is_empty() {
        text.push_str(&original[end..place.range.start]);
        place.append(&new, &mut text);
        end = place.range.end;
    }
    Ok((start..end, text))
}

/// The place of new members of the object at a path.
struct Place<'p> {
    range: Range<usize>,
    /// The keys on the path, from the first one that has no object.
    missing: &'p [&'p str],
    before: &'static str,
    after: &'static str,
}

impl<'p> Place<'p> {
    /// Returns the place at the end of an object.
    fn in_object(end: usize, is_empty: bool, missing: &'p [&'p str]) -> Self {
        Self {
            range: end..end,
            missing,
            before: if is_empty { "" } else { "," },
            after: "",
        }
    }

    /// Appends the text with these members that replaces the range.
    fn append(&self, members: &[Member<'_>], text: &mut String) {
        text.push_str(self.before);
        for key in self.missing {
            text.extend(["\"", key, "\":{"]);
        }
        for (index, (key, json)) in members.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            text.extend([comma, "\"", key, "\":", json]);
        }
        text.extend(self.missing.iter().map(|_| "}"));
        text.push_str(self.after);
    }
}

/// Reads an object, and returns the place of new members of the object at a path in it. `member` gets each member of the
/// latter, with the range of its value, and returns `false` for a duplicate member, which is an error.
fn find<'p>(
    reader: &mut Reader<'_>,
    path: &'p [&'p str],
    member: &mut impl FnMut(&str, Range<usize>) -> bool,
) -> Decoded<Place<'p>> {
    let (mut first, mut is_empty, mut found) = (reader.open_object()?, true, None);
    while let Some(key) = reader.next_key(&mut first)? {
        is_empty = false;
        let kind = reader.json_type()?;
        let start = reader.position();
        match path {
            [name, missing @ ..] if key == *name => {
                if found.is_some() {
                    return Err(reader.duplicate(&key));
                }
                found = Some(if kind == JsonType::Object {
                    find(reader, missing, member)?
                } else {
                    reader.text_at_any_depth()?;
                    Place {
                        range: start..reader.position(),
                        missing,
                        before: "{",
                        after: "}",
                    }
                });
            }
            _ => {
                reader.text_at_any_depth()?;
                if path.is_empty() && !member(&key, start..reader.position()) {
                    return Err(reader.duplicate(&key));
                }
            }
        }
    }
    Ok(found.unwrap_or_else(|| Place::in_object(reader.position() - 1, is_empty, path)))
}

#[cfg(test)]
mod tests {
    use super::{result_meta, set_member, with_meta};

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
            let edited = with_meta(request.into(), &[("progressToken", "7")]).unwrap();
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
            let edited = with_meta(request.into(), &[("a", "1"), ("b", "{}"), ("c", "3")]).unwrap();
            assert_eq!(String::from_utf8(edited).unwrap(), expected);
        }
    }

    #[test]
    fn an_ambiguous_path_is_refused() {
        let path = ["params", "_meta", "token"];
        for request in [
            r#"{"params":{"_meta":{"token":1,"token":2}}}"#,
            r#"{"params":{"_meta":{"token":1},"_meta":{}}}"#,
            r#"{"params":{"_meta":{}},"params":1}"#,
        ] {
            assert!(set_member(request.into(), &path, "7").is_err(), "{request}");
            assert!(with_meta(request.into(), &[("token", "7")]).is_err(), "{request}");
        }
        let request = r#"{"params":{"_meta":{"token":"long","a":1,"a":2}}}"#;
        let edited = set_member(request.into(), &path, "7").unwrap();
        assert_eq!(edited, br#"{"params":{"_meta":{"token":7,"a":1,"a":2}}}"#);
    }
}
