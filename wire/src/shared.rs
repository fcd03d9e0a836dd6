//! A part that many JSON texts have in common.

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

/// A part of JSON texts that ends with a value. Where a [`Preset`](crate::Preset) member has the value, it is decoded once for all of them.
pub struct SharedJson {
    text: String,
    /// Where the value begins in the text.
    start: usize,
    decoded: OnceLock<Shared>,
}

/// What the value was decoded to first, and the memory that it took.
struct Shared {
    value: Box<dyn Any + Send + Sync>,
    cost: usize,
}

impl SharedJson {
    /// A text. The value begins at `start`.
    #[must_use]
    pub fn new(text: String, start: usize) -> Self {
        let decoded = OnceLock::new();
        Self { text, start, decoded }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// The value, and the memory that it takes, if it was decoded to this type.
    pub(crate) fn decoded<T: 'static>(&self) -> Option<(&T, usize)> {
        let shared = self.decoded.get()?;
        Some((shared.value.downcast_ref()?, shared.cost))
    }

    /// Keeps what the value was decoded to, unless something is kept.
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
