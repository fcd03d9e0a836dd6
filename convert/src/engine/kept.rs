//! Skipping values that stay text, because conversions change nothing in them, or only remove or add members.

use mcp_wire::{DecodeError, Decoded, JsonType, Reader};

use super::check::is_constant;
use super::choose::choose;
use super::look::Look;
use super::node::{Edit, Edited, Node};
use super::read::Read;
use super::seen::Seen;
use super::value::is_valid;
use crate::tables::types::{Kind, Member, MemberValue, ObjectType, TypeRef};

impl Read<'_> {
    /// Returns the text of the next value, if conversions change nothing in it but what can be done by edits. Otherwise
    /// the cursor doesn't move.
    pub(super) fn kept<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Option<Node<'a>> {
        if matches!(ty, TypeRef::Named(id) if self.look(*id).is_some_and(|look| look.always)) {
            return None;
        }
        keep(reader, |reader, edits| self.pass(reader, ty, edits))
    }

    /// Does the same for an object, with what its conversions look at.
    pub(super) fn kept_object<'a>(self, reader: &mut Reader<'a>, object: &ObjectType, look: &Look) -> Option<Node<'a>> {
        keep(reader, |reader, edits| {
            self.pass_object(reader, object, Some(look), edits)
        })
    }

    /// Skips the next value. One that may need other changes than edits is an error, as is one that can't be read.
    fn pass(mut self, reader: &mut Reader<'_>, ty: &TypeRef, edits: &mut Vec<Edit>) -> Decoded<()> {
        let ty = self.table.resolve(ty);
        if !self.is_opened(ty) {
            if self.unopened(reader, ty)?.is_some() {
                return Ok(());
            }
            self = self.unlooked();
        }
        match ty {
            TypeRef::List(inner) => reader.array(|reader| self.pass(reader, inner, edits)),
            TypeRef::Nullable(inner) => match reader.json_type()? {
                JsonType::Null => reader.null(),
                _ => self.pass(reader, inner, edits),
            },
            TypeRef::Named(id) => match (&self.table.types[*id].kind, self.look(*id)) {
                (Kind::Object(object), look) => self.pass_object(reader, object, look, edits),
                (Kind::Union(union), Some(look)) => match choose(reader, union)? {
                    Some(at) if !look.changes_variant(at) => {
                        let variant = &union.variants[at].ty;
                        let text = reader.text_of(|reader| self.pass(reader, variant, edits))?;
                        match !look.validates_variants || is_valid(self.table, text, variant) {
                            true => Ok(()),
                            false => Err(changed(reader)),
                        }
                    }
                    _ => Err(changed(reader)),
                },
                _ => Err(changed(reader)),
            },
            _ => Err(changed(reader)),
        }
    }

    fn pass_object(
        self,
        reader: &mut Reader<'_>,
        object: &ObjectType,
        look: Option<&Look>,
        edits: &mut Vec<Edit>,
    ) -> Decoded<()> {
        if look.is_some_and(|look| look.always) {
            return Err(changed(reader));
        }
        reader.json_type()?;
        let first = reader.position() + 1;
        // The start of the part that hasn't been read, and whether a member before it stays.
        let (mut rest, mut follows) = (first, false);
        let mut members = Seen::new(object);
        let mut is_first = reader.open_object()?;
        while let Some((name, at)) = members.next_key(reader, &mut is_first)? {
            let before = edits.len();
            let declared = at.and_then(|at| Some((at, object.members.get(at)?)));
            let stays = self.pass_member(reader, (&name, declared), look, edits)?;
            let end = reader.position();
            if !stays {
                edits.push(Edit::remove(rest..end));
            } else if !follows && rest > first {
                // All members before this one have been removed, but not the comma after them.
                let comma = reader.text()[rest..].find(',').unwrap_or_default();
                edits.insert(before, Edit::remove(rest..rest + comma + 1));
            }
            follows |= stays;
            rest = end;
        }
        // If members may be duplicate or missing, the value is read as a tree.
        if !members.are_distinct() || members.missing().next().is_some() {
            return Err(changed(reader));
        }
        let lacking = look.map_or(0, |look| look.lacking(&members));
        if let Some(look) = look.filter(|_| lacking != 0) {
            let adding = self.adding.and_then(|adding| adding(look, lacking));
            let added = adding.ok_or_else(|| changed(reader))?;
            if !added.text().is_empty() {
                let end = reader.position() - 1;
                edits.push(Edit {
                    range: end..end,
                    members: Some((added, follows)),
                });
            }
        }
        Ok(())
    }

    /// Skips a member, and returns whether it stays. `declared` has the position of a declared one.
    fn pass_member(
        self,
        reader: &mut Reader<'_>,
        (name, declared): (&str, Option<(usize, &Member)>),
        look: Option<&Look>,
        edits: &mut Vec<Edit>,
    ) -> Decoded<bool> {
        let Some((at, member)) = declared else {
            return match look.is_some_and(|look| look.changes_other(name)) {
                true => Err(changed(reader)),
                false => reader.raw().map(|_| true),
            };
        };
        let glance = look.and_then(|look| look.member(at));
        if glance.is_some_and(|glance| glance.changes) {
            return Err(changed(reader));
        }
        if let Some(implied) = glance.and_then(|glance| glance.implied) {
            return match self.adding.is_some() && reader.raw()? == implied {
                true => Ok(false),
                false => Err(changed(reader)),
            };
        }
        let stays = match &member.value {
            MemberValue::Constant(constant) => is_constant(reader.raw()?, constant),
            MemberValue::Of(ty) => {
                let is_basic = glance.is_some_and(|glance| glance.is_basic) && !self.checks;
                let text = match is_basic {
                    true => reader.raw()?,
                    false => {
                        let read = self.within(glance);
                        reader.text_of(|reader| read.pass(reader, ty, edits))?
                    }
                };
                // A `null` may mean that the member is absent.
                text != "null" && glance.is_none_or(|glance| glance.accepts(text))
            }
        };
        match stays {
            true => Ok(true),
            false => Err(changed(reader)),
        }
    }
}

/// Returns the text that `pass` skips. If it fails, the cursor doesn't move.
fn keep<'a>(
    reader: &mut Reader<'a>,
    pass: impl FnOnce(&mut Reader<'a>, &mut Vec<Edit>) -> Decoded<()>,
) -> Option<Node<'a>> {
    reader.attempt(|reader| {
        reader.json_type().ok()?;
        let start = reader.position();
        let mut edits = Vec::new();
        pass(reader, &mut edits).ok()?;
        let text = &reader.text()[start..reader.position()];
        Some(match edits.is_empty() {
            true => Node::Kept(text, start),
            false => Node::Edited(Box::new(Edited { text, start, edits })),
        })
    })
}

#[cold]
fn changed(reader: &Reader<'_>) -> DecodeError {
    reader.wrong_type("a value that stays the same", JsonType::Null)
}
