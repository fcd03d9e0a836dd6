//! Skipping values that stay text, because conversions change nothing in them, or only remove or add members.

use mcp_wire::{DecodeError, Decoded, JsonType, MessageHeader, Reader};

use super::check::is_constant;
use super::choose::choose;
use super::effects::Effects;
use super::node::{Edit, Edited, Node};
use super::read::{Nulls, Read, mentions_null};
use super::seen::Seen;
use super::value::is_valid;
use crate::tables::types::{Kind, Member, MemberValue, ObjectType, TypeId, TypeRef};

impl Read<'_> {
    /// Returns the text of the next value, if conversions change nothing in it but what can be done by edits. Otherwise
    /// the cursor doesn't move.
    pub(super) fn kept<'a>(self, reader: &mut Reader<'a>, ty: &TypeRef) -> Option<Node<'a>> {
        if matches!(ty, TypeRef::Named(id) if self.effects(*id).is_some_and(|effects| effects.always)) {
            return None;
        }
        keep(reader, |reader, edits| self.pass(reader, ty, edits))
    }

    /// Does the same for an object, with what its conversions look at.
    pub(super) fn kept_object<'a>(
        self,
        reader: &mut Reader<'a>,
        object: &ObjectType,
        effects: &Effects,
    ) -> Option<Node<'a>> {
        keep(reader, |reader, edits| {
            self.pass_object(reader, object, Some(effects), edits)
        })
    }

    /// Does the same for a message whose header has been read, if conversions change nothing but its parameters. Then
    /// only these have to be read.
    pub(super) fn kept_message<'a>(
        self,
        reader: &mut Reader<'a>,
        message: TypeId,
        header: &MessageHeader<'_>,
    ) -> Option<Node<'a>> {
        let params = header.params()?;
        let (Kind::Object(object), Some(effects)) = (&self.table.types[message].kind, self.effects(message)) else {
            return None;
        };
        let at = object.members.iter().position(|member| member.name == "params")?;
        let mut others = object.members.iter().enumerate().filter(|(index, _)| *index != at);
        let only_params =
            effects.changes_only(at) && !others.any(|(_, member)| member.ty().is_some_and(|ty| self.is_opened(ty)));
        let may_have_null = || self.nulls != Nulls::Kept && mentions_null(reader.text());
        if self.tries == 0 || !only_params || may_have_null() {
            return None;
        }
        reader.attempt(|reader| {
            let mut edits = Vec::new();
            let declared = Some((at, &object.members[at]));
            let pass =
                |reader: &mut Reader<'a>| self.pass_member(reader, ("params", declared), Some(effects), &mut edits);
            reader
                .within_message(params.offset(), pass)
                .ok()?
                .then(|| kept(reader.text(), 0, edits))
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
            TypeRef::Named(id) => match (&self.table.types[*id].kind, self.effects(*id)) {
                (Kind::Object(object), Some(effects)) => self.pass_known_object(reader, object, effects, edits),
                (Kind::Object(object), None) => self.pass_object(reader, object, None, edits),
                (Kind::Union(union), Some(effects)) => match choose(reader, union)? {
                    Some(at) if !effects.changes_variant(at) => {
                        let variant = &union.variants[at].ty;
                        let text = reader.text_of(|reader| self.pass(reader, variant, edits))?;
                        match !effects.validates(at, text) || is_valid(self.table, text, variant) {
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

    /// Skips an object. If its type has a cache, an object that this side encoded is only compared with those that have
    /// been kept as they are before.
    fn pass_known_object(
        self,
        reader: &mut Reader<'_>,
        object: &ObjectType,
        effects: &Effects,
        edits: &mut Vec<Edit>,
    ) -> Decoded<()> {
        let unchanged = effects.unchanged.as_ref();
        let Some(unchanged) = unchanged.filter(|_| !self.checks && reader.next_is_known()) else {
            return self.pass_object(reader, object, Some(effects), edits);
        };
        let known = |reader: &mut Reader<'_>| unchanged.has(reader.raw().ok()?).then_some(());
        if reader.attempt(known).is_none() {
            let before = edits.len();
            let text = reader.text_of(|reader| self.pass_object(reader, object, Some(effects), edits))?;
            if edits.len() == before {
                unchanged.keep(text);
            }
        }
        Ok(())
    }

    fn pass_object(
        self,
        reader: &mut Reader<'_>,
        object: &ObjectType,
        effects: Option<&Effects>,
        edits: &mut Vec<Edit>,
    ) -> Decoded<()> {
        if effects.is_some_and(|effects| effects.always) {
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
            let stays = self.pass_member(reader, (&name, declared), effects, edits)?;
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
        // If members may be duplicate or missing, or none is left, the value is read as a tree.
        let is_emptied = !follows && rest > first;
        if is_emptied || !members.are_distinct() || members.missing().next().is_some() {
            return Err(changed(reader));
        }
        let lacking = effects.map_or(0, |effects| effects.lacking(&members));
        if let Some(effects) = effects.filter(|_| lacking != 0) {
            let adding = self.adding.and_then(|adding| adding(effects, lacking));
            let added = adding.ok_or_else(|| changed(reader))?;
            // Members that conversions add and remove again are an edit too, because they may depend on the supply.
            edits.push(Edit::insert(reader.position() - 1, added, follows));
        }
        Ok(())
    }

    /// Skips a member, and returns whether it stays. `declared` has the position of a declared one.
    fn pass_member(
        self,
        reader: &mut Reader<'_>,
        (name, declared): (&str, Option<(usize, &Member)>),
        effects: Option<&Effects>,
        edits: &mut Vec<Edit>,
    ) -> Decoded<bool> {
        let Some((at, member)) = declared else {
            return match effects.is_some_and(|effects| effects.changes_other(name)) {
                true => Err(changed(reader)),
                false => reader.raw().map(|_| true),
            };
        };
        let member_effects = effects.and_then(|effects| effects.members.get(at));
        if member_effects.is_some_and(|member_effects| member_effects.changes) {
            return Err(changed(reader));
        }
        if let Some(implied) = member_effects.and_then(|member_effects| member_effects.implied) {
            return match self.adding.is_some() && reader.raw()? == implied {
                true => Ok(false),
                false => Err(changed(reader)),
            };
        }
        let stays = match &member.value {
            MemberValue::Constant(constant) => is_constant(reader.raw()?, constant),
            MemberValue::Of(ty) => {
                let is_basic = member_effects.is_some_and(|member_effects| member_effects.is_basic) && !self.checks;
                let text = match is_basic {
                    true => reader.raw()?,
                    false => {
                        let read = self.within(member_effects);
                        reader.text_of(|reader| read.pass(reader, ty, edits))?
                    }
                };
                // A `null` may mean that the member is absent.
                text != "null" && member_effects.is_none_or(|member_effects| member_effects.accepts(text))
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
        Some(kept(&reader.text()[start..reader.position()], start, edits))
    })
}

fn kept(text: &str, start: usize, edits: Vec<Edit>) -> Node<'_> {
    match edits.is_empty() {
        true => Node::Kept(text, start),
        false => Node::Edited(Box::new(Edited { text, start, edits })),
    }
}

#[cold]
fn changed(reader: &Reader<'_>) -> DecodeError {
    reader.wrong_type("a value that stays the same", JsonType::Null)
}
