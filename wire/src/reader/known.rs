//! The values of a text that are known to be JSON.

use super::Reader;
use crate::error::Decoded;
use crate::known::{KnownJson, Place};
use crate::shared::SharedJson;

/// The places of known values, and the index of the first of them that isn't before the cursor.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    places: &'a [Place],
    next: usize,
    /// A part that is shared with other texts, and the start of its value.
    shared: Option<(usize, &'a SharedJson)>,
}

impl<'a> Known<'a> {
    pub(super) fn new(json: &'a KnownJson) -> Self {
        Self {
            places: json.places(),
            next: 0,
            shared: json.shared(),
        }
    }

    pub(super) fn at(places: &'a [Place]) -> Self {
        Self {
            places,
            ..Self::default()
        }
    }
}

impl<'a> Reader<'a> {
    /// Returns the next value, if it is shared with other texts.
    pub(crate) fn shared_value(&mut self) -> Option<&'a SharedJson> {
        let (start, shared) = self.known.shared?;
        self.skip_space();
        (self.position == start).then_some(shared)
    }

    /// Skips the next value, which has `bytes` bytes of text and takes `memory` bytes of memory.
    pub(crate) fn go_past(&mut self, bytes: usize, memory: usize) -> Decoded<()> {
        self.charge(memory)?;
        self.position += bytes;
        Ok(())
    }

    /// Whether the next value is known, so that [`raw`](Self::raw) doesn't read it.
    pub fn next_is_known(&mut self) -> bool {
        self.skip_space();
        self.known_value().is_some()
    }

    /// Whether values of the text are known.
    #[must_use]
    pub fn has_known(&self) -> bool {
        !self.known.places.is_empty()
    }

    /// Returns the parts of the text between known strings.
    pub fn parts_to_look_at(&self) -> impl Iterator<Item = &'a str> {
        let text = self.text;
        let is_string = move |place: &&Place| text.as_bytes().get(place.start) == Some(&b'"');
        let strings = self.known.places.iter().filter(is_string);
        let ends = strings.map(|place| (place.start, place.end));
        let ends = ends.chain([(text.len(), text.len())]);
        ends.scan(0, move |from, (start, end)| {
            text.get(std::mem::replace(from, end)..start)
        })
    }
}

impl Reader<'_> {
    /// Returns the number of values that have been remembered.
    pub(super) fn remembered_count(&self) -> usize {
        self.remembered.as_ref().map_or(0, |places| places.0.len())
    }

    /// Keeps only the first `count` remembered values, because the cursor goes back.
    pub(super) fn forget(&mut self, count: usize) {
        if let Some(places) = &mut self.remembered {
            places.0.truncate(count);
        }
    }

    /// Returns the known value that starts at the cursor.
    #[inline]
    pub(super) fn known_value(&mut self) -> Option<Place> {
        match self.known.places {
            [] => None,
            places => self.known_value_of(places),
        }
    }

    fn known_value_of(&mut self, places: &[Place]) -> Option<Place> {
        let mut next = self.known.next;
        while places.get(next).is_some_and(|place| place.start < self.position) {
            next += 1;
        }
        // The cursor has gone back after looking ahead.
        while next > 0 && places[next - 1].start >= self.position {
            next -= 1;
        }
        self.known.next = next;
        places.get(next).copied().filter(|place| place.start == self.position)
    }
}
