//! Values of a table by name.

use rustc_hash::FxHashMap;

/// A text of a table.
pub(crate) type Text = &'static str;

/// Values by name. The hash table has the same type for all types of values, so that its code is compiled only once.
/// Its names are those of a table, and peers can't add others, so its hash function is a fast one.
#[derive(Debug, Clone)]
pub(crate) struct Named<T> {
    places: FxHashMap<Text, usize>,
    entries: Vec<(Text, T)>,
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self {
            places: FxHashMap::default(),
            entries: Vec::new(),
        }
    }
}

impl<T> Named<T> {
    /// Adds a value, unless there is one with this name.
    pub(crate) fn add(&mut self, name: Text, value: T) {
        let next = self.entries.len();
        if *self.places.entry(name).or_insert(next) == next {
            self.entries.push((name, value));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.entry(name).map(|(_, value)| value)
    }

    /// Returns a value, with its name as a text of the table.
    pub(crate) fn entry(&self, name: &str) -> Option<&(Text, T)> {
        Some(&self.entries[*self.places.get(name)?])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Text, T)> {
        self.entries.iter()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = Text> {
        self.entries.iter().map(|(name, _)| *name)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|(_, value)| value)
    }
}
