//! The revision that a made-up one is like.

use serde_json::Value;

/// A revision that a made-up one is like.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) revision: String,
    pub(crate) official: Value,
    /// The schema that it has instead of the official one.
    pub(crate) edited: Option<Value>,
}
