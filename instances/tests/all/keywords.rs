//! Tests that values are built according to each keyword, instead of only being validated.

use std::collections::BTreeSet;

use mcp_instances::{Instance, Instances};
use serde_json::{Value, json};

/// Returns instances of a definition `T`, in a document with others that it can refer to.
fn made_beside(schema: Value, others: Value) -> Vec<Instance> {
    let mut definitions = others;
    definitions["T"] = schema;
    let instances = Instances::new(&json!({ "$defs": definitions })).unwrap();
    instances.of("T", 1, 60)
}

/// Returns the valid instances of a schema, and checks that there are at least `least`.
fn valid(least: usize, schema: Value) -> Vec<Value> {
    valid_beside(least, schema, json!({}))
}

fn valid_beside(least: usize, schema: Value, others: Value) -> Vec<Value> {
    let made = made_beside(schema, others);
    let valid: Vec<Value> = made
        .into_iter()
        .filter(|instance| instance.valid)
        .map(|instance| instance.value)
        .collect();
    assert!(valid.len() >= least, "only {valid:?}");
    valid
}

fn invalid(schema: Value) -> Vec<Value> {
    let made = made_beside(schema, json!({}));
    made.into_iter()
        .filter(|instance| !instance.valid)
        .map(|instance| instance.value)
        .collect()
}

fn has(values: &[Value], value: &Value) -> bool {
    values.contains(value)
}

#[test]
fn all_types_of_a_list_of_types_occur() {
    let values = valid(
        10,
        json!({ "type": ["null", "boolean", "integer", "string", "array", "object"] }),
    );
    for fits in [
        Value::is_null,
        Value::is_boolean,
        Value::is_i64,
        Value::is_string,
        Value::is_array,
        Value::is_object,
    ] {
        assert!(values.iter().any(fits), "{values:?}");
    }
}

#[test]
fn all_listed_values_occur_and_unlisted_ones_are_refused() {
    let listed = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let values = valid(listed.len(), json!({ "enum": listed }));
    assert!(listed.iter().all(|value| has(&values, &json!(value))));
    assert!(invalid(json!({ "enum": listed })).iter().any(Value::is_string));
}

#[test]
fn an_optional_constant_is_present_in_some_instances_and_absent_in_others() {
    let schema = json!({ "type": "object", "properties": { "kind": { "const": "k" } } });
    let values = valid(3, schema);
    assert!(values.iter().any(|value| value.get("kind").is_some()));
    assert!(values.iter().any(|value| value.get("kind").is_none()));
}

#[test]
fn a_wrong_constant_is_among_the_mutants() {
    let schema = json!({ "type": "object", "properties": { "kind": { "const": "kind" } }, "required": ["kind"] });
    let refused = invalid(schema);
    assert!(refused.iter().any(|value| value["kind"].is_string()), "{refused:?}");
    assert!(
        refused
            .iter()
            .any(|value| value.is_object() && value.get("kind").is_none()),
        "{refused:?}"
    );
}

#[test]
fn integers_are_within_their_bounds_and_reach_them() {
    let values = valid(5, json!({ "type": "integer", "minimum": 3, "exclusiveMaximum": 9 }));
    assert!(has(&values, &json!(3)) && has(&values, &json!(8)), "{values:?}");
}

#[test]
fn unbounded_integers_include_the_extremes_and_whole_floats() {
    let values: Vec<Value> = valid(10, json!({ "type": "integer" }));
    for extreme in [json!(i64::MAX), json!(i64::MIN), json!(0), json!(-1)] {
        assert!(has(&values, &extreme), "{extreme} not in {values:?}");
    }
    assert!(values.iter().any(Value::is_f64), "{values:?}");
}

#[test]
fn numbers_respect_multiple_of_and_exclusive_bounds() {
    valid(5, json!({ "type": "integer", "multipleOf": 7, "minimum": 100 }));
    valid(
        3,
        json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001 }),
    );
    valid(
        5,
        json!({ "type": "number", "multipleOf": 0.25, "minimum": 10, "maximum": 20 }),
    );
}

#[test]
fn numbers_out_of_bounds_are_refused() {
    let refused = invalid(json!({ "type": "number", "minimum": 0, "maximum": 1 }));
    assert!(refused.iter().any(Value::is_number), "{refused:?}");
}

#[test]
fn string_lengths_are_counted_in_characters() {
    let schema = json!({ "type": "string", "minLength": 5, "maxLength": 7 });
    valid(5, schema.clone());
    let refused = invalid(schema);
    assert!(
        refused
            .iter()
            .any(|value| value.as_str().is_some_and(|text| text.chars().count() > 7)),
        "{refused:?}"
    );
    assert!(
        refused
            .iter()
            .any(|value| value.as_str().is_some_and(|text| text.chars().count() < 5)),
        "{refused:?}"
    );
}

