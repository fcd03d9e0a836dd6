//! Schemas and values whose validation would take unlimited time without memoization and limits.

use mcp_json_schema::{Validator, ViolationKind};
use serde_json::{Map, Value, json};

use super::{problems, validator};

/// Returns a schema of `levels` definitions, each of which refers to the next one twice by `keyword`.
fn doubled(levels: usize, keyword: &str, last: Value) -> Value {
    let reference = |level: usize| json!({"$ref": format!("#/$defs/{level}")});
    let definition = |level: usize| {
        let next = reference(level + 1);
        (level.to_string(), json!({keyword: [next, next]}))
    };
    let mut definitions: Map<String, Value> = (0..levels).map(definition).collect();
    definitions.insert(levels.to_string(), last);
    json!({"$defs": definitions, "$ref": "#/$defs/0"})
}

/// Returns a schema in which each of `levels` definitions refers to the next one.
fn chained(levels: usize) -> Value {
    let definition = |level: usize| {
        (
            level.to_string(),
            json!({"$ref": format!("#/$defs/{}", (level + 1) % levels)}),
        )
    };
    let mut definitions: Map<String, Value> = (0..levels).map(definition).collect();
    definitions.insert((levels - 1).to_string(), json!({"type": "string"}));
    json!({"$defs": definitions, "$ref": "#/$defs/0"})
}

/// Without memoization, 2^60 validations.
#[test]
fn doubled_references_are_followed_once_for_any_value() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for value in [
            json!("a"),
            json!(1),
            json!(true),
            json!(null),
            json!([1]),
            json!({"a": 1}),
        ] {
            let is_valid = |last: Value| {
                let found = validator(&doubled(60, keyword, last)).validate("#", &value);
                assert!(found.iter().all(|it| it.kind == ViolationKind::Refused), "{found:?}");
                found.is_empty()
            };
            // Two equal alternatives both fit.
            assert_eq!(
                is_valid(json!({"minLength": 0})),
                keyword != "oneOf",
                "{keyword} {value}"
            );
            assert!(!is_valid(json!({"enum": []})), "{keyword} {value}");
        }
    }
}

#[test]
fn doubled_references_to_a_member_name_and_to_a_member_are_followed_once() {
    let doubled = doubled(60, "allOf", json!({"type": "string"}));
    let mut names = doubled.clone();
    names["$ref"].take();
    let names = json!({"$defs": names["$defs"], "propertyNames": {"$ref": "#/$defs/0"}});
    assert!(validator(&names).validate("#", &json!({"a": 1, "b": 2})).is_empty());
    let members = json!({"$defs": doubled["$defs"], "unevaluatedProperties": false, "allOf": [{"$ref": "#/$defs/60"}]});
    assert_eq!(validator(&members).validate("#", &json!({"a": 1})).len(), 2);
}

/// The members that a schema evaluates are determined along each reference.
#[test]
fn doubled_references_next_to_unevaluated_members_are_followed_once() {
    let mut schema = doubled(60, "allOf", json!({"properties": {"a": true}}));
    schema["unevaluatedProperties"] = json!(false);
    assert!(validator(&schema).validate("#", &json!({"a": 1})).is_empty());
    assert_eq!(validator(&schema).validate("#", &json!({"b": 1})).len(), 1);
}

/// The intended alternative is determined along each reference.
#[test]
fn the_violation_of_doubled_alternatives_is_explained_in_bounded_time() {
    let tagged = json!({"properties": {"type": {"enum": ["a", "b"]}}, "required": ["type"], "not": {}});
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let mut schema = doubled(60, keyword, tagged.clone());
        schema["anyOf"] = json!([{"$ref": "#/$defs/0"}, {"$ref": "#/$defs/1"}]);
        for tag in ["a", "c"] {
            assert!(!validator(&schema).validate("#", &json!({"type": tag})).is_empty());
        }
    }
}

