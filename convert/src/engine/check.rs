//! Checking that JSON is a value of a type of a table, and functions that reading it needs too.

use std::borrow::Cow;
use std::sync::LazyLock;

use mcp_wire::{Decoded, JsonType, Reader};

use super::choose::{choose, has_tag, message};
use crate::tables::Table;
use crate::tables::types::{Kind, Member, MemberValue, ObjectType, TypeId, TypeRef, Union};

/// Checks that the next value is one of a type, as a decoder of the type does, and skips it.
pub(crate) fn check(table: &Table, reader: &mut Reader<'_>, ty: &TypeRef) -> Decoded<()> {
    match table.resolve(ty) {
        TypeRef::String => reader.skip_string(),
        TypeRef::Boolean => reader.boolean().map(drop),
        TypeRef::Integer => reader.integer().map(drop),
        TypeRef::Number => reader.number().map(drop),
        TypeRef::Null => reader.null(),
        TypeRef::Any => reader.raw().map(drop),
        TypeRef::Id => match reader.json_type()? {
            JsonType::String => reader.skip_string(),
            JsonType::Number => reader.integer().map(drop),
            found => Err(reader.wrong_type("a string or an integer", found)),
        },
        TypeRef::Object => match reader.json_type()? {
            JsonType::Object => reader.raw().map(drop),
            found => Err(reader.wrong_type("an object", found)),
        },
        TypeRef::List(inner) => reader.array(|reader| check(table, reader, inner)),
        TypeRef::Map(inner) => {
            let mut names = Vec::new();
            reader.members(|reader, name| {
                check(table, reader, inner).map_err(|error| error.in_member(&name))?;
                reader.push(&mut names, name)
            })?;
            distinct_names(reader, &names)
        }
        TypeRef::Nullable(inner) => match reader.json_type()? {
            JsonType::Null => reader.null(),
            _ => check(table, reader, inner),
        },
        TypeRef::Named(id) => match &table.types[*id].kind {
            Kind::Object(object) => check_object(table, reader, object),
            Kind::Strings(_) => reader.skip_string(),
            Kind::Union(union) => {
                let read = |reader: &mut Reader<'_>, at: usize| check(table, reader, &union.variants[at].ty);
                match variant(table, reader, *id, union, read)? {
                    Some(()) => Ok(()),
                    None => unknown(reader).map(drop),
                }
            }
            Kind::Methods(methods) => match message(reader, methods)? {
                Some(message) => check(table, reader, &TypeRef::Named(message)),
                None => check_object(table, reader, &UNKNOWN_METHOD),
            },
            // The type of a result depends on the request.
            Kind::Results(_) | Kind::Alias(_) => check(table, reader, &TypeRef::Any),
        },
    }
}

fn check_object(table: &Table, reader: &mut Reader<'_>, object: &ObjectType) -> Decoded<()> {
    let mut seen = Vec::new();
    reader.members(|reader, name| {
        let checked = match object.member(&name).map(|member| (member.required, &member.value)) {
            Some((required, MemberValue::Of(ty))) => match is_absent(reader, required, table.resolve(ty)) {
                Ok(true) => reader.null(),
                Ok(false) => check(table, reader, ty),
                Err(error) => Err(error),
            },
            _ => reader.raw().map(drop),
        };
        checked.map_err(|error| error.in_member(&name))?;
        reader.push(&mut seen, name)
    })?;
    distinct_names(reader, &seen)?;
    let mut required = object.members.iter().filter(|member| member.required);
    match required.find(|member| !seen.iter().any(|name| name == member.name)) {
        Some(member) => Err(reader.missing(member.name)),
        None => Ok(()),
    }
}

/// The type of a message whose method the revision doesn't declare.
pub(super) static UNKNOWN_METHOD: LazyLock<ObjectType> = LazyLock::new(|| {
    let member = |name, required, ty| Member {
        name,
        required,
        value: MemberValue::Of(ty),
    };
    let members = vec![
        member("method", true, TypeRef::String),
        member("params", false, TypeRef::Object),
    ];
    ObjectType { members }
});

/// Whether the next value is `null`, for an optional member whose type doesn't allow it.
pub(super) fn is_absent(reader: &mut Reader<'_>, required: bool, ty: &TypeRef) -> Decoded<bool> {
    Ok(!required && !ty.holds_null() && reader.json_type()? == JsonType::Null)
}

/// Whether a JSON text is equal to a constant, whose JSON has no escapes.
pub(crate) fn is_constant(text: &str, constant: &str) -> bool {
    if text == constant {
        return true;
    }
    match constant.as_bytes().first() {
        Some(b'"') => Reader::new(text)
            .string()
            .is_ok_and(|text| text == constant.trim_matches('"')),
        Some(b't' | b'f') => false,
        _ => Reader::new(text)
            .integer()
            .is_ok_and(|integer| integer.to_string() == constant),
    }
}

/// Reads the next value as a variant of a union. Returns `None` for a variant that the revision doesn't declare; the
/// cursor doesn't move then.
pub(super) fn variant<'a, T>(
    table: &Table,
    reader: &mut Reader<'a>,
    id: TypeId,
    union: &Union,
    read: impl Fn(&mut Reader<'a>, usize) -> Decoded<T>,
) -> Decoded<Option<T>> {
    let read_chosen = |reader: &mut Reader<'a>| match choose(reader, union)? {
        Some(at) => read(reader, at).map(Some),
        None => Ok(None),
    };
    let Some(decision) = union
        .objects
        .as_ref()
        .filter(|_| matches!(reader.json_type(), Ok(JsonType::Object)))
    else {
        return read_chosen(reader);
    };
    // A member by which variants are distinguished may have any value in another one that the schema accepts.
    let value = reader.unless_accepted(read_chosen, table.schema, table.types[id].pointer)?;
    if let Some(value) = value {
        return Ok(value);
    }
    if has_tag(decision) {
        return Ok(None);
    }
    let mut objects = (0..union.variants.len()).filter(|at| union.variants[*at].json_type == JsonType::Object);
    let value = objects.find_map(|at| reader.attempt(|reader| read(reader, at).ok()));
    value.map(Some).ok_or_else(|| reader.no_variant())
}

/// Reads a variant that the revision doesn't declare.
pub(super) fn unknown<'a>(reader: &mut Reader<'a>) -> Decoded<&'a str> {
    reader.check_distinct()?;
    reader.raw()
}

fn distinct_names(reader: &Reader<'_>, names: &[Cow<'_, str>]) -> Decoded<()> {
    reader.check_names(names.iter().map(|name| &**name))
}
