//! Comparison of the validator with another implementation.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use mcp_json_schema::Validator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::cases::{CASES, PATTERN_CASES};
use super::{DRAFT_07, DRAFT_2020_12, validator};

/// Compiles a document with the other implementation.
fn peer(document: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .should_validate_formats(false)
        .build(document)
        .unwrap_or_else(|error| panic!("{error}\n{document}"))
}

fn in_dialect(dialect: &str, schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members = members.clone();
            members.insert("$schema".to_owned(), json!(dialect));
            Value::Object(members)
        }
        _ => json!({"$schema": dialect, "allOf": [schema]}),
    }
}

#[test]
fn every_keyword_follows_its_dialect_and_the_other_implementation_agrees() {
    for case in CASES.iter().chain(PATTERN_CASES) {
        let schema: Value = serde_json::from_str(case.schema).expect(case.schema);
        for dialect in case.dialects {
            let document = in_dialect(dialect, &schema);
            let (validator, peer) = (validator(&document), peer(&document));
            for (values, valid) in [(case.accepts, true), (case.refuses, false)] {
                let values: Vec<Value> = serde_json::from_str(values).expect(values);
                for value in values {
                    let violations = validator.validate("#", &value);
                    assert_eq!(violations.is_empty(), valid, "{value} by {document}: {violations:?}");
                    assert_eq!(peer.is_valid(&value), valid, "peer: {value} by {document}");
                }
            }
        }
    }
}

#[test]
#[ignore = "reads ../shared"]
fn instances_of_every_revision_are_validated_as_labelled_by_both_implementations() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    for entry in fs::read_dir(shared.join("instances")).expect("recorded instances") {
        let instances = entry.expect("a readable folder").path();
        let revision = instances.file_stem().expect("a file name");
        let schema = shared.join("schema").join(revision).join("schema.json");
        let schema = fs::read_to_string(schema).expect("the revision's schema");
        let document: Value = serde_json::from_str(&schema).expect("a schema in JSON");
        let container = ["definitions", "$defs"]
            .into_iter()
            .find(|name| document.get(name).is_some())
            .expect("definitions");
        let validator = validator(&document);
        let mut peers = HashMap::new();
        for line in fs::read_to_string(&instances).expect("instances").lines() {
            let instance: Value = serde_json::from_str(line).expect("an instance in JSON");
            let (value, valid) = (&instance["value"], instance["valid"] == true);
            let pointer = format!("#/{container}/{}", instance["type"].as_str().expect("type"));
            let peer = peers.entry(pointer.clone()).or_insert_with(|| {
                let mut document = document.clone();
                document["allOf"] = json!([{"$ref": pointer}]);
                peer(&document)
            });
            let violations = validator.validate(&pointer, value);
            assert_eq!(violations.is_empty(), valid, "{line}: {violations:?}");
            assert_eq!(peer.is_valid(value), valid, "peer: {line}");
        }
    }
}

fn any_name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", ""]).prop_map(str::to_owned)
}

fn any_scalar() -> impl Strategy<Value = Value> {
    let scalars = vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(3),
        json!(0.0),
        json!(-0.0),
        json!(1.0),
        json!(1.5),
        json!(0.1),
        json!(100.0),
        json!(1e300),
        json!(i64::MAX),
        json!(u64::MAX),
        json!(""),
        json!("a"),
        json!("b"),
        json!("ab"),
        json!("😀"),
    ];
    prop::sample::select(scalars)
}

