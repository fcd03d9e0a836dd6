//! The values that a session supplies to conversions.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_wire::{RawJson, SharedJson};

use crate::policy::Policy;

/// Values that some revisions repeat in every message and others don't, by the keys that rules have for them. The
/// caller knows them from the session, whose messages share one supply.
#[derive(Debug, Default)]
pub struct Supply {
    /// The values, sorted by name.
    values: Vec<(String, RawJson)>,
    /// A cache of the members that these values have added to messages.
    pub(crate) added: Added,
}

impl Supply {
    /// Creates a supply without values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a name.
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

    /// Returns the names and their values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }
}

/// Copies the values, but not the cache.
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

/// A cache of the members that are added to objects that lack them, as JSON text without braces. `None` if they depend
/// on the object, which has to be converted then. It is a list, because there are few entries, which are compared
/// faster than hashed.
#[derive(Debug, Default)]
pub(crate) struct Added(Mutex<Vec<(Lacking, Option<Arc<SharedJson>>)>>);

/// The key of the cache: the type of an object, as the address of its `Look`, the members that the object lacks, as
/// bits, and the policy.
type Lacking = (usize, u64, Policy);

/// The maximum number of entries.
const MOST: usize = 1 << 7;

/// The length from which on a text isn't cached: a client's description of itself can be long, and is in many of the
/// texts.
const LONG: usize = 1 << 14;

impl Added {
    /// Returns the members to add to such an object, from the cache or else from `find`.
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
    fn added_members_are_cached_unless_they_are_long_or_too_many() {
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
