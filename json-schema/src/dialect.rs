//! The dialects of JSON Schema.

use std::fmt;
use std::str::FromStr;

use serde_core::de::{Deserialize, Deserializer, Error};
use serde_core::ser::{Serialize, Serializer};
use serde_json::Value;

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// Draft-07. The keywords next to a `$ref` are ignored.
    Draft07,
    /// 2020-12.
    Draft202012,
}

/// The error of a dialect that is neither draft-07 nor 2020-12.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownDialect;

impl Dialect {
    const ALL: [Self; 2] = [Self::Draft07, Self::Draft202012];

    /// Returns the dialect that the document's `$schema` names, or 2020-12 if there is no `$schema`.
    ///
    /// # Errors
    /// When `$schema` names another dialect.
    pub fn of(document: &Value) -> Result<Self, UnknownDialect> {
        match document.get("$schema") {
            None => Ok(Self::Draft202012),
            Some(uri) => uri.as_str().and_then(Self::from_uri).ok_or(UnknownDialect),
        }
    }

    /// Returns the dialect whose meta-schema has this URI, with or without an empty fragment.
    #[must_use]
    pub fn from_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let (scheme, rest) = uri.split_once("://")?;
        let is = |dialect: &Self| dialect.uri().split_once("://").is_some_and(|(_, known)| known == rest);
        Self::ALL
            .into_iter()
            .find(is)
            .filter(|_| matches!(scheme, "http" | "https"))
    }

    /// Returns the URI of its meta-schema, without a fragment.
    #[must_use]
    pub fn uri(self) -> &'static str {
        match self {
            Self::Draft07 => "http://json-schema.org/draft-07/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// Whether a keyword that contains schemas belongs to this dialect. Documents mix `definitions` and `$defs`, and
    /// still use `dependencies`, so these belong to both.
    #[must_use]
    pub fn knows(self, keyword: &str) -> bool {
        match self {
            Self::Draft07 => !matches!(
                keyword,
                "contentSchema" | "dependentSchemas" | "prefixItems" | "unevaluatedItems" | "unevaluatedProperties"
            ),
            Self::Draft202012 => keyword != "additionalItems",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Draft07 => "draft-07",
            Self::Draft202012 => "2020-12",
        }
    }
}

/// Writes `draft-07` or `2020-12`.
impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Parses `draft-07` or `2020-12`.
impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let named = Self::ALL.into_iter().find(|dialect| dialect.name() == name);
        named.ok_or(UnknownDialect)
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Dialect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("neither draft-07 nor 2020-12")
    }
}

impl std::error::Error for UnknownDialect {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_names_its_dialect_by_the_uri_of_the_meta_schema() {
        for (uri, dialect) in [
            ("http://json-schema.org/draft-07/schema#", Ok(Dialect::Draft07)),
            ("https://json-schema.org/draft-07/schema", Ok(Dialect::Draft07)),
            ("https://json-schema.org/draft/2020-12/schema", Ok(Dialect::Draft202012)),
            ("http://json-schema.org/draft-04/schema#", Err(UnknownDialect)),
            ("draft-07", Err(UnknownDialect)),
        ] {
            assert_eq!(Dialect::of(&json!({ "$schema": uri })), dialect, "{uri}");
        }
        assert_eq!(Dialect::of(&json!({})), Ok(Dialect::Draft202012));
        assert_eq!(Dialect::of(&json!({"$schema": 7})), Err(UnknownDialect));
    }

    #[test]
    fn a_dialect_is_written_and_read_by_its_name() {
        for dialect in Dialect::ALL {
            let name = serde_json::to_string(&dialect).unwrap();
            assert_eq!(name, format!("\"{dialect}\""));
            assert_eq!(serde_json::from_str::<Dialect>(&name).unwrap(), dialect);
        }
        assert!(serde_json::from_str::<Dialect>("\"draft-04\"").is_err());
    }
}