fn any_value() -> impl Strategy<Value = Value> {
    any_scalar().prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((any_name(), inner), 0..4)
                .prop_map(|members| json!(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates a keyword without subschemas, with its value.
fn any_assertion() -> impl Strategy<Value = (&'static str, Value)> {
    let names = || prop::collection::btree_set(any_name(), 0..3).prop_map(|names| json!(names));
    let types = ["object", "array", "string", "number", "integer", "boolean", "null"];
    let targets = ["#", "#/definitions/x", "#/$defs/y", "#/definitions/x", "#/$defs/y"];
    let bounds = vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let counts = vec![
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ];
    let assertions = prop_oneof![
        prop::sample::select(types.to_vec()).prop_map(|name| ("type", json!(name))),
        prop::sample::subsequence(types.to_vec(), 1..4).prop_map(|names| ("type", json!(names))),
        prop::sample::select(targets.to_vec()).prop_map(|target| ("$ref", json!(target))),
        any_value().prop_map(|value| ("const", value)),
        prop::collection::vec(any_value(), 1..4).prop_map(|values| ("enum", json!(values))),
        (
            prop::sample::select(bounds),
            prop::sample::select(vec![json!(0), json!(1.0), json!(1.5), json!(1e300)])
        ),
        // Not 3: the other implementation divides the float nearest to 1e300 by it, and this one the exact number.
        prop::sample::select(vec![json!(1), json!(2.0), json!(0.5), json!(0.1), json!(4)])
            .prop_map(|divisor| ("multipleOf", divisor)),
        (prop::sample::select(counts), (0..3).prop_map(|count| json!(count))),
        any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        names().prop_map(|names| ("required", names)),
        (any_name(), names()).prop_map(|(name, names)| ("dependentRequired", json!({name: names}))),
        (any_name(), names()).prop_map(|(name, names)| ("dependencies", json!({name: names}))),
    ];
    let patterns =
        prop::sample::select(vec!["^a", "b$", "^[ab]*$", "."]).prop_map(|pattern| ("pattern", json!(pattern)));
    if cfg!(feature = "pattern") {
        prop_oneof![9 => assertions, 1 => patterns].boxed()
    } else {
        assertions.boxed()
    }
}

fn any_schema(dialect: &'static str) -> impl Strategy<Value = Value> {
    let plain = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        6 => prop::collection::vec(any_assertion(), 0..3).prop_map(as_schema),
    ];
    plain.prop_recursive(3, 24, 4, move |inner| {
        let single = vec![
            "items",
            "contains",
            "additionalProperties",
            "propertyNames",
            "not",
            "if",
            "then",
            "else",
            "additionalItems",
        ];
        let mut listing = vec!["allOf", "anyOf", "oneOf", "prefixItems"];
        if dialect == DRAFT_07 {
            listing.push("items");
        }
        let mut naming = vec!["properties", "properties", "dependentSchemas", "dependencies"];
        if cfg!(feature = "pattern") {
            // Any name is also a pattern.
            naming.push("patternProperties");
        }
        let list = prop::collection::vec(inner.clone(), 1..4);
        let named = prop::collection::btree_map(any_name(), inner.clone(), 1..3);
        let applicator = prop_oneof![
            (prop::sample::select(single), inner),
            (prop::sample::select(listing), list.prop_map(|list| json!(list))),
            (prop::sample::select(naming), named.prop_map(|named| json!(named))),
        ];
        let keyword = prop_oneof![1 => any_assertion(), 2 => applicator];
        prop::collection::vec(keyword, 1..5).prop_map(as_schema)
    })
}

fn as_schema(keywords: Vec<(&'static str, Value)>) -> Value {
    let named = |(name, value): (&str, Value)| (name.to_owned(), value);
    Value::Object(keywords.into_iter().map(named).collect())
}

fn any_document() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![DRAFT_07, DRAFT_2020_12]).prop_flat_map(|dialect| {
        let schema = || any_schema(dialect);
        (schema(), schema(), schema()).prop_map(move |(root, x, y)| {
            let mut document = in_dialect(dialect, &root);
            document["definitions"] = json!({"x": x});
            document["$defs"] = json!({"y": y});
            document
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_document_has_the_same_verdicts_in_both_implementations(
        document in any_document(),
        values in prop::collection::vec(any_value(), 12),
    ) {
        // A schema that applies itself endlessly has no verdict.
        let Ok(validator) = Validator::new(&document) else { return Ok(()) };
        let peer = peer(&document);
        for value in values {
            let violations = validator.validate("#", &value);
            prop_assert_eq!(
                violations.is_empty(), peer.is_valid(&value), "{} by {}: {:?}", value, document, violations
            );
        }
    }
}
