//! Tests of reading documents and refusing invalid ones.

use mcp_instances::{Error, Instances};
use serde_json::json;

#[test]
fn definitions_are_found_under_both_keywords_and_in_other_definitions() {
    let document = json!({
        "definitions": { "A": { "$ref": "#/$defs/B" } },
        "$defs": { "B": { "type": "array", "items": { "$ref": "#/$defs/B/$defs/a~1b" }, "$defs": { "a/b": { "const": 1 } } } },
    });
    for dialect in [
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let mut document = document.clone();
        document["$schema"] = json!(dialect);
        let instances = Instances::new(&document).unwrap();
        assert_eq!(instances.definitions().collect::<Vec<_>>(), ["A", "B", "B/a/b"]);
        assert_eq!(instances.without_valid_instance(), Vec::<&str>::new());
        assert_eq!(instances.of("B/a/b", 0, 4)[0].pointer, "/$defs/B/$defs/a~1b");
    }
}

#[test]
fn local_references_resolve_in_a_document_with_an_id() {
    let document = json!({
        "$id": "https://example.com/schema",
        "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "type": "null" } },
    });
    assert_eq!(
        Instances::new(&document).unwrap().accepts("A", &json!(null)),
        Some(true)
    );
}

#[test]
fn formats_are_annotations_in_every_dialect() {
    let document = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": { "Uri": { "type": "string", "format": "uri" } },
    });
    let instances = Instances::new(&document).unwrap();
    assert_eq!(instances.accepts("Uri", &json!("not one")), Some(true));
    assert_eq!(instances.accepts("Uri", &json!(1)), Some(false));
    assert_eq!(instances.accepts("Url", &json!(1)), None);
}

#[test]
fn integers_beyond_i64_are_not_made_even_from_constants() {
    let document = json!({ "$defs": { "Huge": { "enum": [u64::MAX, 1] } } });
    let made = Instances::new(&document).unwrap().of("Huge", 0, 10);
    assert!(
        made.iter()
            .all(|instance| !instance.value.is_u64() || instance.value.is_i64()),
        "{made:?}"
    );
    assert!(made.iter().any(|instance| instance.value == json!(1)));
}

#[test]
fn an_unknown_definition_has_no_instances() {
    let instances = Instances::new(&json!({ "$defs": { "A": true } })).unwrap();
    assert_eq!(instances.of("B", 0, 10), []);
}

#[test]
fn a_document_without_definitions_is_refused() {
    assert!(matches!(
        Instances::new(&json!({ "type": "object" })),
        Err(Error::Empty)
    ));
}

#[test]
fn two_definitions_with_the_same_name_are_refused() {
    let document = json!({ "definitions": { "A": true }, "$defs": { "A": false } });
    assert!(matches!(Instances::new(&document), Err(Error::Ambiguous { name, .. }) if name == "A"));
}

#[test]
fn a_reference_without_a_target_in_the_document_is_refused() {
    for reference in ["other.json#/A", "#/$defs/B", "#anchor"] {
        let document = json!({ "$defs": { "A": { "items": [{ "$ref": reference }] } } });
        assert!(matches!(Instances::new(&document), Err(Error::Reference { reference: named }) if named == reference));
    }
}

#[test]
fn an_invalid_schema_is_refused_with_its_pointer() {
    let document = json!({ "$defs": { "A": { "type": "sting" } } });
    assert!(matches!(Instances::new(&document), Err(Error::Schema { pointer, .. }) if pointer == "/$defs/A"));
}
