//! JSON objects with any keys.

use std::borrow::Cow;
use std::fmt;
use std::mem::{ManuallyDrop, take};

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use crate::decode::Decode;
use crate::error::Decoded;
use crate::open::RawJson;
use crate::reader::{ALLOCATION, Reader};

/// The members of an object that its type doesn't declare.
pub type Extra = Map<RawJson>;

/// A JSON object with any keys, in the order in which they were written.
///
/// Maps are expected to be small: a look-up is a linear search.
pub struct Map<T> {
    /// [`Drop`] drops them, so that a type with a map only contains a call.
    entries: ManuallyDrop<Entries<T>>,
}

/// `None` if there are no entries, as in most maps. The box makes it one word in size.
type Entries<T> = Option<Box<Vec<(String, T)>>>;

impl<T> Map<T> {
    /// Creates a map without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: ManuallyDrop::new(None),
        }
    }

    fn of(entries: Vec<(String, T)>) -> Self {
        Self {
            entries: ManuallyDrop::new((!entries.is_empty()).then(|| Box::new(entries))),
        }
    }

    fn entries(&self) -> &[(String, T)] {
        self.entries.as_deref().map_or(&[], Vec::as_slice)
    }

    fn entries_mut(&mut self) -> &mut Vec<(String, T)> {
        self.entries.get_or_insert_default()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Returns the value at `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.iter().find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Returns the value at `key`, mutably.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.iter_mut()
            .find_map(|(other, value)| (other == key).then_some(value))
    }

    /// Whether there is an entry at `key`.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Inserts `value` at `key`, and returns the value that it replaces. A new key goes to the end.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<T>) -> Option<T> {
        let (key, value) = (key.into(), value.into());
        match self.get_mut(&key) {
            Some(place) => Some(std::mem::replace(place, value)),
            None => {
                self.entries_mut().push((key, value));
                None
            }
        }
    }

    /// Appends an entry that was read, without a check for duplicates.
    pub(crate) fn read(&mut self, key: Cow<'_, str>, value: T, reader: &mut Reader<'_>) -> Decoded<()> {
        reader.charge(ALLOCATION)?;
        reader.push(self.entries_mut(), (key.into_owned(), value))
    }

    /// Removes the entry at `key`. The others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<T> {
        let at = self.entries().iter().position(|(other, _)| other == key)?;
        Some(self.entries_mut().remove(at).1)
    }

    /// Returns the entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> + Clone {
        self.entries().iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the entries, in order, with mutable values.
    pub fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut T)> {
        let entries = self.entries.as_deref_mut().map_or(&mut [][..], Vec::as_mut_slice);
        entries.iter_mut().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns the keys, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// Returns the values, in order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &T> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the values, in order, mutably.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut T> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// Removes the entries for which `keep` is `false`.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut T) -> bool) {
        if let Some(entries) = &mut *self.entries {
            entries.retain_mut(|(key, value)| keep(key, value));
        }
    }
}

impl<T> Drop for Map<T> {
    fn drop(&mut self) {
        if self.entries.is_some() {
            drop_entries(&mut self.entries);
        }
    }
}

/// Drops entries. Not inline: the code would be in each of the many types that have a map, and most maps are empty.
#[inline(never)]
fn drop_entries<T>(entries: &mut ManuallyDrop<Entries<T>>) {
    drop(ManuallyDrop::into_inner(take(entries)));
}

impl<T: Clone> Clone for Map<T> {
    fn clone(&self) -> Self {
        Self::of(self.entries().to_vec())
    }
}

impl<T: fmt::Debug> fmt::Debug for Map<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("entries", &self.entries()).finish()
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The order of entries doesn't matter, as in JSON objects.
impl<T: PartialEq> PartialEq for Map<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Map<T> {
    /// The last of several entries with the same key counts.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Into<String>, T> Extend<(K, T)> for Map<T> {
    /// Inserts each entry, which replaces one with the same key.
    fn extend<I: IntoIterator<Item = (K, T)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Into<String>, T, const N: usize> From<[(K, T); N]> for Map<T> {
    fn from(entries: [(K, T); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<T> IntoIterator for Map<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(mut self) -> Self::IntoIter {
        self.entries
            .take()
            .map(|entries| *entries)
            .unwrap_or_default()
            .into_iter()
    }
}

/// The iterator over the entries of a [`Map`] by reference.
type Iter<'m, T> = std::iter::Map<std::slice::Iter<'m, (String, T)>, fn(&'m (String, T)) -> (&'m str, &'m T)>;

impl<'m, T> IntoIterator for &'m Map<T> {
    type Item = (&'m str, &'m T);
    type IntoIter = Iter<'m, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries().iter().map(|(key, value)| (key, value))
    }
}

impl<T: Decode> Decode for Map<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut first = reader.open_object()?;
        let mut entries = Vec::new();
        while let Some(key) = reader.next_key(&mut first)? {
            let value = reader.decode().map_err(|error| error.in_member(&key))?;
            reader.charge(ALLOCATION)?;
            reader.push(&mut entries, (key.into_owned(), value))?;
        }
        reader.check_names(entries.iter().map(|(key, _)| key.as_str()))?;
        Ok(Self::of(entries))
    }
}

impl<T: Serialize> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, T: Decode> serde_core::Deserialize<'de> for Map<T> {
    fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::serde_support::deserialize(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::Map;

    #[test]
    fn keys_and_values_come_in_order_and_values_can_change() {
        let mut map = Map::from([("b", 1), ("a", 2), ("c", 3)]);
        map.extend([("a", 5), ("d", 4)]);
        assert_eq!(map.keys().collect::<Vec<_>>(), ["b", "a", "c", "d"]);
        for value in map.values_mut() {
            *value *= 10;
        }
        map.retain(|key, value| {
            *value += 1;
            key != "c"
        });
        assert_eq!(map.values().collect::<Vec<_>>(), [&11, &51, &41]);
        for (key, value) in map.iter_mut() {
            *value -= i64::from(key == "d");
        }
        let mut seen = Vec::new();
        for (key, value) in &map {
            seen.push(format!("{key}{value}"));
        }
        assert_eq!(seen, ["b11", "a51", "d40"]);
    }
}
