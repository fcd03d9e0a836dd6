//! Comparison of the validator with the JSON Schema specification, and with another implementation.

mod cases;
mod cost;
mod differential;

use mcp_json_schema::MAX_DEPTH;
use mcp_json_schema::{SchemaError, Validator};
use serde_json::{Value, json};

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";
const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";

fn validator(document: &Value) -> Validator {
    Validator::new(document).unwrap_or_else(|error| panic!("{error}\n{document}"))
}

fn problems(document: Value) -> Vec<String> {
    let error: SchemaError = Validator::new(&document).expect_err("an unsupported document");
    error.problems().iter().map(ToString::to_string).collect()
}

fn violations(document: Value, value: Value) -> Vec<String> {
    let found = validator(&document).validate("#", &value);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn every_unresolvable_reference_is_reported_with_its_place() {
    let found = problems(json!({
        "$id": "https://example.com/schema",
        "$defs": {
            "a": {"$anchor": "a", "properties": {"$ref": {"$ref": "https://example.com/schema#a"}}},
            "b": {"$dynamicRef": "#b"},
            "c": {"$ref": "other.json#/a"},
            "d/e": {"$ref": "#/$defs/nothing"},
            "f": {"$id": "f", "$ref": "#/$defs/a"},
        },
        "items": {"$ref": "#g"},
        "properties": {"$anchor": {"const": {"$ref": 1}}},
    }));
    assert_eq!(
        found,
        [
            "#/$defs/b/$dynamicRef: no schema has the anchor that `#b` names",
            "#/$defs/c/$ref: `other.json#/a` leads out of this document, and nothing is fetched: put the schema among the \
             document's definitions, with `\"$id\": \"https://example.com/other.json\"`",
            "#/$defs/d~1e/$ref: nothing is at `#/$defs/nothing`",
            "#/$defs/f/$ref: nothing is at `#/$defs/f/$defs/a`",
            "#/items/$ref: no schema has the anchor that `#g` names",
        ]
    );
}

#[test]
fn duplicate_and_invalid_identifiers_are_reported() {
    for (document, expected) in [
        (
            json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$dynamicAnchor": "x"}}}),
            "#/$defs/a/$anchor: `#/$defs/b` has the same anchor",
        ),
        (
            json!({"$id": "a:x", "items": {"$id": "a:x"}}),
            "#/items/$id: `a:x` is the URI of another schema as well",
        ),
        (
            json!({"$id": "a:x#y"}),
            "#/$id: in 2020-12 this has no fragment: `$anchor` names a schema",
        ),
        (json!({"items": {"$id": 1}}), "#/items/$id: expected a string, found 1"),
        (
            json!({"items": {"$id": "a:x", "$schema": "a:y"}}),
            "#/items/$schema: neither draft-07 nor 2020-12",
        ),
    ] {
        assert_eq!(problems(document), [expected]);
    }
}

#[test]
fn every_repetition_of_an_anchor_is_reported() {
    let anchor = json!({"$anchor": "x"});
    assert_eq!(
        problems(json!({"$defs": {"a": anchor, "b": anchor, "c": anchor}})),
        [
            "#/$defs/b/$anchor: `#/$defs/c` has the same anchor",
            "#/$defs/a/$anchor: `#/$defs/c` has the same anchor",
        ]
    );
}

#[test]
fn a_keyword_with_an_invalid_value_is_reported() {
    for (keyword, value) in [
        ("type", json!("text")),
        ("type", json!([])),
        ("type", json!([1])),
        ("enum", json!("a")),
        ("minimum", json!("1")),
        ("exclusiveMinimum", json!(true)),
        ("multipleOf", json!(0)),
        ("multipleOf", json!(-1)),
        ("minLength", json!(-1)),
        ("maxItems", json!(1.5)),
        ("uniqueItems", json!("yes")),
        ("required", json!(true)),
        ("required", json!([1])),
        ("properties", json!([])),
        ("properties", json!({"a": 1})),
        ("items", json!([true])),
        ("prefixItems", json!([])),
        ("allOf", json!([])),
        ("anyOf", json!({})),
        ("not", json!(null)),
        ("dependentRequired", json!({"a": "b"})),
        ("$ref", json!(1)),
        ("pattern", json!("(")),
        ("patternProperties", json!({"(": true})),
        ("definitions", json!({"a": "b"})),
        ("minContains", json!("1")),
        ("description", json!(["text"])),
        ("title", json!(null)),
        ("format", json!(true)),
        ("examples", json!({})),
        ("deprecated", json!("yes")),
        ("readOnly", json!(0)),
        ("contentSchema", json!([])),
    ] {
        let found = problems(json!({ keyword: value }));
        assert!(found[0].contains(keyword), "{keyword}: {found:?}");
    }
}

#[test]
fn each_invalid_element_of_a_list_is_reported_with_its_place() {
    let document = json!({
        "type": ["string", "null", "string", "float"],
        "required": ["a", "b", "a", 1],
        "dependentRequired": {"a": ["b", "b"]},
        "dependencies": {"c": ["d", "d"]},
    });
    assert_eq!(
        problems(document),
        [
            r#"#/type/3: expected one of object, array, string, number, integer, boolean, null, found "float""#,
            r#"#/type/2: expected names that all differ, found "string""#,
            "#/required/3: expected a string, found 1",
            r#"#/required/2: expected names that all differ, found "a""#,
            r#"#/dependentRequired/a/1: expected names that all differ, found "b""#,
            r#"#/dependencies/c/1: expected names that all differ, found "d""#,
        ]
    );
}

#[test]
fn the_error_about_a_list_of_items_in_2020_12_names_prefix_items() {
    assert_eq!(
        problems(json!({"items": [true]})),
        ["#/items: in 2020-12 this is one schema: `prefixItems` lists schemas by position"]
    );
    assert!(Validator::new(&json!({"$schema": DRAFT_07, "items": [true]})).is_ok());
}

#[test]
fn a_document_in_another_dialect_is_refused() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "draft-07",
    ] {
        let found = problems(json!({"$schema": dialect}));
        assert_eq!(found, ["#/$schema: neither draft-07 nor 2020-12"]);
    }
}

