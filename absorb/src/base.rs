//! The base of a made-up revision.

use serde_json::Value;

/// The base of a made-up revision: the known revision whose schema is edited.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) revision: String,
    pub(crate) official: Value,
    /// Its schema with the constraints that it also gets, if there are any.
    pub(crate) edited: Option<Value>,
}
