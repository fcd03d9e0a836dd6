//! The places of a document's values in its text.

use std::collections::BTreeMap;

use crate::problem::Place;

/// The place of a value in an empty text.
pub(super) const START: Place = Place { line: 1, column: 1 };

/// The place of each value by its canonical pointer. What is in a YAML alias, or comes from a correction, has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places(BTreeMap<String, Place>);

impl Places {
    pub(super) fn get(&self, pointer: &str) -> Option<Place> {
        self.0.get(pointer).copied()
    }

    pub(super) fn insert(&mut self, pointer: String, place: Place) {
        self.0.insert(pointer, place);
    }

    /// Gives a value another pointer, and all in it.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        for (rest, place) in self.take(from) {
            self.0.insert(format!("{to}{rest}"), place);
        }
    }

    /// Forgets the places of what is in a value.
    pub(super) fn forget_inside(&mut self, pointer: &str) {
        let own = self.take(pointer).into_iter().find(|(rest, _)| rest.is_empty());
        self.0.extend(own.map(|(_, place)| (pointer.to_owned(), place)));
    }

    /// Forgets the place of an element, after which its list has `length` others.
    pub(super) fn remove_element(&mut self, list: &str, index: usize, length: usize) {
        self.take(&format!("{list}/{index}"));
        for later in index..length {
            self.rename(&format!("{list}/{}", later + 1), &format!("{list}/{later}"));
        }
    }

    /// Removes the places of a value and of all in it, each with what follows the value's pointer.
    fn take(&mut self, pointer: &str) -> Vec<(String, Place)> {
        let is_in = |at: &&String| at.starts_with(pointer);
        let is_whole = |rest: &str| rest.is_empty() || rest.starts_with('/');
        let inside = self.0.range(pointer.to_owned()..).map(|(at, _)| at).take_while(is_in);
        // `#/ab` begins as `#/a` does, and isn't a part of it.
        let inside: Vec<String> = inside.filter(|at| is_whole(&at[pointer.len()..])).cloned().collect();
        let taken = inside.into_iter().filter_map(|at| {
            let place = self.0.remove(&at)?;
            Some((at[pointer.len()..].to_owned(), place))
        });
        taken.collect()
    }
}
