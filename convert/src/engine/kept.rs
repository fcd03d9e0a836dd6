//! Going past a value in which no conversion changes anything, so that it stays text.

use mcp_wire::{DecodeError, Decoded, JsonType, Reader};

use super::choose::choose;
use super::look::Look;
use super::node::Node;
use super::read::{Members, Read, is_constant};
use crate::tables::types::{Kind, MemberValue, ObjectType, TypeRef};

impl Read<'_> {
    /// The text of the next value, if no conversion changes anything in it. The cursor stays before another one.
    pub(super) fn kept<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Option<Node<'a>> {
        if matches!(ty, TypeRef::Named(id) if self.look(*id).is_some_and(Look::changes_most)) {
            return None;
        }
        reader.attempt(|reader| {
            reader.json_type().ok()?;
            let start = reader.position();
            self.pass(reader, ty).ok()?;
            Some(Node::Kept(&reader.text()[start..reader.position()], start))
        })
    }

    /// Goes past the next value. One that may be changed is an error, as is one that can't be read.
    fn pass(self, reader: &mut Reader<'_>, ty: &TypeRef) -> Decoded<()> {
        let ty = self.table.resolve(ty);
        if !self.is_opened(ty)
            && let Some(_) = self.unopened(reader, ty)?
        {
            return Ok(());
        }
        match ty {
            TypeRef::List(inner) => reader.array(|reader| self.pass(reader, inner)),
            TypeRef::Nullable(inner) => match reader.json_type()? {
                JsonType::Null => reader.null(),
                _ => self.pass(reader, inner),
            },
            TypeRef::Named(id) => match (&self.table.types[*id].kind, self.look(*id)) {
                (Kind::Object(object), look) => self.pass_object(reader, object, look),
                (Kind::Union(union), Some(look)) => match choose(reader, union)? {
                    Some(at) if !look.changes_variant(at) => self.pass(reader, &union.variants[at].ty),
                    _ => Err(changed(reader)),
                },
                _ => Err(changed(reader)),
            },
            _ => Err(changed(reader)),
        }
    }

    fn pass_object(self, reader: &mut Reader<'_>, object: &ObjectType, look: Option<&Look>) -> Decoded<()> {
        if look.is_some_and(Look::changes_most) {
            return Err(changed(reader));
        }
        let mut members = Members::new(object);
        reader.members(|reader, name| {
            let at = members.next(&name);
            let Some((at, member)) = at.and_then(|at| Some((at, object.members.get(at)?))) else {
                return match look.is_some_and(|look| look.changes_other(&name)) {
                    true => Err(changed(reader)),
                    false => reader.raw().map(drop),
                };
            };
            if look.is_some_and(|look| look.changes(at)) {
                return Err(changed(reader));
            }
            match &member.value {
                MemberValue::Constant(constant) => match is_constant(reader.raw()?, constant) {
                    true => Ok(()),
                    false => Err(changed(reader)),
                },
                MemberValue::Of(ty) => {
                    let is_basic = look.is_some_and(|look| look.is_basic(at)) && !self.checks;
                    let text = match is_basic {
                        true => reader.raw()?,
                        false => reader.text_of(|reader| self.pass(reader, ty))?,
                    };
                    let checked = look.and_then(|look| look.checked(at));
                    // It may stand for an absent value.
                    match text != "null" && checked.is_none_or(|checked| checked.accepts(text)) {
                        true => Ok(()),
                        false => Err(changed(reader)),
                    }
                }
            }
        })?;
        // Where that isn't certain, the value is read as a tree.
        match members.are_distinct() && members.missing().next().is_none() {
            true => Ok(()),
            false => Err(changed(reader)),
        }
    }
}

#[cold]
fn changed(reader: &Reader<'_>) -> DecodeError {
    reader.wrong_type("a value that stays the same", JsonType::Null)
}
