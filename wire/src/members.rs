//! Reading and writing the members of one object.

use std::borrow::Cow;

use serde_core::{Serialize, Serializer, ser::SerializeMap};

use crate::decode::Decode;
use crate::error::Decoded;
use crate::map::Extra;
use crate::open::OpenJson;
use crate::reader::{Envelope, JsonType, Reader, first_duplicate};

/// An object whose members are being read.
///
/// Members that the type doesn't declare are kept in an [`Extra`]. So are two kinds of declared members that the fields
/// can't hold: a constant that has another value, and an optional member that is `null` (some peers send it). They are
/// written back, and `validate` reports them.
#[derive(Debug)]
pub struct Members<'r, 'a> {
    reader: &'r mut Reader<'a>,
    first: bool,
    extra: Extra,
    /// Whether the members of the JSON-RPC envelope belong to the reader, because the object is a message.
    enveloped: bool,
}

impl<'a> Reader<'a> {
    /// Opens the next object.
    ///
    /// # Errors
    /// When the next value isn't an object.
    pub fn members(&mut self) -> Decoded<Members<'_, 'a>> {
        let first = self.open_object()?;
        let enveloped = self.envelope.as_mut().is_some_and(Envelope::open);
        Ok(Members {
            reader: self,
            first,
            extra: Extra::new(),
            enveloped,
        })
    }
}

impl<'a> Members<'_, 'a> {
    /// Reads the name of the next member, whose value must then be read or kept. `None` after the last member.
    ///
    /// # Errors
    /// When the text isn't JSON.
    pub fn key(&mut self) -> Decoded<Option<Cow<'a, str>>> {
        while let Some(key) = self.reader.next_key(&mut self.first)? {
            if !self.enveloped || !Envelope::has_member(&key) {
                return Ok(Some(key));
            }
            self.reader.envelope_member(&key)?;
        }
        Ok(None)
    }

    /// Reads a member's value into its field.
    ///
    /// # Errors
    /// When the member occurs twice, or the value isn't a `T`.
    pub fn read<T: Decode>(&mut self, field: &mut Option<T>, member: &str) -> Decoded<()> {
        if field.is_some() {
            return Err(self.reader.duplicate(member));
        }
        *field = Some(T::decode(self.reader).map_err(|error| error.in_member(member))?);
        Ok(())
    }

    /// Reads an optional member's value into its field, and keeps a `null` that the field can't hold.
    ///
    /// # Errors
    /// When the member occurs twice, or the value isn't a `T`.
    pub fn read_optional<T: Decode>(&mut self, field: &mut Option<T>, member: &str) -> Decoded<()> {
        if T::HOLDS_NULL {
            return self.read(field, member);
        }
        // A `null` that came before was kept. A second `null` is found when everything that was kept is compared.
        if self.reader.json_type()? == JsonType::Null {
            if field.is_some() {
                return Err(self.reader.duplicate(member));
            }
            return self.keep(Cow::Borrowed(member));
        }
        if self.extra.contains_key(member) {
            return Err(self.reader.duplicate(member));
        }
        self.read(field, member)
    }

    /// Reads a member whose value is the same in every object of the type. Another value is kept.
    ///
    /// # Errors
    /// When the member occurs twice, or its value isn't JSON.
    pub fn read_constant(&mut self, seen: &mut Option<()>, member: &str, constant: impl Into<Constant>) -> Decoded<()> {
        if seen.replace(()).is_some() {
            return Err(self.reader.duplicate(member));
        }
        let constant = constant.into();
        if let Constant::String(text) = constant
            && self.reader.string_is(text)
        {
            return Ok(());
        }
        let value = self.reader.raw().map_err(|error| error.in_member(member))?;
        if !constant.is(value) {
            self.extra
                .read(Cow::Borrowed(member), OpenJson::of_valid(value), self.reader)?;
        }
        Ok(())
    }

    /// Keeps a member that the type doesn't declare.
    ///
    /// # Errors
    /// When its value isn't JSON, or is nested too deep.
    pub fn keep(&mut self, member: Cow<'_, str>) -> Decoded<()> {
        let value = OpenJson::decode(self.reader).map_err(|error| error.in_member(&member))?;
        self.extra.read(member, value, self.reader)
    }

    /// Returns the value of a required member.
    ///
    /// # Errors
    /// When the member was absent.
    pub fn require<T>(&self, value: Option<T>, member: &str) -> Decoded<T> {
        value.ok_or_else(|| self.reader.missing(member))
    }

    /// Returns the members that were kept, after the last has been read.
    ///
    /// # Errors
    /// When a member that was kept occurs twice.
    pub fn finish(self) -> Decoded<Extra> {
        if let Some(member) = first_duplicate(self.extra.iter().map(|(member, _)| member)) {
            return Err(self.reader.duplicate(member));
        }
        Ok(self.extra)
    }
}

