//! A table of cases for each keyword.

use super::{DRAFT_07, DRAFT_2020_12};

/// A schema, and values that it accepts or refuses, all as JSON.
pub struct Case {
    pub dialects: &'static [&'static str],
    pub schema: &'static str,
    /// An array of the values that it accepts.
    pub accepts: &'static str,
    /// An array of the values that it refuses.
    pub refuses: &'static str,
}

const fn in_both(schema: &'static str, accepts: &'static str, refuses: &'static str) -> Case {
    Case {
        dialects: &[DRAFT_07, DRAFT_2020_12],
        schema,
        accepts,
        refuses,
    }
}

const fn only_in(
    dialect: &'static [&'static str],
    schema: &'static str,
    accepts: &'static str,
    refuses: &'static str,
) -> Case {
    Case {
        dialects: dialect,
        schema,
        accepts,
        refuses,
    }
}

const OLD: &[&str] = &[DRAFT_07];
const NEW: &[&str] = &[DRAFT_2020_12];

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    in_both("true", r#"[null, 1, "a", [], {}]"#, "[]"),
    in_both("false", "[]", r#"[null, 1, "a", [], {}]"#),
    in_both("{}", r#"[null, 1, "a", [], {}]"#, "[]"),
    // type
    in_both(r#"{"type": "integer"}"#, "[1, 1.0, 1e2, -0.0, 18446744073709551615, 1e300]", r#"[1.5, "1", true, null]"#),
    in_both(r#"{"type": "number"}"#, "[1, 1.5, 1e300]", r#"["1", false, [], {}]"#),
    in_both(r#"{"type": "string"}"#, r#"["", "a"]"#, "[1, null, []]"),
    in_both(r#"{"type": "boolean"}"#, "[true, false]", "[0, 1, null]"),
    in_both(r#"{"type": "null"}"#, "[null]", r#"[0, false, ""]"#),
    in_both(r#"{"type": "object"}"#, "[{}]", "[[], null]"),
    in_both(r#"{"type": "array"}"#, "[[]]", "[{}, null]"),
    in_both(r#"{"type": ["string", "null"]}"#, r#"["a", null]"#, "[1, {}]"),
    in_both(r#"{"type": ["integer", "string"]}"#, r#"["a", 2.0]"#, "[2.5]"),
    // enum, const
    in_both(r#"{"enum": [1, "a", {"b": [1.0]}, null]}"#, r#"[1, 1.0, "a", {"b": [1]}, null]"#, r#"["1", {"b": [2]}, {}, true, false]"#),
    in_both(r#"{"const": 1}"#, "[1, 1.0, 1e0]", r#"[true, "1", 1.0000001]"#),
    in_both(r#"{"const": 0}"#, "[0, 0.0, -0.0]", "[false, null, 1e-300]"),
    in_both(r#"{"const": false}"#, "[false]", "[0, 0.0, null]"),
    in_both(r#"{"const": null}"#, "[null]", "[0, false, {}]"),
    in_both(r#"{"const": {"a": 1, "b": [2]}}"#, r#"[{"b": [2.0], "a": 1.0}]"#, r#"[{"a": 1}, {"a": 1, "b": [2], "c": 3}, {"a": 1, "b": [2, 2]}]"#),
    in_both(r#"{"const": 9007199254740993}"#, "[9007199254740993]", "[9007199254740992, 9007199254740994]"),
    in_both(r#"{"const": "\u00e9"}"#, r#"["é"]"#, r#"["e\u0301"]"#),
    // numbers
    in_both(r#"{"minimum": 1.5}"#, r#"[1.5, 2, "a"]"#, "[1, 1.4999]"),
    in_both(r#"{"maximum": 3}"#, "[3, 3.0, -1e300]", "[3.0001, 4]"),
    in_both(r#"{"exclusiveMinimum": 0}"#, "[1e-300, 1]", "[0, -0.0, -1]"),
    in_both(r#"{"exclusiveMaximum": 3.0}"#, "[2.9999]", "[3, 3.0]"),
    in_both(r#"{"maximum": 9007199254740992}"#, "[9007199254740992]", "[9007199254740993]"),
    in_both(r#"{"minimum": -9223372036854775808}"#, "[-9223372036854775808]", "[-1e19]"),
    in_both(r#"{"minimum": 0, "maximum": 1}"#, "[0, 0.5, 1]", "[-0.1, 1.1]"),
    in_both(r#"{"multipleOf": 2}"#, r#"[0, 4, -6, 10.0, 1e300, "a"]"#, "[3, 7.5]"),
    in_both(r#"{"multipleOf": 0.01}"#, "[0.07, 4.02, 19.99, 1]", "[0.075, 0.001]"),
    in_both(r#"{"multipleOf": 0.0001}"#, "[0.0075]", "[0.00751]"),
    in_both(r#"{"multipleOf": 1.5}"#, "[0, 4.5]", "[35]"),
    in_both(r#"{"type": "integer", "multipleOf": 0.5}"#, "[1e308]", "[0.5]"),
    // strings
    in_both(r#"{"minLength": 2}"#, r#"["ab", "😀😀", 1]"#, r#"["a", "😀"]"#),
    in_both(r#"{"maxLength": 2}"#, r#"["ab", "😀😀", []]"#, r#"["abc", "e\u0301e"]"#),
    in_both(r#"{"minLength": 2.0, "maxLength": 2e0}"#, r#"["ab"]"#, r#"["a", "abc"]"#),
    in_both(r#"{"maxLength": 0}"#, r#"[""]"#, r#"["a"]"#),
    in_both(r#"{"format": "email", "title": "t", "x-y": 1, "default": 5, "examples": [1], "readOnly": true}"#, r#"["no mail", 1]"#, "[]"),
    // arrays
    in_both(r#"{"items": {"type": "integer"}}"#, r#"[[], [1, 2.0], "a"]"#, "[[1, 1.5], [null]]"),
    in_both(r#"{"items": false}"#, "[[]]", "[[1]]"),
    only_in(OLD, r#"{"items": [{"type": "integer"}, true], "additionalItems": {"type": "string"}}"#, r#"[[], [1], [1, null, "a"]]"#, r#"[["a"], [1, null, 3]]"#),
    only_in(OLD, r#"{"items": [true], "additionalItems": false}"#, "[[], [1]]", "[[1, 2]]"),
    only_in(OLD, r#"{"items": {"type": "integer"}, "additionalItems": false}"#, "[[1, 2]]", "[[null]]"),
    only_in(OLD, r#"{"additionalItems": false}"#, "[[1, 2]]", "[]"),
    only_in(OLD, r#"{"prefixItems": [false], "minContains": 5, "dependentRequired": {"a": ["b"]}, "dependentSchemas": {"a": false}}"#, r#"[[1], {"a": 1}]"#, "[]"),
    only_in(NEW, r#"{"prefixItems": [{"type": "integer"}, true], "items": {"type": "string"}}"#, r#"[[], [1], [1, null, "a"]]"#, r#"[["a"], [1, null, 3]]"#),
    only_in(NEW, r#"{"prefixItems": [true], "items": false}"#, "[[], [1]]", "[[1, 2]]"),
    only_in(NEW, r#"{"prefixItems": [true], "additionalItems": false}"#, "[[1, 2]]", "[]"),
    in_both(r#"{"minItems": 1}"#, "[[1], {}]", "[[]]"),
    in_both(r#"{"maxItems": 1}"#, "[[], [1]]", "[[1, 2]]"),
    in_both(r#"{"uniqueItems": true}"#, r#"[[], [1, true], [0, false], [1, "1"], [[1], [2]], [{"a": 1}, {"a": 2}], 5]"#, r#"[[1, 1.0], [0, -0.0], [[1], [1.0]], [{"a": 1, "b": 2}, {"b": 2, "a": 1}], ["a", "b", "a"], [null, null]]"#),
    in_both(r#"{"uniqueItems": false}"#, "[[1, 1]]", "[]"),
    in_both(r#"{"contains": {"type": "integer"}}"#, r#"[["a", 1], "a"]"#, r#"[[], ["a"]]"#),
    only_in(OLD, r#"{"contains": {"const": 1}, "maxContains": 1}"#, "[[1, 1]]", "[[]]"),
    only_in(NEW, r#"{"contains": {"const": 1}, "maxContains": 1}"#, "[[1], [1, 2]]", "[[], [1, 1]]"),
    only_in(NEW, r#"{"contains": {"const": 1}, "minContains": 2, "maxContains": 3}"#, "[[1, 1], [1, 2, 1, 1]]", "[[1], [1, 1, 1, 1]]"),
    only_in(NEW, r#"{"contains": {"const": 1}, "minContains": 0}"#, "[[], [2], [1]]", "[]"),
    only_in(NEW, r#"{"contains": {"const": 1}, "minContains": 0, "maxContains": 1}"#, "[[], [1]]", "[[1, 1]]"),
    only_in(NEW, r#"{"minContains": 2, "maxContains": 0}"#, "[[], [1]]", "[]"),
    // objects
    in_both(r#"{"properties": {"a": {"type": "integer"}, "b": false}}"#, r#"[{}, {"a": 1, "c": null}, []]"#, r#"[{"a": "x"}, {"b": 1}]"#),
    in_both(r#"{"properties": {"a": true}, "additionalProperties": false}"#, r#"[{}, {"a": 1}]"#, r#"[{"b": 1}, {"a": 1, "": 1}]"#),
    in_both(r#"{"additionalProperties": {"type": "integer"}}"#, r#"[{"x": 1}, 5]"#, r#"[{"x": "a"}]"#),
    in_both(r#"{"allOf": [{"properties": {"a": true}}], "additionalProperties": false}"#, "[{}]", r#"[{"a": 1}]"#),
    in_both(r#"{"propertyNames": {"maxLength": 2}}"#, r#"[{"ab": 1}, {}, "abc"]"#, r#"[{"abc": 1}]"#),
    in_both(r#"{"propertyNames": {"enum": ["a"]}}"#, r#"[{"a": 1}]"#, r#"[{"b": 1}]"#),
    in_both(r#"{"propertyNames": false}"#, "[{}]", r#"[{"a": 1}]"#),
    in_both(r#"{"required": ["a", "b"]}"#, r#"[{"a": null, "b": 1}, []]"#, r#"[{}, {"a": 1}]"#),
    in_both(r#"{"required": ["__proto__", "toString"]}"#, r#"[{"__proto__": 1, "toString": 1}]"#, r#"[{}]"#),
    in_both(r#"{"minProperties": 1, "maxProperties": 2}"#, r#"[{"a": 1}, {"a": 1, "b": 1}, []]"#, r#"[{}, {"a": 1, "b": 1, "c": 1}]"#),
    only_in(NEW, r#"{"dependentRequired": {"a": ["b", "c"]}}"#, r#"[{}, {"b": 1}, {"a": 1, "b": 1, "c": 1}]"#, r#"[{"a": 1}, {"a": 1, "b": 1}]"#),
    only_in(NEW, r#"{"dependentSchemas": {"a": {"required": ["b"]}, "c": false}}"#, r#"[{}, {"a": 1, "b": 1}]"#, r#"[{"a": 1}, {"c": 1}]"#),
    in_both(r#"{"dependencies": {"a": ["b"], "c": {"minProperties": 2}, "d": false, "e": []}}"#, r#"[{}, {"a": 1, "b": 1}, {"c": 1, "x": 1}, {"e": 1}, 5]"#, r#"[{"a": 1}, {"c": 1}, {"d": 1}]"#),
    // combinations
    in_both(r#"{"allOf": [{"minimum": 1}, {"maximum": 3}]}"#, r#"[1, 2, "a"]"#, "[0, 4]"),
    in_both(r#"{"anyOf": [{"type": "string"}, {"minimum": 2}]}"#, r#"["a", 2, null]"#, "[1]"),
    in_both(r#"{"oneOf": [{"type": "integer"}, {"minimum": 2}]}"#, "[1, 2.5, null]", "[3, 1.5]"),
    in_both(r#"{"oneOf": [true, true, true]}"#, "[]", "[1]"),
    in_both(r#"{"not": {"type": "integer"}}"#, "[1.5, null]", "[1, 1.0]"),
    in_both(r#"{"not": {"not": {"required": ["a"]}}}"#, r#"[{"a": 1}]"#, "[{}]"),
    in_both(r#"{"if": {"type": "integer"}, "then": {"minimum": 0}, "else": {"type": "string"}}"#, r#"[0, "a"]"#, "[-1, null]"),
    in_both(r#"{"if": {"const": 0}, "then": false}"#, "[1]", "[0]"),
    in_both(r#"{"if": {"const": 0}, "else": false}"#, "[0]", "[1]"),
    in_both(r#"{"if": false}"#, "[0]", "[]"),
    in_both(r#"{"then": false, "else": false}"#, "[0]", "[]"),
    // references
    in_both(r##"{"definitions": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/definitions/a"}}}"##, r#"[{"x": 1}, {}]"#, r#"[{"x": "a"}]"#),
    in_both(r##"{"$defs": {"a": {"$defs": {"b": {"type": "integer"}}}}, "items": {"$ref": "#/$defs/a/$defs/b"}}"##, "[[1]]", "[[null]]"),
    in_both(r##"{"properties": {"x": {"$ref": "#"}}, "additionalProperties": false}"##, r#"[{"x": {"x": {}}}]"#, r#"[{"x": {"y": 1}}]"#),
    in_both(r##"{"definitions": {"a~b/c%d\"": {"type": "integer"}}, "items": {"$ref": "#/definitions/a~0b~1c%25d%22"}}"##, "[[1]]", "[[null]]"),
    in_both(r##"{"properties": {"$ref": {"type": "string"}, "x": {"$ref": "#/properties/%24ref"}}}"##, r#"[{"$ref": "a", "x": "b"}]"#, r#"[{"$ref": 1}, {"x": 1}]"#),
    in_both(r##"{"items": {"$ref": "#/allOf/0"}, "allOf": [{"type": "array"}]}"##, "[[[]]]", "[[1]]"),
    only_in(OLD, r##"{"$defs": {"a": {"type": "integer"}}, "items": {"$ref": "#/$defs/a", "minimum": 5}}"##, "[[1]]", "[[null]]"),
    only_in(NEW, r##"{"definitions": {"a": {"type": "integer"}}, "items": {"$ref": "#/definitions/a", "minimum": 5}}"##, "[[5]]", "[[1], [null]]"),
    only_in(OLD, r##"{"definitions": {"a": {"type": "integer"}}, "$ref": "#/definitions/a", "maximum": 0}"##, "[1]", "[null]"),
    in_both(r##"{"definitions": {"tree": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/definitions/tree"}}}}}, "allOf": [{"$ref": "#/definitions/tree"}]}"##, r#"[{"kids": [{"kids": []}, {}]}]"#, r#"[{"kids": [{"kids": [1]}]}]"#),
    in_both(r##"{"propertyNames": {"$ref": "#"}, "type": ["string", "object"]}"##, r#"[{"a": 1}, "a"]"#, "[1]"),
    // identifiers
    only_in(OLD, r##"{"definitions": {"a": {"$id": "#x", "type": "integer"}}, "items": {"$ref": "#x"}}"##, "[[1]]", "[[null]]"),
    only_in(NEW, r##"{"$defs": {"a": {"$anchor": "x", "type": "integer"}}, "items": {"$ref": "#x"}}"##, "[[1]]", "[[null]]"),
    in_both(r##"{"$id": "http://h/a/b", "definitions": {"c": {"$id": "c", "definitions": {"d": {"type": "integer"}}, "items": {"$ref": "#/definitions/d"}}}, "items": {"$ref": "http://h/a/c"}}"##, "[[[1]]]", "[[[null]]]"),
    in_both(r##"{"$id": "urn:x:y", "definitions": {"c": {"$id": "urn:x:z", "type": "integer"}}, "items": {"$ref": "urn:x:z"}, "not": {"$ref": "urn:x:y#/definitions/c"}}"##, "[[1]]", "[[null], 1]"),
    in_both(r##"{"definitions": {"c": {"$id": "c.json", "type": "integer"}}, "items": {"$ref": "c.json"}}"##, "[[1]]", "[[null]]"),
    only_in(OLD, r##"{"definitions": {"c": {"$id": "http://h/c", "$ref": "#/definitions/d"}, "d": {"type": "integer"}}, "items": {"$ref": "#/definitions/c"}}"##, "[[1]]", "[[null]]"),
    only_in(OLD, r##"{"definitions": {"a": {"$anchor": "x", "unevaluatedItems": false, "$dynamicRef": "#y"}}, "items": {"$ref": "#/definitions/a"}}"##, "[[1], [[1]]]", "[]"),
    only_in(NEW, r##"{"$id": "http://h/ints", "$ref": "list", "$defs": {"item": {"$dynamicAnchor": "item", "type": "integer"}, "list": {"$id": "list", "items": {"$dynamicRef": "#item"}, "$defs": {"item": {"$dynamicAnchor": "item"}}}}}"##, "[[1]]", r#"[["a"]]"#),
    only_in(NEW, r##"{"$id": "http://h/ints", "$ref": "list", "$defs": {"item": {"$dynamicAnchor": "item", "type": "integer"}, "list": {"$id": "list", "items": {"$dynamicRef": "#item"}, "$defs": {"item": {"$anchor": "item"}}}}}"##, r#"[[1], ["a"]]"#, "[]"),
    // unevaluated
    only_in(NEW, r#"{"properties": {"a": true}, "patternProperties": {}, "unevaluatedProperties": false}"#, r#"[{}, {"a": 1}, []]"#, r#"[{"b": 1}]"#),
    only_in(NEW, r#"{"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": {"type": "integer"}}"#, r#"[{"a": "x", "b": 1}]"#, r#"[{"b": "x"}]"#),
    only_in(NEW, r#"{"anyOf": [{"properties": {"a": {"const": 1}}}, {"properties": {"b": true}}], "unevaluatedProperties": false}"#, r#"[{"a": 1, "b": 1}, {"b": 1}]"#, r#"[{"a": 2}, {"a": 2, "b": 1}, {"c": 1}]"#),
    only_in(NEW, r#"{"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "else": {"properties": {"b": true}}, "unevaluatedProperties": false}"#, r#"[{"a": 1}, {"b": 1}]"#, r#"[{"a": 1, "b": 1}, {"a": 2}]"#),
    only_in(NEW, r#"{"not": {"not": {"properties": {"a": true}}}, "unevaluatedProperties": false}"#, "[{}]", r#"[{"a": 1}]"#),
    only_in(NEW, r#"{"allOf": [{"unevaluatedProperties": true}], "unevaluatedProperties": false}"#, r#"[{"a": 1}]"#, "[]"),
    only_in(NEW, r#"{"dependentSchemas": {"a": {"properties": {"a": true, "b": true}}}, "unevaluatedProperties": false}"#, r#"[{"a": 1, "b": 1}]"#, r#"[{"b": 1}]"#),
    only_in(NEW, r#"{"prefixItems": [true], "unevaluatedItems": {"type": "integer"}}"#, r#"[["a", 1], [], {}]"#, r#"[["a", "b"]]"#),
    only_in(NEW, r#"{"contains": {"type": "string"}, "unevaluatedItems": false}"#, r#"[["a", "b"]]"#, r#"[["a", 1]]"#),
    only_in(NEW, r#"{"oneOf": [{"prefixItems": [{"const": 1}]}, {"prefixItems": [{"const": 2}, true]}], "unevaluatedItems": false}"#, "[[1], [2, 3]]", "[[1, 3], [2, 3, 4]]"),
    only_in(NEW, r#"{"allOf": [{"items": true}], "unevaluatedItems": false}"#, "[[1, 2]]", "[]"),
];

#[cfg(feature = "pattern")]
#[rustfmt::skip]
pub const PATTERN_CASES: &[Case] = &[
    in_both(r#"{"pattern": "^a+$"}"#, r#"["a", "aa", 1]"#, r#"["", "ab"]"#),
    in_both(r#"{"pattern": "b"}"#, r#"["abc"]"#, r#"["ac"]"#),
    in_both(r#"{"pattern": "^.$"}"#, r#"["😀", "é"]"#, r#"["ab"]"#),
    in_both(r#"{"pattern": "^\\p{Lu}"}"#, r#"["É"]"#, r#"["é"]"#),
    in_both(r#"{"pattern": "^\\d$"}"#, r#"["1"]"#, r#"["১", "a"]"#),
    in_both(r#"{"pattern": "^\\w$"}"#, r#"["a", "_"]"#, r#"["é"]"#),
    only_in(OLD, r#"{"$ref": "http://json-schema.org/draft-07/schema#"}"#, r#"[{}, true, {"items": [{"type": "string"}]}]"#, r#"[1, {"minLength": -1}, {"items": [{"type": 1}]}]"#),
    only_in(NEW, r#"{"$ref": "https://json-schema.org/draft/2020-12/schema"}"#, r#"[{}, true, {"prefixItems": [{"type": "string"}]}]"#, r#"[1, {"minLength": -1}, {"prefixItems": [{"type": 1}]}]"#),
    in_both(r#"{"pattern": "^a$"}"#, r#"["a"]"#, r#"["a\n"]"#),
    in_both(r#"{"patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 2}}}"#, r#"[{"a": 1, "b": 2, "c": null}, {"ab": 2}, []]"#, r#"[{"ab": 1}, {"a": null}]"#),
    in_both(r#"{"properties": {"ab": true}, "patternProperties": {"^a": {"type": "integer"}}, "additionalProperties": false}"#, r#"[{"ab": 1, "ac": 2}]"#, r#"[{"ab": null}, {"b": 1}]"#),
    in_both(r#"{"propertyNames": {"pattern": "^a"}}"#, r#"[{"a": 1}]"#, r#"[{"b": 1}]"#),
];

#[cfg(not(feature = "pattern"))]
pub const PATTERN_CASES: &[Case] = &[];
