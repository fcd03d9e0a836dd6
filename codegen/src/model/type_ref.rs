//! References to types.

use std::fmt;

use serde::{Serialize, Serializer};

/// A reference to a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TypeRef {
    Named(String),
    RequestId,
    String,
    Boolean,
    Integer,
    Number,
    Null,
    Any,
    RawObject,
    List(Box<TypeRef>),
    Map(Box<TypeRef>),
    Nullable(Box<TypeRef>),
}

/// Formats the type as in tables and reports: a name, a keyword, `[T]` for an array, `{T}` for an object with any keys,
/// or `T?` for a nullable type.
impl fmt::Display for TypeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = match self {
            Self::Named(name) => name,
            Self::RequestId => "id",
            Self::String => "string",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Null => "null",
            Self::Any => "any",
            Self::RawObject => "object",
            Self::List(inner) => return write!(f, "[{inner}]"),
            Self::Map(inner) => return write!(f, "{{{inner}}}"),
            Self::Nullable(inner) => return write!(f, "{inner}?"),
        };
        f.write_str(keyword)
    }
}

impl Serialize for TypeRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl TypeRef {
    /// Returns the name of this type, if it is a type of the revision.
    pub(super) fn as_named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the innermost type, if it is a type of the revision.
    pub(crate) fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::List(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            _ => None,
        }
    }

    /// Returns the type of its values other than `null`.
    pub(crate) fn not_null(&self) -> &Self {
        match self {
            Self::Nullable(inner) => inner,
            other => other,
        }
    }

    /// Returns the inner types of two types, if both are lists, maps or nullable.
    pub(crate) fn within<'t>(&'t self, other: &'t Self) -> Option<(&'t Self, &'t Self)> {
        match (self, other) {
            (Self::List(inner), Self::List(other))
            | (Self::Map(inner), Self::Map(other))
            | (Self::Nullable(inner), Self::Nullable(other)) => Some((inner, other)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TypeRef;

    #[test]
    fn type_refs_are_formatted_as_in_tables() {
        let item = || Box::new(TypeRef::Named("Item".to_owned()));
        let written = [
            (TypeRef::Nullable(item()), "Item?"),
            (TypeRef::List(Box::new(TypeRef::Map(item()))), "[{Item}]"),
            (TypeRef::RawObject, "object"),
        ];
        for (ty, expected) in written {
            assert_eq!(ty.to_string(), expected);
        }
    }
}