#[test]
fn a_validation_that_takes_too_many_steps_reports_the_place_where_it_ended() {
    let rules: Vec<Value> = (0..5_000).map(|bound| json!({"minLength": bound % 2})).collect();
    let schema = validator(&json!({"properties": {"list": {"items": {"allOf": rules}}}}));
    let list = |length| json!({ "list": vec!["text"; length] });
    assert_eq!(schema.validate("#", &list(100)), []);
    let found = schema.validate("#", &list(100_000));
    let [unfinished] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(unfinished.kind, ViolationKind::Unfinished);
    let path = unfinished.path.to_string();
    assert!(path.starts_with("list["), "{path}");
    assert!(
        unfinished.schema.starts_with("#/properties/list/items"),
        "{}",
        unfinished.schema
    );
    assert!(
        unfinished.expected.contains("50000000 steps"),
        "{}",
        unfinished.expected
    );
}

/// A validation that has run out of steps isn't treated as a refusal, which `not` would invert.
#[test]
fn a_validation_that_takes_too_many_steps_accepts_nothing() {
    // All names count as steps for each object. Without the member, they aren't looked up.
    let names: Vec<String> = (0..60_000).map(|name| name.to_string()).collect();
    let costly = json!({"items": {"dependentRequired": {"member": names}}});
    let list = json!(vec![json!({}); 1_000]);
    assert_eq!(validator(&costly).validate("#", &json!([{}])), []);
    for schema in [
        json!({"not": costly}),
        json!({"anyOf": [{"not": costly}, true]}),
        json!({"if": costly, "then": true, "else": true}),
    ] {
        let found = validator(&schema).validate("#", &list);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].kind, ViolationKind::Unfinished);
    }
}

/// Each reference is a call on the stack.
#[test]
fn a_chain_of_references_beyond_the_limit_ends_with_an_error() {
    assert_eq!(validator(&chained(1_000)).validate("#", &json!("a")), []);
    let chained = chained(10_000);
    let mut beside = json!({"$defs": chained["$defs"]});
    beside["anyOf"] = json!([{"$ref": "#/$defs/0"}, {"$ref": "#/$defs/1"}]);
    for schema in [chained, beside] {
        let validator = validator(&schema);
        for value in [json!("a"), json!({"a": 1})] {
            let found = validator.validate("#", &value);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].kind, ViolationKind::Unfinished);
            assert!(found[0].expected.contains("1024 schemas"), "{}", found[0].expected);
        }
    }
}

#[test]
fn a_long_list_is_validated_by_a_schema_of_many_members() {
    let properties: Map<String, Value> = (0..50)
        .map(|at| (format!("p{at}"), json!({"type": "integer"})))
        .collect();
    let member: Map<String, Value> = (0..50).map(|at| (format!("p{at}"), json!(at))).collect();
    let schema = validator(&json!({"items": {"properties": properties, "required": ["p1", "p2"]}}));
    assert_eq!(
        schema.validate("#", &Value::from(vec![Value::from(member); 20_000])),
        []
    );
}

#[cfg(feature = "pattern")]
#[test]
fn a_pattern_that_is_too_large_is_refused() {
    let letters = r"\p{L}";
    let nested = |depth| (0..depth).fold("a".to_owned(), |inner, _| format!("({inner}{{100}})"));
    for pattern in [
        format!("{letters}{{1000}}"),
        format!("({letters}{{100}}){{10}}"),
        format!("{letters}{{1000,}}"),
        format!("{letters}{{0,1000}}"),
        letters.repeat(100_000),
        format!("[{}]", letters.repeat(100_000)),
        nested(5),
        "a{99999999999999999999}".to_owned(),
    ] {
        let refused = Validator::new(&json!({ "pattern": pattern })).expect_err("a large pattern");
        assert!(refused.to_string().contains("too large"), "{refused}");
    }
    // The characters of a class are gathered only once, which takes half a second in a debug build.
    let patterns: Vec<Value> = (0..1_000)
        .map(|_| json!({"pattern": format!("^{letters}+$")}))
        .collect();
    assert!(Validator::new(&json!({ "anyOf": patterns })).is_ok());
    let braces = "{".repeat(100_000);
    assert!(Validator::new(&json!({ "pattern": &braces[..10_000] })).is_ok());
    assert!(Validator::new(&json!({ "pattern": braces })).is_err());
}