#[test]
fn patterns_of_the_common_syntax_are_sampled() {
    let patterns = [
        r"^[a-z][a-z0-9_-]{3,12}$",
        r"^(?:\d{4})-(0[1-9]|1[0-2])$",
        r"^https?://[^/\s]+/\w+\.json$",
        r"^([a-zA-Z]+\.)*[a-zA-Z]+/?[A-Z]?$",
        r"end$",
    ];
    for pattern in patterns {
        valid(1, json!({ "type": "string", "pattern": pattern }));
    }
    valid(5, json!({ "type": "string", "pattern": "^[ab]+$", "minLength": 20 }));
}

#[test]
fn a_pattern_that_cannot_be_sampled_has_no_valid_instance() {
    let document =
        json!({ "$defs": { "T": { "type": "string", "pattern": r"^(?=q)q\b{1,2}$(?!.)" }, "Never": false } });
    let instances = Instances::new(&document).unwrap();
    assert_eq!(instances.without_valid_instance(), ["Never", "T"]);
    assert!(instances.of("Never", 0, 9).iter().all(|instance| !instance.valid));
}

#[test]
fn array_lengths_are_within_their_bounds_and_reach_them() {
    let schema = json!({ "type": "array", "items": { "type": "integer" }, "minItems": 1, "maxItems": 3 });
    let sizes: BTreeSet<usize> = valid(5, schema.clone())
        .iter()
        .map(|value| value.as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, BTreeSet::from([1, 2, 3]));
    let refused = invalid(schema);
    assert!(
        refused
            .iter()
            .any(|value| value.as_array().is_some_and(|items| items.len() > 3)),
        "{refused:?}"
    );
    assert!(has(&refused, &json!([])), "{refused:?}");
}

#[test]
fn tuples_are_supported_in_both_dialects() {
    let tuple = json!([{ "const": "a" }, { "type": "integer" }]);
    valid(
        3,
        json!({ "type": "array", "prefixItems": tuple, "items": false, "minItems": 2 }),
    );
    let old = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": { "T": { "type": "array", "items": tuple, "additionalItems": false, "minItems": 2 } },
    });
    let made = Instances::new(&old).unwrap().of("T", 1, 20);
    assert!(made.iter().filter(|instance| instance.valid).count() >= 3, "{made:?}");
}

#[test]
fn unique_items_and_contains_are_satisfied() {
    valid(
        5,
        json!({ "type": "array", "items": { "enum": [1, 2, 3, 4] }, "uniqueItems": true, "minItems": 3 }),
    );
    valid(
        5,
        json!({ "type": "array", "contains": { "const": "x" }, "minContains": 2, "minItems": 3 }),
    );
}

#[test]
fn maps_have_entries_with_valid_names() {
    let schema = json!({
        "type": "object",
        "propertyNames": { "type": "string", "pattern": "^k[0-9]+$" },
        "additionalProperties": { "type": "integer" },
        "minProperties": 2,
        "maxProperties": 4,
    });
    let sizes: BTreeSet<usize> = valid(8, schema)
        .iter()
        .map(|value| value.as_object().unwrap().len())
        .collect();
    assert!(
        sizes.is_subset(&BTreeSet::from([2, 3, 4])) && sizes.len() > 1,
        "{sizes:?}"
    );
}

#[test]
fn empty_maps_and_maps_with_entries_occur() {
    let values = valid(
        5,
        json!({ "type": "object", "additionalProperties": { "type": "string" } }),
    );
    assert!(has(&values, &json!({})));
    assert!(
        values.iter().any(|value| value.as_object().unwrap().len() > 1),
        "{values:?}"
    );
}

#[test]
fn pattern_properties_name_members() {
    let schema = json!({
        "type": "object",
        "patternProperties": { "^n_": { "type": "integer" } },
        "additionalProperties": false,
    });
    assert!(valid(5, schema).iter().any(|value| value != &json!({})));
}

#[test]
fn undeclared_members_occur_only_where_they_are_allowed() {
    let properties = json!({ "a": { "type": "integer" }, "b": { "type": "boolean" }, "c": { "enum": [1, 2, 3] } });
    let undeclared = |value: &Value| value.as_object().unwrap().keys().any(|name| name.starts_with("x-"));
    let open = json!({ "type": "object", "properties": properties });
    assert!(valid(10, open).iter().any(undeclared));
    let closed = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    assert!(!valid(10, closed).iter().any(undeclared));
}

#[test]
fn dependent_members_occur_together() {
    let member = json!({ "type": "integer" });
    let properties = json!({ "a": member, "b": member });
    let by_name = json!({ "type": "object", "properties": properties, "dependentRequired": { "a": ["b"] } });
    assert!(valid(10, by_name).iter().any(|value| value.get("a").is_some()));
    let by_schema = json!({
        "type": "object",
        "properties": properties,
        "dependentSchemas": { "a": { "properties": { "b": { "minimum": 5 } }, "required": ["b"] } },
    });
    let values = valid(10, by_schema);
    assert!(values.iter().any(|value| value.get("a").is_some()));
    assert!(
        values
            .iter()
            .any(|value| value.get("a").is_none() && value.get("b").is_some())
    );
}