/// The value that a member has in every object of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// A string without characters that JSON escapes.
    String(&'static str),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
}

impl Constant {
    fn is(self, json: &str) -> bool {
        match self {
            Self::String(text) => Reader::new(json).string().is_ok_and(|json| json == text),
            Self::Integer(integer) => Reader::new(json).integer() == Ok(integer),
            Self::Boolean(boolean) => json == if boolean { "true" } else { "false" },
        }
    }
}

impl From<&'static str> for Constant {
    fn from(text: &'static str) -> Self {
        Self::String(text)
    }
}

impl From<i64> for Constant {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<bool> for Constant {
    fn from(boolean: bool) -> Self {
        Self::Boolean(boolean)
    }
}

impl Serialize for Constant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::String(text) => serializer.serialize_str(text),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Boolean(boolean) => serializer.serialize_bool(*boolean),
        }
    }
}

/// A type that is a JSON object, and can write its members into an object that is already open.
pub trait Object {
    /// The members that the type doesn't declare.
    fn extra(&self) -> &Extra;

    /// Writes the declared members, constants first.
    ///
    /// # Errors
    /// When the serializer fails.
    fn write_members<M: SerializeMap>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error>;
}

/// Writes an object: its declared members, then those that were kept.
///
/// # Errors
/// When the serializer fails.
pub fn serialize_object<T: Object, S: Serializer>(object: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    write_object(object, &mut map)?;
    map.end()
}

/// Writes an object's members into a map that is already open.
pub(crate) fn write_object<T: Object, M: SerializeMap>(object: &T, map: &mut M) -> Result<(), M::Error> {
    let extra = object.extra();
    let mut members = MemberWriter {
        map,
        extra,
        written: Vec::new(),
    };
    object.write_members(&mut members)?;
    let written = members.written;
    for (member, value) in extra.iter() {
        if !written.contains(&member) {
            map.serialize_entry(member, value)?;
        }
    }
    Ok(())
}

/// An object whose members are being written.
#[derive(Debug)]
pub struct MemberWriter<'e, M> {
    map: &'e mut M,
    extra: &'e Extra,
    /// The members written so far, so that no kept member repeats one of them. Empty if nothing was kept.
    written: Vec<&'static str>,
}

impl<M: SerializeMap> MemberWriter<'_, M> {
    /// Writes a member.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write<T: Serialize + ?Sized>(&mut self, member: &'static str, value: &T) -> Result<(), M::Error> {
        if !self.extra.is_empty() {
            self.written.push(member);
        }
        self.map.serialize_entry(member, value)
    }

    /// Writes a member if it is present.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write_optional<T: Serialize>(&mut self, member: &'static str, value: &Option<T>) -> Result<(), M::Error> {
        match value {
            Some(value) => self.write(member, value),
            None => Ok(()),
        }
    }

    /// Writes a constant, unless another value was read for it: that value was kept, and is written instead.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write_constant(&mut self, member: &'static str, constant: impl Into<Constant>) -> Result<(), M::Error> {
        if self.extra.contains_key(member) {
            return Ok(());
        }
        self.write(member, &constant.into())
    }
}
