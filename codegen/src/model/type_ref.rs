//! Types, seen from where they are used.

use serde::Serialize;

/// A type, seen from where it is used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeRef {
    /// A type of the revision.
    Named(String),
    /// The id of a request.
    RequestId,
    /// A string.
    String,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// `null`.
    Null,
    /// Any JSON.
    Any,
    /// Any JSON object.
    OpenObject,
    /// An array.
    List(Box<TypeRef>),
    /// An object with any keys.
    Map(Box<TypeRef>),
    /// A type, or null.
    Nullable(Box<TypeRef>),
}

impl TypeRef {
    /// The type of the revision that this leads to, whatever stands around it.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            _ => None,
        }
    }
}
