//! Readers of the JSON values in tables.

use std::borrow::Cow;

use mcp_wire::{Decoded, JsonType, Reader};

use super::named::{Named, Text};

pub(super) type Source = Reader<'static>;

/// Returns a text that lives as long as the table: a slice of it, or a leaked copy if it is written with escapes.
pub(super) fn leaked(text: Cow<'static, str>) -> Text {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.leak(),
    }
}

pub(super) fn string(reader: &mut Source) -> Decoded<Text> {
    reader.string().map(leaked)
}

pub(super) fn optional(reader: &mut Source) -> Decoded<Option<Text>> {
    match reader.json_type()? {
        JsonType::Null => reader.null().map(|()| None),
        _ => string(reader).map(Some),
    }
}

pub(super) fn each(
    reader: &mut Source,
    mut member: impl FnMut(&mut Source, Cow<'static, str>) -> Decoded<()>,
) -> Decoded<()> {
    each_by(reader, &mut member)
}

/// Does the same, but is compiled only once.
fn each_by(reader: &mut Source, member: &mut dyn FnMut(&mut Source, Cow<'static, str>) -> Decoded<()>) -> Decoded<()> {
    let mut names = Vec::new();
    reader.members(|reader, key| {
        let read = member(reader, key.clone());
        read.map_err(|error| error.in_member(&key))?;
        names.push(key);
        Ok(())
    })?;
    reader.check_names(names.iter().map(|name| &**name))
}

pub(super) fn list<T>(reader: &mut Source, mut element: impl FnMut(&mut Source) -> Decoded<T>) -> Decoded<Vec<T>> {
    let mut elements = Vec::new();
    reader.array(|reader| {
        elements.push(element(reader)?);
        Ok(())
    })?;
    Ok(elements)
}

pub(super) fn map<T>(reader: &mut Source, mut value: impl FnMut(&mut Source) -> Decoded<T>) -> Decoded<Named<T>> {
    let mut map = Named::default();
    each(reader, |reader, key| {
        map.add(leaked(key), value(reader)?);
        Ok(())
    })?;
    Ok(map)
}

pub(super) fn entries(reader: &mut Source) -> Decoded<Vec<(Text, Text)>> {
    let mut entries = Vec::new();
    each(reader, |reader, key| {
        entries.push((leaked(key), reader.raw()?));
        Ok(())
    })?;
    Ok(entries)
}
