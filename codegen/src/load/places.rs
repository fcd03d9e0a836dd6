//! The places of a document's values in its text.

use std::collections::BTreeMap;

use crate::problem::Place;

/// The places of a value and of all values in it. This is a tree, because a map from pointers would repeat long names for
/// each value below them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) place: Place,
    pub(crate) within: Container,
}

/// The places inside a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Container {
    /// A scalar, or a value whose parts have no places, such as a YAML alias or a correction.
    Nothing,
    Members(BTreeMap<String, Places>),
    Elements(Vec<Places>),
}

impl Places {
    pub(crate) fn leaf(place: Place) -> Self {
        Self {
            place,
            within: Container::Nothing,
        }
    }

    /// The places of a member or element.
    pub(crate) fn child(&self, token: &str) -> Option<&Self> {
        match &self.within {
            Container::Nothing => None,
            Container::Members(members) => members.get(token),
            Container::Elements(elements) => elements.get(token.parse::<usize>().ok()?),
        }
    }

    pub(crate) fn child_mut(&mut self, token: &str) -> Option<&mut Self> {
        match &mut self.within {
            Container::Nothing => None,
            Container::Members(members) => members.get_mut(token),
            Container::Elements(elements) => elements.get_mut(token.parse::<usize>().ok()?),
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
