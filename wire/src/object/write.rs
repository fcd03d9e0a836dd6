//! Writing the members of an object, into JSON text or by one of `serde`'s serializers.

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use super::constant::Constant;
use super::name::Name;
use crate::encode::Encode;
use crate::map::Extra;

/// A type that is a JSON object, and can write its members into an object that is already open.
pub trait Object {
    /// Returns the members that the type doesn't declare.
    fn extra(&self) -> &Extra;

    /// Writes the declared members, constants first.
    ///
    /// # Errors
    /// When the serializer fails.
    fn write_members<M: ObjectWriter>(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error>;
}

/// Writes an object: its declared members, then the undeclared ones.
///
/// # Errors
/// When the serializer fails.
pub fn serialize_object<T: Object, S: Serializer>(object: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    write_object(object, &mut map)?;
    map.end()
}

/// An open object that members are written into: one in a JSON text, or the map of one of `serde`'s serializers.
pub trait ObjectWriter {
    /// The error of the serializer.
    type Error;

    /// Writes the name of a member.
    ///
    /// # Errors
    /// When the serializer fails.
    fn key(&mut self, member: &str) -> Result<(), Self::Error>;

    /// Writes the name of a declared member.
    ///
    /// # Errors
    /// When the serializer fails.
    fn declared_key(&mut self, member: Name) -> Result<(), Self::Error> {
        self.key(member.text())
    }

    /// Writes the value of the member whose name has been written.
    ///
    /// # Errors
    /// When the serializer fails.
    fn value<T: Encode + Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error>;

    /// Writes a member.
    ///
    /// # Errors
    /// When the serializer fails.
    fn member<T: Encode + Serialize + ?Sized>(&mut self, member: &str, value: &T) -> Result<(), Self::Error> {
        self.key(member)?;
        self.value(value)
    }
}

impl<M: SerializeMap> ObjectWriter for M {
    type Error = M::Error;

    fn key(&mut self, member: &str) -> Result<(), M::Error> {
        self.serialize_key(member)
    }

    fn value<T: Encode + Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        self.serialize_value(value)
    }
}

/// Writes an object's members into a map that is already open.
pub(super) fn write_object<T: Object, M: ObjectWriter>(object: &T, map: &mut M) -> Result<(), M::Error> {
    write_with(object.extra(), map, &object)
}

/// An object of any type. A closure would have more code, because it can also be called in other ways.
trait DeclaredMembers<M: ObjectWriter> {
    fn write(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error>;
}

impl<T: Object, M: ObjectWriter> DeclaredMembers<M> for &T {
    fn write(&self, members: &mut MemberWriter<'_, M>) -> Result<(), M::Error> {
        self.write_members(members)
    }
}

/// Does the same without the object's type, so that it is compiled only once.
#[inline(never)]
fn write_with<M: ObjectWriter>(extra: &Extra, map: &mut M, declared: &dyn DeclaredMembers<M>) -> Result<(), M::Error> {
    let mut members = MemberWriter {
        map,
        extra,
        written: Vec::new(),
    };
    declared.write(&mut members)?;
    let written = members.written;
    for (member, value) in extra.iter() {
        if !written.contains(&member) {
            map.member(member, value)?;
        }
    }
    Ok(())
}

/// An object whose members are being written.
#[derive(Debug)]
pub struct MemberWriter<'e, M> {
    map: &'e mut M,
    extra: &'e Extra,
    /// The members written so far, so that no undeclared member repeats one of them. Empty if there are no undeclared
    /// members.
    written: Vec<&'static str>,
}

impl<M: ObjectWriter> MemberWriter<'_, M> {
    /// Writes a member.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write<T: Encode + Serialize + ?Sized>(
        &mut self,
        member: impl Into<Name>,
        value: &T,
    ) -> Result<(), M::Error> {
        self.key(member.into())?;
        self.map.value(value)
    }

    // Not inlined, because every type calls it for each of its members.
    #[inline(never)]
    fn key(&mut self, member: Name) -> Result<(), M::Error> {
        if !self.extra.is_empty() {
            self.written.push(member.text());
        }
        self.map.declared_key(member)
    }

    /// Writes a member if it is present.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write_optional<T: Encode + Serialize>(
        &mut self,
        member: impl Into<Name>,
        value: &Option<T>,
    ) -> Result<(), M::Error> {
        match value {
            Some(value) => self.write(member, value),
            None => Ok(()),
        }
    }

    /// Writes a constant, unless another value was read for it: that value was kept, and is written instead.
    ///
    /// # Errors
    /// When the serializer fails.
    pub fn write_constant(&mut self, member: impl Into<Name>, constant: impl Into<Constant>) -> Result<(), M::Error> {
        self.constant(member.into(), constant.into())
    }

    #[inline(never)]
    fn constant(&mut self, member: Name, constant: Constant) -> Result<(), M::Error> {
        if self.extra.contains_key(member.text()) {
            return Ok(());
        }
        self.write(member, &constant)
    }
}