#[test]
fn a_schema_that_applies_itself_endlessly_is_refused() {
    for endless in [
        json!({"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]}),
        json!({"$ref": "#"}),
        json!({"allOf": [{"anyOf": [{"$ref": "#"}]}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"if": {"$ref": "#/$defs/a"}, "then": true}}}),
    ] {
        let found = problems(endless.clone());
        assert!(found[0].contains("without end"), "{endless}: {found:?}");
    }
}

#[test]
fn a_cycle_is_reported_with_every_schema_on_it() {
    let definitions = json!({"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [true, {"$ref": "#/$defs/a"}]}});
    assert_eq!(
        problems(json!({"$defs": definitions})),
        ["#/$defs/a: applies itself to the same value again, without end: \
          #/$defs/a → #/$defs/b → #/$defs/b/anyOf/1 → #/$defs/a"]
    );
    let long: serde_json::Map<String, Value> = (0..10_000)
        .map(|index| {
            (
                index.to_string(),
                json!({"$ref": format!("#/$defs/{}", (index + 1) % 10_000)}),
            )
        })
        .collect();
    let found = problems(json!({"$defs": long}));
    assert_eq!(found.len(), 1);
    assert!(found[0].len() < 1_000, "{}", found[0]);
}

#[cfg(not(feature = "pattern"))]
#[test]
fn a_regular_expression_without_the_feature_is_refused() {
    let found = problems(json!({"items": {"pattern": "a"}}));
    assert_eq!(
        found,
        ["#/items/pattern: a regular expression needs mcp-json-schema's feature `pattern`"]
    );
}

#[test]
fn values_can_be_validated_by_any_subschema_and_spelling_of_its_pointer() {
    let validator = validator(&json!({
        "definitions": {"a/b c": {"properties": {"params": {"type": "string"}}}},
    }));
    for pointer in [
        "#/definitions/a~1b c/properties/params",
        "#/definitions/a~1b%20c/properties/params",
    ] {
        assert!(validator.validate(pointer, &json!("x")).is_empty());
        let violations = validator.validate(pointer, &json!(1));
        assert_eq!(violations[0].schema, "#/definitions/a~1b c/properties/params/type");
    }
    assert!(validator.validate("#", &json!(1)).is_empty());
    for pointer in ["", "#/", "#/definitions", "#/definitions/x", "a", "#/%"] {
        let violations = validator.validate(pointer, &json!("x"));
        assert_eq!(violations.len(), 1, "{pointer}");
        assert_eq!(
            violations[0].to_string(),
            "`(root)`: expected a subschema to validate by, found none at this pointer"
        );
    }
}

#[test]
fn each_violation_has_the_path_of_the_value_and_the_keyword() {
    let document = json!({
        "type": "object",
        "properties": {
            "list": {"items": {"type": ["integer", "null"], "minimum": 1}, "uniqueItems": true, "maxItems": 3},
            "name": {"minLength": 2},
            "level": {"enum": ["info", "error"]},
            "both": {"contains": {"const": 1}},
        },
        "required": ["id"],
        "additionalProperties": false,
    });
    let value = json!({
        "both": [2], "level": "loud", "list": [1, "a", 0, 1], "name": "x", "odd name": {},
    });
    let found = validator(&document).validate("#", &value);
    let shown: Vec<(String, &str)> = found
        .iter()
        .map(|violation| (violation.to_string(), violation.schema.as_str()))
        .collect();
    let expected = [
        (r#"`(root)`: expected a member "id", found none"#, "#/required"),
        (
            "`both`: expected at least 1 that fit `#/properties/both/contains` among the elements, found 0",
            "#/properties/both/contains",
        ),
        (
            r#"`level`: expected one of "info", "error", found "loud""#,
            "#/properties/level/enum",
        ),
        (
            "`list`: expected at most 3 elements, found 4",
            "#/properties/list/maxItems",
        ),
        (
            "`list`: expected elements that all differ, found the same at 0 and 3",
            "#/properties/list/uniqueItems",
        ),
        (
            r#"`list[1]`: expected an integer or null, found "a""#,
            "#/properties/list/items/type",
        ),
        (
            "`list[2]`: expected at least 1, found 0",
            "#/properties/list/items/minimum",
        ),
        (
            r#"`name`: expected at least 2 characters, found "x""#,
            "#/properties/name/minLength",
        ),
        (
            r#"`["odd name"]`: expected nothing, found an object"#,
            "#/additionalProperties",
        ),
    ]
    .map(|(shown, schema)| (shown.to_owned(), schema));
    assert_eq!(shown, expected);
}

fn content() -> Value {
    json!({
        "$defs": {
            "Text": {
                "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
                "required": ["type", "text"], "type": "object",
            },
            "Image": {
                "properties": {"type": {"const": "image"}, "data": {"type": "string"}},
                "required": ["type", "data"], "type": "object",
            },
            "Content": {"anyOf": [{"$ref": "#/$defs/Text"}, {"$ref": "#/$defs/Image"}]},
        },
        "properties": {
            "content": {
                "anyOf": [{"$ref": "#/$defs/Content"}, {"type": "array", "items": {"$ref": "#/$defs/Content"}}],
            },
        },
    })
}

#[test]
fn a_union_reports_the_violations_of_the_intended_alternative() {
    for (value, expected) in [
        (
            json!({"type": "text", "text": 5}),
            "`content.text`: expected a string, found 5",
        ),
        (
            json!({"type": "image"}),
            r#"`content`: expected a member "data", found none"#,
        ),
        (
            json!([{"type": "text"}]),
            r#"`content[0]`: expected a member "text", found none"#,
        ),
        (
            json!({"type": "txt"}),
            r#"`content.type`: expected one of "text", "image", found "txt""#,
        ),
        (
            json!([{"type": 1}]),
            r#"`content[0].type`: expected one of "text", "image", found 1"#,
        ),
        (json!({}), "`content`: expected one of 2 alternatives, found an object"),
        (
            json!("text"),
            r#"`content`: expected one of 2 alternatives, found "text""#,
        ),
    ] {
        assert_eq!(violations(content(), json!({"content": value})), [expected]);
    }
}

#[test]
fn a_union_of_constants_reports_the_constants() {
    // As schemars writes enums whose variants have descriptions.
    let described = json!({"oneOf": [
        {"type": "string", "const": "red", "description": "Stop"},
        {"type": "string", "enum": ["amber", "green"]},
    ]});
    let reference = json!({"$ref": "#/$defs/Color"});
    let optional = json!({"anyOf": [reference, {"type": "null"}], "$defs": {"Color": described}});
    for (schema, expected) in [
        (described.clone(), r#"one of "red", "amber", "green""#),
        (optional, r#"one of "red", "amber", "green", null"#),
        (
            json!({"anyOf": [described, {"type": "number"}]}),
            "one of 2 alternatives",
        ),
    ] {
        let expected = format!("`(root)`: expected {expected}, found \"blue\"");
        assert_eq!(violations(schema, json!("blue")), [expected]);
    }
}

#[test]
fn an_alternative_whose_required_tag_is_absent_is_not_the_intended_one() {
    let form = json!({"properties": {"mode": {"const": "form"}}, "required": ["schema"]});
    let url = json!({"properties": {"mode": {"const": "url"}}, "required": ["mode", "url"]});
    assert_eq!(
        violations(json!({"oneOf": [form, url]}), json!({})),
        [r#"`(root)`: expected a member "schema", found none"#]
    );
}

#[test]
fn a_value_that_fits_several_alternatives_of_one_of_is_reported_as_such() {
    assert_eq!(
        violations(json!({"oneOf": [{"minimum": 1}, {"maximum": 1}]}), json!(1)),
        ["`(root)`: expected exactly one of 2 alternatives, found a value that fits several"]
    );
}

#[test]
fn no_more_than_a_hundred_violations_are_reported() {
    let value = Value::Array(vec![json!(null); 10_000]);
    let items = json!({"items": {"type": "string", "enum": ["a"]}});
    assert_eq!(violations(items, value).len(), 100);
}

#[test]
fn a_large_array_of_distinct_elements_has_unique_items() {
    let elements: Vec<Value> = (0..200_000).map(|number| json!([number])).collect();
    let document = json!({"uniqueItems": true});
    assert!(violations(document, Value::Array(elements)).is_empty());
}

/// Unions that refer to themselves twice at each level: without memoization, 2^100 validations.
#[test]
fn recursion_through_unions_does_not_multiply_with_depth() {
    let document = json!({
        "$defs": {"node": {
            "anyOf": [
                {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["left"]},
                {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["right"]},
                {"type": "null"},
            ],
            "allOf": [{"properties": {"next": {"$ref": "#/$defs/node"}}}, {"type": ["object", "null"]}],
        }},
    });
    let validator = validator(&document);
    for (innermost, valid) in [(json!(null), true), (json!(1), false)] {
        let nested = (0..100).fold(innermost, |inner, _| json!({"next": inner, "right": 1}));
        assert_eq!(validator.validate("#/$defs/node", &nested).is_empty(), valid);
    }
}

/// The members that a union has evaluated are determined at each level of the value and of the schema.
#[test]
fn unevaluated_members_do_not_multiply_validations_with_depth() {
    let either = |schema: Value| json!({"anyOf": [schema, false], "unevaluatedProperties": false});
    let next = json!({"properties": {"next": {"$ref": "#"}, "last": true}});
    let document = (0..6).fold(next, |inner, _| either(inner));
    let validator = validator(&document);
    for (innermost, valid) in [(json!({"last": 1}), true), (json!({"other": 1}), false)] {
        let nested = (0..100).fold(innermost, |inner, _| json!({"next": inner}));
        assert_eq!(validator.validate("#", &nested).is_empty(), valid);
    }
}

/// Backtracking would take exponentially many steps.
#[cfg(feature = "pattern")]
#[test]
fn a_pattern_is_matched_in_linear_time() {
    let text = "a".repeat(100_000) + "!";
    for pattern in ["(a+)+$", "^(a|a)*$", "^(a*)*b", "^(a|aa)+$", "(.*)*x"] {
        let found = violations(json!({ "pattern": pattern }), json!(text));
        assert_eq!(found.len(), 1, "{pattern}");
    }
}

/// Each resource that has a dynamic anchor can be in the scope of a schema or not.
#[test]
fn a_document_with_too_many_dynamic_scopes_is_refused() {
    let resource = |index: usize, size: usize| {
        let others = (0..size).map(|other| json!({"properties": {"x": {"$ref": format!("/{other}")}}}));
        let name = format!("a{index}");
        json!({"$id": format!("/{index}"), "$dynamicAnchor": name, "allOf": others.collect::<Vec<_>>()})
    };
    let document = |size: usize| json!({"$defs": (0..size).map(|index| (index.to_string(), resource(index, size))).collect::<serde_json::Map<_, _>>()});
    assert!(Validator::new(&document(4)).is_ok());
    let found = problems(document(12));
    assert_eq!(found, ["#: there are more than 100 dynamic scopes"]);
}

#[test]
fn nesting_is_validated_up_to_the_limit_and_refused_beyond() {
    let document = json!({
        "anyOf": [{"type": "null"}, {"allOf": [{"if": true, "then": {"items": {"$ref": "#"}}}], "type": "array"}],
    });
    let nested = |levels| (0..levels).fold(json!(null), |inner, _| json!([inner]));
    assert!(violations(document.clone(), nested(MAX_DEPTH)).is_empty());
    for levels in [MAX_DEPTH + 1, 1_000] {
        assert_eq!(
            violations(document.clone(), nested(levels)),
            ["`(root)`: expected at most 128 levels of nesting, found more"]
        );
    }
}

#[test]
fn a_validator_can_be_shared_between_threads() {
    fn shareable<T: Send + Sync + 'static>() {}
    shareable::<Validator>();
}
