//! The meta-schemas of the dialects, for documents that refer to them.
//!
//! They are copies from json-schema.org, without annotations.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

const TEXTS: [&str; 2] = [
    include_str!("meta_schemas/draft-07.json"),
    include_str!("meta_schemas/2020-12.json"),
];

static BY_URI: LazyLock<HashMap<String, Value>> = LazyLock::new(|| {
    let parse = |text| serde_json::from_str::<Vec<Value>>(text).unwrap_or_default();
    let with_uri = |schema: Value| {
        let uri = schema.get("$id")?.as_str()?;
        Some((uri.trim_end_matches('#').to_owned(), schema))
    };
    TEXTS.into_iter().flat_map(parse).filter_map(with_uri).collect()
});

/// Returns the meta-schema, or the part of one, with this URI.
pub(super) fn meta_schema(uri: &str) -> Option<&'static Value> {
    BY_URI.get(uri)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    #[test]
    fn all_parts_of_the_meta_schemas_are_known_by_uri() {
        assert_eq!(BY_URI.len(), 9);
        for dialect in [Dialect::Draft07, Dialect::Draft202012] {
            let schema = meta_schema(dialect.uri()).expect("a meta-schema");
            assert_eq!(Dialect::of(schema), Ok(dialect));
        }
    }
}
