//! The members of an object that have been read.

use std::borrow::Cow;

use mcp_wire::{Decoded, Reader};

use crate::tables::types::ObjectType;

/// The members of an object that have been read.
pub(super) struct Seen<'t> {
    object: &'t ObjectType,
    /// The position after the last one: most objects have their members in the order in which the type declares them.
    next: usize,
    /// The positions of the declared ones, as bits.
    seen: u64,
    /// Whether a member was read twice, or may have been.
    repeats: bool,
    /// Hashes of the names of the undeclared members.
    others: [u64; 4],
    other_count: usize,
}

impl<'t> Seen<'t> {
    pub(super) fn new(object: &'t ObjectType) -> Self {
        Self {
            object,
            next: 0,
            seen: 0,
            // `seen` has no bits for more positions.
            repeats: object.members.len() > 64,
            others: [0; 4],
            other_count: 0,
        }
    }

    /// Reads the next key of an open object, and finds the position of its member, if the type declares it.
    ///
    /// Inlined, because nearly all keys are the expected ones.
    #[inline(always)]
    pub(super) fn next_key<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        first: &mut bool,
    ) -> Decoded<Option<(Cow<'a, str>, Option<usize>)>> {
        let expected = self.object.members.get(self.next);
        if let Some(member) = expected.filter(|member| reader.next_key_is(first, member.name)) {
            let at = self.next;
            self.see(at);
            return Ok(Some((Cow::Borrowed(member.name), Some(at))));
        }
        self.unexpected_key(reader, first)
    }

    /// Does the same for a key that isn't the expected one.
    #[inline(never)]
    fn unexpected_key<'a>(
        &mut self,
        reader: &mut Reader<'a>,
        first: &mut bool,
    ) -> Decoded<Option<(Cow<'a, str>, Option<usize>)>> {
        let Some(name) = reader.next_key(first)? else {
            return Ok(None);
        };
        let at = self.object.position(&name, self.next);
        match at {
            Some(at) => self.see(at),
            None => self.other(&name),
        }
        Ok(Some((name, at)))
    }

    fn see(&mut self, at: usize) {
        let bit = 1_u64
            .checked_shl(u32::try_from(at).unwrap_or(u32::MAX))
            .unwrap_or_default();
        self.repeats |= self.seen & bit != 0;
        self.seen |= bit;
        self.next = at + 1;
    }

    fn other(&mut self, name: &str) {
        let mix = |number: u64, byte: u8| number.rotate_left(8) ^ u64::from(byte);
        let number = name.bytes().fold(name.len() as u64, mix);
        let known = &self.others[..self.other_count];
        if known.contains(&number) || known.len() == self.others.len() {
            self.repeats = true;
        } else {
            self.others[self.other_count] = number;
            self.other_count += 1;
        }
    }

    /// Whether no name occurs twice. If `false`, the names have to be compared.
    pub(super) fn are_distinct(&self) -> bool {
        !self.repeats
    }

    /// Whether the declared member at a position below 64 has been read.
    pub(super) fn has(&self, at: usize) -> bool {
        self.seen >> at & 1 == 1
    }

    /// Returns the required members that haven't been read, or may not have been.
    pub(super) fn missing(&self) -> impl Iterator<Item = &'static str> + use<'t> {
        let seen = self.seen;
        let members = self.object.members.iter().enumerate();
        members
            .filter(move |(at, member)| member.required && (*at >= 64 || seen >> at & 1 == 0))
            .map(|(_, member)| member.name)
    }
}
