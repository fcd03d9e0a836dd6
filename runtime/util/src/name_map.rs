//! A map that is sorted by name.

use std::collections::BTreeMap;
use std::ops::Bound;

/// Values by their names, in the order of the names. The type of the tree doesn't depend on that of the values, because
/// the code of a tree is compiled for each type.
#[derive(Debug, Clone)]
pub struct NameMap<V> {
    places: BTreeMap<String, usize>,
    values: Vec<V>,
}

impl<V> Default for NameMap<V> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            values: Vec::new(),
        }
    }
}

impl<V> NameMap<V> {
    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the value with a name.
    pub fn get(&self, name: &str) -> Option<&V> {
        Some(&self.values[*self.places.get(name)?])
    }

    /// Whether there is a value with a name.
    pub fn contains_key(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Adds a value, and returns the one that it replaces.
    pub fn insert(&mut self, name: String, value: V) -> Option<V> {
        if let Some(place) = self.places.get(&name) {
            return Some(std::mem::replace(&mut self.values[*place], value));
        }
        self.places.insert(name, self.values.len());
        self.values.push(value);
        None
    }

    /// Adds a value, unless there is one with this name.
    pub fn add(&mut self, name: &str, value: V) {
        if !self.contains_key(name) {
            self.insert(name.to_owned(), value);
        }
    }

    /// Removes a value, in time linear in the number of values.
    pub fn remove(&mut self, name: &str) -> Option<V> {
        let place = self.places.remove(name)?;
        let removed = self.values.swap_remove(place);
        let moved = self.values.len();
        if let Some(last) = self.places.values_mut().find(|other| **other == moved) {
            *last = place;
        }
        Some(removed)
    }

    /// Returns the names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }

    /// Returns the values, in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.places.values().map(|place| &self.values[*place])
    }

    /// Returns the entries, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.range((Bound::Unbounded, Bound::Unbounded))
    }

    /// Returns the entries in this range of names.
    pub fn range<'m>(
        &'m self,
        names: (Bound<&str>, Bound<&str>),
    ) -> impl Iterator<Item = (&'m str, &'m V)> + use<'m, V> {
        let places = self.places.range::<str, _>(names);
        places.map(|(name, place)| (name.as_str(), &self.values[*place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_name_and_come_in_the_order_of_names() {
        let mut map = NameMap::default();
        for (name, value) in [("c", 3), ("a", 1), ("d", 4), ("b", 2)] {
            assert_eq!(map.insert(name.to_owned(), value), None);
        }
        assert_eq!(map.insert("a".to_owned(), 5), Some(1));
        assert_eq!((map.get("a"), map.get("e")), (Some(&5), None));
        assert!(map.values().eq(&[5, 2, 3, 4]) && map.keys().eq(["a", "b", "c", "d"]));
        let after = (Bound::Excluded("b"), Bound::Unbounded);
        assert!(map.range(after).eq([("c", &3), ("d", &4)]));
    }

    #[test]
    fn removing_a_value_keeps_the_others_under_their_names() {
        let mut map = NameMap::default();
        for (name, value) in [("c", 3), ("a", 1), ("b", 2)] {
            map.insert(name.to_owned(), value);
        }
        assert_eq!((map.remove("c"), map.remove("c")), (Some(3), None));
        assert_eq!((map.get("a"), map.get("b")), (Some(&1), Some(&2)));
        assert_eq!((map.remove("b"), map.remove("a")), (Some(2), Some(1)));
        assert!(map.is_empty());
    }
}
