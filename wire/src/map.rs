//! JSON objects with any keys.

use std::borrow::Cow;

use serde_core::ser::{Serialize, SerializeMap, Serializer};

use crate::decode::Decode;
use crate::error::Decoded;
use crate::open::OpenJson;
use crate::reader::{ALLOCATION, Reader, first_duplicate};

/// The members of an object that its type doesn't declare.
pub type Extra = Map<OpenJson>;

/// A JSON object with any keys, in the order in which they were written.
///
/// Maps are expected to be small: a look-up is a linear search.
#[derive(Debug, Clone)]
pub struct Map<T> {
    pub(crate) entries: Vec<(String, T)>,
}

impl<T> Map<T> {
    /// A map without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value at `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&T> {
        self.iter().find_map(|(other, value)| (other == key).then_some(value))
    }

    /// The value at `key`, mutably.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.entries
            .iter_mut()
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
                self.entries.push((key, value));
                None
            }
        }
    }

    /// Appends an entry that was read, even if there is one with this key.
    pub(crate) fn read(&mut self, key: Cow<'_, str>, value: T, reader: &mut Reader<'_>) -> Decoded<()> {
        reader.charge(ALLOCATION)?;
        reader.push(&mut self.entries, (key.into_owned(), value))
    }

    /// Removes the entry at `key`. The others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<T> {
        let at = self.entries.iter().position(|(other, _)| other == key)?;
        Some(self.entries.remove(at).1)
    }

    /// The entries, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Converts each value, up to the first error.
    ///
    /// # Errors
    /// When `convert` fails.
    pub fn try_map<U, E>(self, mut convert: impl FnMut(&str, T) -> Result<U, E>) -> Result<Map<U>, E> {
        self.try_filter_map(|key, value| convert(key, value).map(Some))
    }

    /// Converts each value, up to the first error, and leaves out the entries for which `convert` returns `None`.
    ///
    /// # Errors
    /// When `convert` fails.
    pub fn try_filter_map<U, E>(self, mut convert: impl FnMut(&str, T) -> Result<Option<U>, E>) -> Result<Map<U>, E> {
        let convert = |(key, value): (String, T)| match convert(&key, value) {
            Ok(value) => value.map(|value| Ok((key, value))),
            Err(error) => Some(Err(error)),
        };
        let entries = self.entries.into_iter().filter_map(convert).collect::<Result<_, E>>()?;
        Ok(Map { entries })
    }
}

impl<T> Default for Map<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Two maps are equal whatever the order of their entries, as JSON objects are.
impl<T: PartialEq> PartialEq for Map<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Into<String>, T> FromIterator<(K, T)> for Map<T> {
    /// Of entries with the same key, the last stays.
    fn from_iter<I: IntoIterator<Item = (K, T)>>(entries: I) -> Self {
        let mut map = Self::new();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
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

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<T: Decode> Decode for Map<T> {
    fn decode(reader: &mut Reader<'_>) -> Decoded<Self> {
        let mut first = reader.open_object()?;
        let mut map = Self::new();
        while let Some(key) = reader.next_key(&mut first)? {
            let value = T::decode(reader).map_err(|error| error.in_member(&key))?;
            map.read(key, value, reader)?;
        }
        match first_duplicate(map.iter().map(|(key, _)| key)) {
            Some(key) => Err(reader.duplicate(key)),
            None => Ok(map),
        }
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
        crate::bridge::deserialize(deserializer)
    }
}
