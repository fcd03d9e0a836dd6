//! Values that a session knows.

use std::collections::BTreeMap;

use mcp_wire::RawJson;

use crate::engine::added::Added;

/// Values that some revisions repeat in every message and others don't, by the names that rules have for them. The caller
/// knows them from the session, whose messages share one supply.
#[derive(Debug, Default)]
pub struct Supply {
    values: BTreeMap<String, RawJson>,
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
        self.values.get(name)
    }

    /// Sets the value of a name.
    pub fn insert(&mut self, name: String, value: RawJson) {
        self.added = Added::default();
        self.values.insert(name, value);
    }

    /// The values, in the order of their names.
    pub fn values(&self) -> impl Iterator<Item = &RawJson> {
        self.values.values()
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
        Self {
            values: values.into_iter().collect(),
            added: Added::default(),
        }
    }
}
