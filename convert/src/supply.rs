//! Values that a session knows.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_wire::{RawJson, SharedJson};

use crate::policy::Policy;

/// Values that some revisions repeat in every message and others don't, by the names that rules have for them. The caller
/// knows them from the session, whose messages share one supply.
#[derive(Debug, Default)]
pub struct Supply {
    /// In the order of the names.
    values: Vec<(String, RawJson)>,
    /// What these values have added to messages.
    pub(crate) added: Added,
}

impl Supply {
    /// Creates a supply without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        let at = self.position(name).ok()?;
        self.values.get(at).map(|(_, value)| value)
    }

    fn position(&self, name: &str) -> Result<usize, usize> {
        self.values.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: String, value: RawJson) {
        self.added = Added::default();
        match self.position(&name) {
            Ok(known) => self.values[known].1 = value,
            Err(new) => self.values.insert(new, (name, value)),
        }
    }

    /// The names and their values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// The same values.
impl Clone for Supply {
    fn clone(&self) -> Self {
        Self {
            values: self.values.clone(),
            added: Added::default(),
        }
    }
}

impl FromIterator<(String, RawJson)> for Supply {
    fn from_iter<I: IntoIterator<Item = (String, RawJson)>>(values: I) -> Self {
        let mut supply = Self::new();
        for (name, value) in values {
            supply.insert(name, value);
        }
        supply
    }
}

/// The members that were added to the objects of each type that lack them, as text without braces. `None` where an object has to be
/// converted to know it. They are few, and compared sooner than hashed.
#[derive(Debug, Default)]
pub(crate) struct Added(Mutex<Vec<(Lacking, Option<Arc<SharedJson>>)>>);

/// The type of an object, by the address of what is looked at in it, the members that it lacks, and the policy.
type Lacking = (usize, u64, Policy);

/// How many kinds of objects are remembered.
const MOST: usize = 1 << 7;

/// The length from which on a text isn't remembered: what a client says of itself may be long, and goes into each kind.
const LONG: usize = 1 << 14;

impl Added {
    /// The members that are added to such an object: those that were added to the last one, or else what `find` finds.
    pub(crate) fn to(&self, lacking: Lacking, find: impl FnOnce() -> Option<SharedJson>) -> Option<Arc<SharedJson>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == lacking) {
            return known.clone();
        }
        let members = find().map(Arc::new);
        let mut added = lock();
        if added.len() < MOST && members.as_ref().is_none_or(|members| members.text().len() < LONG) {
            added.push((lacking, members.clone()));
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_texts_are_found_once_and_long_ones_are_not_kept() {
        let added = Added::default();
        let lacking = |kind: usize| (kind, 1, Policy::Conform);
        let text = |times: usize| Some(SharedJson::new("a".repeat(times), 0));
        let first = added.to(lacking(0), || text(1)).unwrap();
        assert!(Arc::ptr_eq(&first, &added.to(lacking(0), || None).unwrap()));
        assert!(added.to(lacking(1), || text(LONG)).is_some());
        assert!(added.to(lacking(1), || None).is_none());
        for kind in 2..2 * MOST {
            added.to(lacking(kind), || text(1));
        }
        assert_eq!(added.0.lock().unwrap().len(), MOST);
    }
}
