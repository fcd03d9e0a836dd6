//! The members of objects, and their values.

use mcp_wire::{DecodeErrorKind, Map, Number, RawJson, RawObject, Reader, Validate, from_str};

use super::shapes::{Node, Shape};
use super::{again, refusal};

#[test]
fn a_duplicate_member_is_an_error_whether_declared_or_not() {
    for (json, path) in [
        (r#"{"kind":"node","text":"a","text":"b"}"#, "text"),
        (r#"{"kind":"node","kind":"node"}"#, "kind"),
        (r#"{"kind":"node","x":1,"x":1}"#, "x"),
        (r#"{"kind":"node","x":1,"\u0078":1}"#, "x"),
        (r#"{"kind":"node","text":null,"text":null}"#, "text"),
        (r#"{"kind":"node","counts":{"a":1,"a":2}}"#, "counts.a"),
        (r#"{"kind":"node","child":{"kind":"node","x":1,"x":2}}"#, "child.x"),
        (
            r#"{"kind":"node","shapes":[{"type":"circle","type":"square","radius":1}]}"#,
            "shapes[0].type",
        ),
        (
            r#"{"kind":"node","shapes":[{"type":"square","type":"circle","radius":1}]}"#,
            "shapes[0].type",
        ),
        (
            r#"{"kind":"node","shapes":[{"type":"square","at":[{"x":1,"\u0078":2}]}]}"#,
            "shapes[0].at[0].x",
        ),
    ] {
        let error = refusal::<Node>(json);
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateMember, "{json}");
        assert_eq!(error.path().to_string(), path, "{json}");
    }
}

#[test]
fn undeclared_members_are_left_out_except_in_an_open_member() {
    let json = r#"{"kind":"node","x":1,"child":{"kind":"node","x":2,"counts":{"x":3}},"shapes":[{"type":"circle","radius":1,"x":4}]}"#;
    let read = |open| -> Node { Reader::new(json).without_undeclared(open).decode().unwrap() };
    let without = r#"{"kind":"node","child":{"kind":"node","counts":{"x":3}},"shapes":[{"type":"circle","radius":1}]}"#;
    assert_eq!(read("none"), from_str(without).unwrap());
    let with_one =
        r#"{"kind":"node","child":{"kind":"node","x":2,"counts":{"x":3}},"shapes":[{"type":"circle","radius":1}]}"#;
    assert_eq!(read("child"), from_str(with_one).unwrap());
}

#[test]
fn a_null_and_a_value_of_the_same_member_are_an_error_in_any_order() {
    for json in [
        r#"{"kind":"node","text":null,"text":"a"}"#,
        r#"{"kind":"node","text":"a","text":null}"#,
        r#"{"kind":"node","x":1,"\u0074ext":null,"size":1,"text":"a"}"#,
        r#"{"kind":"node","text":null,"text":null,"text":"a"}"#,
    ] {
        let error = refusal::<Node>(json);
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateMember, "{json}");
        assert_eq!(error.path().to_string(), "text", "{json}");
    }
    for json in [
        r#"{"kind":"node","open":null,"open":1}"#,
        r#"{"kind":"node","open":1,"open":null}"#,
        r#"{"kind":null,"kind":"node"}"#,
    ] {
        assert_eq!(refusal::<Node>(json).kind(), DecodeErrorKind::DuplicateMember, "{json}");
    }
}

#[test]
fn duplicate_members_in_open_json_are_kept_and_reported_by_parsing() {
    let json = r#"{"kind":"node","open":{"a":[{"b":1,"b":2}],"c":1,"c":2},"x":{"b":1,"\u0062":2}}"#;
    assert_eq!(again::<Node>(json), json);
    let node: Node = from_str(json).unwrap();
    let invalid = node.validate().unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "`open.a[0].b`: expected the member once, found it again"
    );

    let open = node.open.unwrap();
    let error = open.parse::<serde_json::Value>().unwrap_err();
    assert_eq!(error.to_string(), "`a[0].b`: expected the member once, found it again");
    assert_eq!(open.decode_as::<Map<RawJson>>().unwrap_err().path().to_string(), "c");
    assert_eq!(open.get("c"), None);
    assert_eq!(open.get("a").unwrap().text(), r#"[{"b":1,"b":2}]"#);
    assert_ne!(open.get("a").unwrap(), from_str::<RawJson>(r#"[{"b":2}]"#).unwrap());
}

#[test]
fn a_null_for_an_optional_member_is_kept_and_reported() {
    let json = r#"{"kind":"node","size":1,"text":null,"child":null}"#;
    assert_eq!(again::<Node>(json), json);
    let node: Node = from_str(json).unwrap();
    assert_eq!(node.text, None);
    let invalid = node.validate().unwrap_err();
    let paths: Vec<String> = invalid
        .violations
        .iter()
        .map(|violation| violation.path.to_string())
        .collect();
    assert_eq!(paths.len(), 2, "{invalid}");
    assert!(
        paths.contains(&"text".to_owned()) && paths.contains(&"child".to_owned()),
        "{invalid}"
    );
}

#[test]
fn a_value_set_in_place_of_a_null_is_written_once() {
    let mut node: Node = from_str(r#"{"kind":"node","text":null}"#).unwrap();
    node.text = Some("now".to_owned());
    assert_eq!(serde_json::to_string(&node).unwrap(), r#"{"kind":"node","text":"now"}"#);
    assert_eq!(node.validate(), Ok(()));
}

#[test]
fn a_wrong_constant_is_kept_and_reported() {
    for constant in [r#""nodes""#, "1", "null", "{}", r#"["node"]"#] {
        let json = format!(r#"{{"kind":{constant}}}"#);
        assert_eq!(again::<Node>(&json), json);
        let invalid = from_str::<Node>(&json).unwrap().validate().unwrap_err();
        assert_eq!(invalid.violations[0].path.to_string(), "kind", "{json}");
    }
}

#[test]
fn a_constant_can_be_written_with_escapes() {
    let node: Node = from_str(r#"{"kind":"n\u006fde"}"#).unwrap();
    assert_eq!(node, Node::default());
}

#[test]
fn a_tag_is_found_after_other_members() {
    let early: Shape = from_str(r#"{"type":"circle","radius":1,"x":{"type":"square"}}"#).unwrap();
    let late: Shape = from_str(r#"{"x":{"type":"square"},"radius":1,"type":"circle"}"#).unwrap();
    assert!(matches!(early, Shape::Circle(_)));
    assert_eq!(early, late);
}

#[test]
fn a_variant_that_is_unknown_or_has_no_tag_is_kept() {
    for json in [
        r#"{"type":"square","side":1.50}"#,
        r#"{"side":1}"#,
        "{}",
        r#"{"types":"circle"}"#,
    ] {
        assert!(matches!(from_str(json), Ok(Shape::Unknown(_))), "{json}");
        assert_eq!(again::<Shape>(json), json);
    }
}

#[test]
fn an_array_for_an_object_is_an_error() {
    for json in ["[]", r#"["node"]"#, r#"["node",null,null]"#] {
        let shown = "expected an object, found an array";
        assert_eq!(refusal::<Node>(json).to_string(), shown);
        assert_eq!(refusal::<Shape>(json).to_string(), shown);
        assert_eq!(refusal::<Map<i64>>(json).to_string(), shown);
        assert_eq!(refusal::<RawObject>(json).to_string(), shown);
        let nested = refusal::<Node>(&format!(r#"{{"kind":"node","child":{json}}}"#));
        assert_eq!(nested.to_string(), format!("`child`: {shown}"));
    }
}

#[test]
fn an_error_has_the_path_and_both_values() {
    for (json, shown) in [
        (
            r#"{"kind":"node","child":{"kind":"node","shapes":[{"type":"a"},{"type":"b"},{"x":{},"type":3}]}}"#,
            "`child.shapes[2].type`: expected a string, found a number",
        ),
        (r#"{"text":"a"}"#, "`kind`: expected a required member, found nothing"),
        (
            r#"{"kind":"node","text":[]}"#,
            "`text`: expected a string, found an array",
        ),
        (
            r#"{"kind":"node","size":"1"}"#,
            "`size`: expected an integer, found a string",
        ),
        (
            r#"{"kind":"node","size":1.5}"#,
            "`size`: expected an integer, found the fraction 1.5",
        ),
        (
            r#"{"kind":"node","size":9223372036854775808}"#,
            "`size`: expected an integer of 64 bits, found the larger 9223372036854775808",
        ),
        (
            r#"{"kind":"node","counts":{"odd name":"1"}}"#,
            r#"`counts["odd name"]`: expected an integer, found a string"#,
        ),
        (
            r#"{"kind":"node"} x"#,
            "expected the end of the text, found 'x' at byte 16",
        ),
        (r#"{"kind":"node""#, "expected `,` or `}`, found the end of the text"),
    ] {
        assert_eq!(refusal::<Node>(json).to_string(), shown, "{json}");
    }
}

#[test]
fn integers_of_64_bits_are_decoded_from_any_notation() {
    for (text, integer) in [
        ("1.0", 1),
        ("1e2", 100),
        ("-0", 0),
        ("12300e-2", 123),
        ("9223372036854775807", i64::MAX),
        ("-9223372036854775808", i64::MIN),
        ("9223372036854775807.000", i64::MAX),
        ("0e99999999999999999999", 0),
    ] {
        assert_eq!(from_str::<i64>(text), Ok(integer), "{text}");
    }
    for text in [
        "9223372036854775808",
        "-9223372036854775809",
        "1e19",
        "1e99999999999999999999",
        "18446744073709551615",
    ] {
        assert_eq!(refusal::<i64>(text).kind(), DecodeErrorKind::OutOfRange, "{text}");
    }
    for text in ["0.5", "1e-1", "1e-99999999999999999999"] {
        assert_eq!(refusal::<i64>(text).kind(), DecodeErrorKind::WrongType, "{text}");
    }
    for text in [
        "01", "+1", "1.", ".5", "1e", "1e+", "-", "0x1", "NaN", "Infinity", "1_000", "--1",
    ] {
        assert_eq!(refusal::<i64>(text).kind(), DecodeErrorKind::Syntax, "{text}");
        assert_eq!(refusal::<Number>(text).kind(), DecodeErrorKind::Syntax, "{text}");
    }
}

#[test]
fn open_numbers_keep_their_text() {
    for text in [
        "21.50",
        "1.0",
        "1e2",
        "18446744073709551616",
        "1e400",
        "0.1000000000000000055511151231257827",
        "-0",
    ] {
        assert_eq!(again::<RawJson>(text), text);
        let json = format!(r#"{{"kind":"node","open":{text},"x":{text}}}"#);
        assert_eq!(again::<Node>(&json), json);
    }
}

#[test]
fn declared_numbers_that_64_bits_cannot_represent_keep_their_digits() {
    for text in [
        "18446744073709551616",
        "1e400",
        "-1e400",
        "9223372036854775808",
        "1e-999",
        "-1e-999",
        "0.12345678901234567890",
        "123456789.12345678901",
        "4e-324",
    ] {
        assert_eq!(again::<Number>(text), text);
        let json = format!(r#"{{"type":"circle","radius":{text}}}"#);
        assert_eq!(again::<Shape>(&json), json);
    }
    for (text, written) in [("0.50", "0.5"), ("25e-1", "2.5"), ("1.0", "1"), ("0.1", "0.1")] {
        assert_eq!(again::<Number>(text), written);
    }
}

#[test]
fn numbers_are_compared_by_value_and_as_f64_returns_the_nearest() {
    let number = |text: &str| from_str::<Number>(text).unwrap();
    assert_eq!(number("1e400"), number("10e399"));
    assert_eq!(number("1e300"), Number::from(1e300));
    assert_eq!(number("9100000000000000000"), Number::from(9.1e18));
    assert_ne!(number("1e-999"), number("0"));
    assert_ne!(number("1e-999"), number("1e-998"));
    assert_ne!(number("0.12345678901234567890"), number("0.12345678901234567891"));
    assert_ne!(number("1e400"), Number::from(f64::INFINITY));
    assert_eq!(number("1e-999").as_f64(), 0.0);
    assert_eq!(number("0.12345678901234567890").as_f64(), 0.123_456_789_012_345_68);
    assert_eq!(number("-1e400").as_f64(), f64::NEG_INFINITY);
}