#[test]
fn all_of_is_satisfied_even_if_members_overlap() {
    let schema = json!({
        "allOf": [
            { "$ref": "#/$defs/Base" },
            { "type": "object", "properties": { "n": { "maximum": 3 } }, "required": ["extra"] },
        ],
        "properties": { "extra": { "const": true } },
    });
    let base =
        json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } }, "required": ["n"] });
    valid_beside(5, schema, json!({ "Base": base }));
}

#[test]
fn twenty_instances_cover_twenty_branches_of_a_union() {
    let branches: Vec<Value> = (0..20)
        .map(|n| json!({ "type": "object", "properties": { "tag": { "const": n } }, "required": ["tag"] }))
        .collect();
    for union in ["anyOf", "oneOf"] {
        let tags: BTreeSet<i64> = valid(20, json!({ union: branches }))
            .iter()
            .map(|value| value["tag"].as_i64().unwrap())
            .collect();
        assert_eq!(tags.len(), 20, "{union}");
    }
}

#[test]
fn keywords_next_to_a_union_apply_to_each_branch() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "required": ["a"],
        "anyOf": [{ "required": ["b"] }, { "properties": { "a": { "const": "only" } } }],
    });
    valid(5, schema);
}

#[test]
fn overlapping_one_of_branches_and_not_have_valid_instances() {
    valid(
        5,
        json!({ "oneOf": [{ "type": "integer", "minimum": 0 }, { "type": "integer", "maximum": 10 }] }),
    );
    valid(5, json!({ "type": "string", "not": { "enum": ["", "a"] } }));
    valid(
        5,
        json!({ "type": "object", "properties": { "a": true, "b": true }, "not": { "required": ["a", "b"] } }),
    );
}

#[test]
fn both_branches_of_if_then_else_occur() {
    let schema = json!({
        "type": "object",
        "properties": { "kind": { "enum": ["a", "b"] } },
        "required": ["kind"],
        "if": { "properties": { "kind": { "const": "a" } } },
        "then": { "required": ["for-a"] },
        "else": { "required": ["for-b"] },
    });
    let values = valid(5, schema);
    assert!(values.iter().any(|value| value["kind"] == "a"));
    assert!(values.iter().any(|value| value["kind"] == "b"));
}

#[test]
fn unevaluated_properties_allow_members_of_all_of_and_properties() {
    let schema = json!({
        "type": "object",
        "allOf": [{ "properties": { "a": { "enum": [1, 2, 3] } } }],
        "properties": { "b": { "enum": [1, 2, 3] } },
        "unevaluatedProperties": false,
    });
    assert!(
        valid(8, schema)
            .iter()
            .any(|value| value.get("a").is_some() && value.get("b").is_some())
    );
}

#[test]
fn siblings_of_a_reference_apply_only_in_dialects_that_allow_them() {
    let definitions = json!({ "T": { "$ref": "#/definitions/S", "maxLength": 1 }, "S": { "type": "string" } });
    let lengths = |dialect: &str| {
        let instances = Instances::new(&json!({ "$schema": dialect, "definitions": definitions })).unwrap();
        let made = instances.of("T", 1, 40).into_iter().filter(|instance| instance.valid);
        made.map(|instance| instance.value.as_str().unwrap().chars().count())
            .max()
    };
    assert!(lengths("http://json-schema.org/draft-07/schema#") > Some(1));
    assert!(lengths("https://json-schema.org/draft/2020-12/schema") == Some(1));
}

#[test]
fn recursion_ends_even_if_a_level_requires_two_others() {
    let tree = json!({
        "type": "object",
        "properties": { "left": { "$ref": "#/$defs/Node" }, "right": { "$ref": "#/$defs/Node" } },
        "required": ["left", "right"],
    });
    let others = json!({ "Node": { "anyOf": [{ "$ref": "#/$defs/T" }, { "$ref": "#/$defs/T" }, { "type": "null" }] } });
    valid_beside(10, tree, others);
}

#[test]
fn a_schema_with_only_infinite_instances_has_no_valid_instance() {
    let endless = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/T" } }, "required": ["next"] });
    let instances = Instances::new(&json!({ "$defs": { "T": endless, "Fine": { "type": "null" } } })).unwrap();
    assert_eq!(instances.without_valid_instance(), ["T"]);
}

#[test]
fn a_definition_that_refers_to_itself_terminates() {
    let document = json!({ "$defs": { "Loop": { "$ref": "#/$defs/Loop" } } });
    let made = Instances::new(&document).unwrap().of("Loop", 0, 4);
    assert!(made.iter().all(|instance| instance.valid), "{made:?}");
}

#[test]
fn a_definition_that_accepts_everything_has_only_valid_instances() {
    let made = made_beside(json!(true), json!({}));
    assert!(
        made.len() > 20 && made.iter().all(|instance| instance.valid),
        "{made:?}"
    );
}

#[test]
fn a_small_count_still_has_both_a_valid_and_an_invalid_instance() {
    let instances = Instances::new(&json!({ "$defs": { "T": { "type": "object" } } })).unwrap();
    for seed in 0..50 {
        let made = instances.of("T", seed, 2);
        let verdicts: Vec<bool> = made.iter().map(|instance| instance.valid).collect();
        assert_eq!(verdicts, [true, false], "seed {seed}");
    }
}
