//! The canonical form of ingested schemas, so that a change of a schema is a small diff.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// JSON with sorted names, two spaces a level and a newline at the end.
pub(super) fn canonical_json(value: &Value) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(&Sorted(value))?;
    text.push('\n');
    Ok(text)
}

/// Sorts explicitly, because the order of serde_json's maps depends on its features.
struct Sorted<'value>(&'value Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let members: BTreeMap<_, _> = members.iter().map(|(name, value)| (name, Self(value))).collect();
                members.serialize(serializer)
            }
            Value::Array(elements) => serializer.collect_seq(elements.iter().map(Sorted)),
            scalar => scalar.serialize(serializer),
        }
    }
}
