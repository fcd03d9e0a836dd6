//! The placeholders in the replacements of rules.

use std::borrow::Cow;

use mcp_wire::{Decoded, JsonType, Reader, push_string};

/// Fills the placeholders of a rule's JSON with members of a value, and returns the JSON.
///
/// A string that is only a placeholder becomes the member's value, or is left out if there is no such member.
/// Placeholders within a string are replaced by text, and a line whose placeholder has no value is left out. `{}` is
/// the whole value as JSON text, and `{list[].name}` a member of each element.
pub(crate) fn fill_template(template: &str, value: &str) -> Decoded<String> {
    Reader::new(value).check_distinct()?;
    let mut filled = String::new();
    if !fill(&mut Reader::new(template), value, &mut filled)? {
        filled.push_str("null");
    }
    Ok(filled)
}

/// Appends the next value of the template. Returns `false` if it is a placeholder without a value.
fn fill(template: &mut Reader<'_>, value: &str, filled: &mut String) -> Decoded<bool> {
    match template.json_type()? {
        JsonType::String => {
            let text = template.string()?;
            match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
                Some("") => push_string(filled, value),
                Some(path) if !path.contains(['{', '}']) => match select(value, path)? {
                    Some(selected) => filled.push_str(&selected),
                    None => return Ok(false),
                },
                _ => push_string(filled, &fill_lines(&text, value)?),
            }
        }
        JsonType::Array => {
            filled.push('[');
            let first = filled.len();
            template.array(|template| append(filled, first, |filled| fill(template, value, filled)))?;
            filled.push(']');
        }
        JsonType::Object => {
            filled.push('{');
            let first = filled.len();
            template.members(|template, name| {
                append(filled, first, |filled| {
                    push_string(filled, &name);
                    filled.push(':');
                    fill(template, value, filled)
                })
            })?;
            filled.push('}');
        }
        _ => filled.push_str(template.raw()?),
    }
    Ok(true)
}

/// Appends an element or a member, and a comma before it unless it is the first. Nothing is appended if `element`
/// returns `false`.
fn append(filled: &mut String, first: usize, element: impl FnOnce(&mut String) -> Decoded<bool>) -> Decoded<()> {
    let end = filled.len();
    if end > first {
        filled.push(',');
    }
    if !element(filled)? {
        filled.truncate(end);
    }
    Ok(())
}

fn fill_lines(text: &str, value: &str) -> Decoded<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        lines.extend(fill_line(line, value)?);
    }
    Ok(lines.join("\n"))
}

fn fill_line(line: &str, value: &str) -> Decoded<Option<String>> {
    let mut filled = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let placeholder = after.split_once('}');
        let selected = match placeholder {
            Some((path, _)) => select(value, path)?,
            None => None,
        };
        let (Some((_, after)), Some(selected)) = (placeholder, selected) else {
            return Ok(None);
        };
        filled.push_str(before);
        match Reader::new(&selected).string() {
            Ok(text) => filled.push_str(&text),
            Err(_) => filled.push_str(&selected),
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(Some(filled))
}

/// Returns the JSON of the member at a path.
fn select<'v>(value: &'v str, path: &str) -> Decoded<Option<Cow<'v, str>>> {
    if path.is_empty() {
        return Ok(Some(value.into()));
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, of_each) = match first.strip_suffix("[]") {
        Some(list) => (list, true),
        None => (first, false),
    };
    let Some(member) = member(value, name)? else {
        return Ok(None);
    };
    if !of_each {
        return select(member, rest);
    }
    let mut reader = Reader::new(member);
    if reader.json_type()? != JsonType::Array {
        return Ok(None);
    }
    let mut selected = String::from("[");
    reader.array(|reader| {
        let element = select(reader.raw()?, rest)?;
        append(&mut selected, 1, |selected| {
            selected.push_str(element.as_deref().unwrap_or_default());
            Ok(element.is_some())
        })
    })?;
    selected.push(']');
    Ok(Some(selected.into()))
}

/// Returns the JSON of a member, the last one if it occurs twice. `None` if the value isn't an object.
pub(crate) fn member<'v>(object: &'v str, name: &str) -> Decoded<Option<&'v str>> {
    let mut reader = Reader::new(object);
    let mut found = None;
    if reader.json_type()? == JsonType::Object {
        reader.members(|reader, own| {
            let value = reader.raw()?;
            if own == name {
                found = Some(value);
            }
            Ok(())
        })?;
    }
    Ok(found)
}
