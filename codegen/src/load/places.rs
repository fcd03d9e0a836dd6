//! The places of a document's values in its text.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::problem::{Place, Problem};

/// The place of a value in an empty text.
pub(super) const START: Place = Place { line: 1, column: 1 };

/// The origin of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The place of the value, or of the one that was corrected, in the document's text.
    pub(super) place: Option<Place>,
    /// The entry of an overlay that corrected it, as a problem of the overlay.
    pub(super) correction: Option<Arc<Problem>>,
}

/// The origin of each value by its canonical pointer. Values inside a YAML alias or a correction have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places(BTreeMap<String, Origin>);

/// Whether a pointer leads to the value at another one, or into it.
pub(crate) fn is_within(pointer: &str, outer: &str) -> bool {
    let rest = pointer.strip_prefix(outer);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Places {
    pub(super) fn get(&self, pointer: &str) -> Option<&Origin> {
        self.0.get(pointer)
    }

    pub(super) fn at(&mut self, pointer: String) -> &mut Origin {
        self.0.entry(pointer).or_default()
    }

    /// Moves the places of a value and of all values in it to another pointer.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        for (rest, origin) in self.take(from) {
            self.0.insert(format!("{to}{rest}"), origin);
        }
    }

    /// Removes the places of the values inside a value.
    pub(super) fn forget_inside(&mut self, pointer: &str) {
        let own = self.take(pointer).into_iter().find(|(rest, _)| rest.is_empty());
        self.0.extend(own.map(|(_, origin)| (pointer.to_owned(), origin)));
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
    fn take(&mut self, pointer: &str) -> Vec<(String, Origin)> {
        let is_in = |at: &&String| at.starts_with(pointer);
        let inside = self.0.range(pointer.to_owned()..).map(|(at, _)| at).take_while(is_in);
        // `#/ab` starts with `#/a`, and isn't inside it.
        let inside: Vec<String> = inside.filter(|at| is_within(at, pointer)).cloned().collect();
        let taken = inside.into_iter().filter_map(|at| {
            let origin = self.0.remove(&at)?;
            Some((at[pointer.len()..].to_owned(), origin))
        });
        taken.collect()
    }
}
