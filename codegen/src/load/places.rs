//! Where each value of a document stands in its text.

use std::collections::BTreeMap;

use crate::problem::Place;

/// The place of a value and of everything in it: a tree, because a flat map from pointers would repeat every long name
/// once for each value below it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Places {
    pub(crate) place: Place,
    pub(crate) within: Within,
}

/// The places inside of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Within {
    /// A scalar, or a value whose inside has no text of its own (a YAML alias, a correction).
    Nothing,
    Members(BTreeMap<String, Places>),
    Elements(Vec<Places>),
}

impl Places {
    pub(crate) fn leaf(place: Place) -> Self {
        Self {
            place,
            within: Within::Nothing,
        }
    }

    /// One step down.
    pub(crate) fn child(&self, token: &str) -> Option<&Self> {
        match &self.within {
            Within::Nothing => None,
            Within::Members(members) => members.get(token),
            Within::Elements(elements) => elements.get(token.parse::<usize>().ok()?),
        }
    }

    pub(crate) fn child_mut(&mut self, token: &str) -> Option<&mut Self> {
        match &mut self.within {
            Within::Nothing => None,
            Within::Members(members) => members.get_mut(token),
            Within::Elements(elements) => elements.get_mut(token.parse::<usize>().ok()?),
        }
    }

    /// The place of the value at `path`, or of the closest one around it that has a text.
    pub(crate) fn closest(&self, path: &[String]) -> Place {
        let mut here = self;
        for token in path {
            let Some(child) = here.child(token) else {
                break;
            };
            here = child;
        }
        here.place
    }
}
