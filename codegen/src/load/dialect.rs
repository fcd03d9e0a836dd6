//! Which JSON Schema a document is written in, and where its definitions stand.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::document::Document;
use super::pointer;
use crate::problem::Problem;

/// The objects that definitions stand in. Official schemas have mixed the two spellings, so both count in either dialect.
pub const CONTAINERS: [&str; 2] = ["$defs", "definitions"];

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dialect {
    /// Draft 07, where a `$ref` hides the keywords beside it.
    #[serde(rename = "draft-07")]
    Draft07,
    /// 2020-12.
    #[serde(rename = "2020-12")]
    Draft202012,
}

impl fmt::Display for Dialect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Draft07 => "draft-07",
            Self::Draft202012 => "2020-12",
        })
    }
}

impl Dialect {
    /// The dialect that `$schema` names; 2020-12 where nothing is named, as JSON Schema tools have it.
    ///
    /// # Errors
    ///
    /// `$schema` names something else.
    pub fn of(document: &Document) -> Result<Self, Problem> {
        let Some(named) = document.root().get("$schema") else {
            return Ok(Self::Draft202012);
        };
        let named = named.as_str().unwrap_or_default();
        let address = named.split_once("://").map_or(named, |(_, address)| address);
        match address.trim_end_matches('#') {
            "json-schema.org/draft-07/schema" => Ok(Self::Draft07),
            "json-schema.org/draft/2020-12/schema" => Ok(Self::Draft202012),
            _ => Err(document
                .problem("#/$schema", "this is no dialect that the generator reads")
                .help("draft-07 and 2020-12 are read: http://json-schema.org/draft-07/schema# and https://json-schema.org/draft/2020-12/schema")),
        }
    }
}

/// The definitions at the top of a document, from each container: pointer, name and schema.
pub fn definitions(document: &Document) -> impl Iterator<Item = (String, &str, &Value)> {
    CONTAINERS.into_iter().flat_map(move |container| {
        let members = document.root().get(container).and_then(Value::as_object);
        members.into_iter().flatten().map(move |(name, schema)| {
            (
                pointer::join(&pointer::join("#", container), name),
                name.as_str(),
                schema,
            )
        })
    })
}
