//! Parts that many JSON texts have in common.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// A part of JSON texts that ends with a value. If a [`Preset`](crate::Preset) member has the value, it is decoded once
/// for all texts.
pub struct SharedJson {
    text: String,
    /// The start of the value in the text.
    start: usize,
    decoded: OnceLock<Shared>,
}

/// The first result of decoding the value, and the memory that it took.
struct Shared {
    value: Box<dyn Any + Send + Sync>,
    cost: usize,
}

impl SharedJson {
    /// Creates a part. Its value starts at `start`.
    #[must_use]
    pub fn new(text: String, start: usize) -> Self {
        let decoded = OnceLock::new();
        Self { text, start, decoded }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Returns the decoded value, and the memory that it takes, if it was decoded to this type.
    pub(crate) fn decoded<T: 'static>(&self) -> Option<(&T, usize)> {
        let shared = self.decoded.get()?;
        Some((shared.value.downcast_ref()?, shared.cost))
    }

    /// Caches a decoded value, unless one is cached.
    pub(crate) fn keep<T: Clone + Send + Sync + 'static>(&self, value: &T, cost: usize) {
        self.decoded.get_or_init(|| Shared {
            value: Box::new(value.clone()),
            cost,
        });
    }
}

impl fmt::Debug for SharedJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedJson").field(&self.text).finish()
    }
}
