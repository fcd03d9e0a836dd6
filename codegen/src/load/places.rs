//! The places of a document's values in its text.

use std::collections::BTreeMap;

use crate::problem::Place;

/// The place of a value in an empty text.
pub(super) const START: Place = Place { line: 1, column: 1 };

/// The place of each value by its canonical pointer. Values inside a YAML alias or a correction have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places(BTreeMap<String, Place>);

impl Places {
    pub(super) fn get(&self, pointer: &str) -> Option<Place> {
        self.0.get(pointer).copied()
    }

    pub(super) fn insert(&mut self, pointer: String, place: Place) {
        self.0.insert(pointer, place);
    }

    /// Moves the places of a value and of all values in it to another pointer.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        for (rest, place) in self.take(from) {
            self.0.insert(format!("{to}{rest}"), place);
        }
    }

    /// Removes the places of the values inside a value.
    pub(super) fn forget_inside(&mut self, pointer: &str) {
        let own = self.take(pointer).into_iter().find(|(rest, _)| rest.is_empty());
        self.0.extend(own.map(|(_, place)| (pointer.to_owned(), place)));
    }

    /// Removes the place of an element, and moves those of the elements after it. `length` is the length of the list
    /// without the element.
    pub(super) fn remove_element(&mut self, list: &str, index: usize, length: usize) {
        self.take(&format!("{list}/{index}"));
        for later in index..length {
            self.rename(&format!("{list}/{}", later + 1), &format!("{list}/{later}"));
        }
    }

    /// Removes the places of a value and of all values in it, and returns them by the rest of their pointers after the
    /// value's.
    fn take(&mut self, pointer: &str) -> Vec<(String, Place)> {
        let is_in = |at: &&String| at.starts_with(pointer);
        let is_whole = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let inside = self.0.range(pointer.to_owned()..).map(|(at, _)| at).take_while(is_in);
        // `#/ab` starts with `#/a`, and isn't inside it.
        let inside: Vec<String> = inside.filter(|at| is_whole(&at[pointer.len()..])).cloned().collect();
        let taken = inside.into_iter().filter_map(|at| {
            let place = self.0.remove(&at)?;
            Some((at[pointer.len()..].to_owned(), place))
        });
        taken.collect()
    }
}