/// The engine takes time proportional to the text and to the pattern.
#[cfg(feature = "pattern")]
#[test]
fn matching_a_large_pattern_counts_toward_the_limit_of_steps() {
    let schema = validator(&json!({"items": {"pattern": "^(a{0,1000}){10}!$"}}));
    assert_eq!(schema.validate("#", &json!(["a".repeat(1_000) + "!"])), []);
    // The steps are counted before the match, which isn't made.
    let found = schema.validate("#", &json!(["a".repeat(50_000)]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, ViolationKind::Unfinished);
}

/// Returns a schema whose only property has a long name, and this schema.
fn under_a_long_name(bytes: usize, schema: Value) -> Value {
    json!({"properties": {"a".repeat(bytes): schema}})
}

/// Each subschema has its pointer, so that these would take more memory than the schema by any factor.
#[test]
fn a_schema_whose_pointers_and_uris_are_too_long_is_refused() {
    let many = |count: usize, schema: Value| json!({"allOf": vec![schema; count]});
    assert!(Validator::new(&under_a_long_name(4_000, many(1_000, json!(true)))).is_ok());
    let inner: Vec<Value> = (0..10_000).map(|index| json!({"$id": index.to_string()})).collect();
    for schema in [
        under_a_long_name(10_000, json!(true)),
        under_a_long_name(8_000, many(10_000, json!(true))),
        json!({"$id": format!("https://example.org/{}/", "a".repeat(8_000)), "$defs": {"a": {"allOf": inner}}}),
        json!({
            "$defs": {"a".repeat(8_000): {"$id": "https://example.org/a"}},
            "allOf": vec![json!({"$ref": "https://example.org/a"}); 10_000],
        }),
    ] {
        let found = problems(schema);
        assert!(
            found[0].starts_with("#: the pointers, URIs and patterns"),
            "{}",
            found[0]
        );
        assert_eq!(found.len(), 1);
    }
}

#[test]
fn only_the_first_problems_of_a_schema_are_listed() {
    assert_eq!(
        problems(under_a_long_name(4_000, json!({"required": vec![1; 200_000]}))).len(),
        1_000
    );
    let cyclic = |index: usize| (index.to_string(), json!({"$ref": format!("#/$defs/{index}")}));
    let cycles: Map<String, Value> = (0..50_000).map(cyclic).collect();
    assert_eq!(problems(json!({ "$defs": cycles })).len(), 1_000);
}

/// Each schema could be in a dynamic scope with all of them.
#[test]
fn many_anchors_take_linear_time() {
    for keyword in ["$anchor", "$dynamicAnchor"] {
        let anchored = |index: usize| (index.to_string(), json!({keyword: format!("a{index}")}));
        let definitions: Map<String, Value> = (0..100_000).map(anchored).collect();
        assert!(validator(&json!({ "$defs": definitions })).has("#/$defs/1"));
    }
}

/// A pattern can take more memory than its text by any factor.
#[cfg(feature = "pattern")]
#[test]
fn a_schema_whose_patterns_are_too_large_together_is_refused() {
    let large = |index: usize| json!({"pattern": format!("a{{500}}{index}")});
    assert!(Validator::new(&json!({"allOf": (0..10).map(large).collect::<Vec<_>>()})).is_ok());
    let found = problems(json!({"allOf": (0..100_000).map(large).collect::<Vec<_>>()}));
    assert!(
        found[0].starts_with("#: the pointers, URIs and patterns"),
        "{}",
        found[0]
    );
}
