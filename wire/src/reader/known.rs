//! The values of a text that are known to be JSON.

use super::Reader;
use crate::error::Decoded;
use crate::known::{KnownJson, Place};
use crate::shared::SharedJson;

/// The places of known values, and the first of them that isn't before the cursor.
#[derive(Debug, Default)]
pub(super) struct Known<'a> {
    places: &'a [Place],
    next: usize,
    /// A part that other texts have too, and where its value begins.
    shared: Option<(usize, &'a SharedJson)>,
}

impl<'a> Known<'a> {
    pub(super) fn new(json: &'a KnownJson) -> Self {
        let (places, shared) = (json.places(), json.shared());
        Self {
            places,
            next: 0,
            shared,
        }
    }
}

impl<'a> Reader<'a> {
    /// The next value, if it is one that other texts have too.
    pub(crate) fn shared_value(&mut self) -> Option<&'a SharedJson> {
        let (start, shared) = self.known.shared?;
        self.skip_space();
        (self.position == start).then_some(shared)
    }

    /// Goes past the next value, which has these bytes and takes so much memory.
    pub(crate) fn go_past(&mut self, bytes: usize, memory: usize) -> Decoded<()> {
        self.charge(memory)?;
        self.position += bytes;
        Ok(())
    }

    /// The whole text without the strings that are known.
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
    /// The number of values that have been remembered.
    pub(super) fn remembered_count(&self) -> usize {
        self.remembered.as_ref().map_or(0, |places| places.0.len())
    }

    /// Forgets the values but for so many, since the cursor goes back.
    pub(super) fn forget(&mut self, count: usize) {
        if let Some(places) = &mut self.remembered {
            places.0.truncate(count);
        }
    }

    /// The known value that begins at the cursor.
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
        // The cursor has gone back after it had looked ahead.
        while next > 0 && places[next - 1].start >= self.position {
            next -= 1;
        }
        self.known.next = next;
        places.get(next).copied().filter(|place| place.start == self.position)
    }
}
