//! Texts that would take many times their length of memory, or would be told in errors as long as they are.

use mcp_wire::{Batch, DecodeErrorKind, Map, Message, RawJson, UnknownMethod, Validate, from_str};

use crate::refusal;
use crate::shapes::{Node, Shape};

/// Enough for more than the memory that any text may take.
const LENGTH: usize = 300_000;

/// An array of some `length` bytes.
fn array(element: &str, length: usize) -> String {
    format!("[{}]", vec![element; length / (element.len() + 1)].join(","))
}

#[test]
fn an_array_whose_elements_take_many_times_their_text_is_refused_with_its_place() {
    let nodes = format!(r#"{{"kind":"node","shapes":{}}}"#, array("{}", LENGTH));
    for json in [&nodes, &format!(r#"{{"kind":"node","child":{nodes}}}"#)] {
        let error = refusal::<Node>(json);
        assert_eq!(error.kind(), DecodeErrorKind::MemoryLimit, "{error}");
        let path = error.path().to_string();
        assert!(path.contains("shapes["), "{path}");
    }
    let ones = array("1", LENGTH);
    let error = from_str::<Vec<RawJson>>(&ones).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::MemoryLimit);
    // As one value, the same is kept as text.
    assert_eq!(from_str::<RawJson>(&ones).unwrap().text(), ones);
}

#[test]
fn elements_that_hold_something_are_decoded_however_many_there_are() {
    let circles = array(r#"{"type":"circle","radius":1}"#, LENGTH);
    assert!(from_str::<Vec<Shape>>(&circles).is_ok());
    assert!(from_str::<Vec<String>>(&array(r#""a""#, LENGTH)).is_ok());
    let members: Vec<String> = (0..30_000).map(|member| format!(r#""{member:x}":1"#)).collect();
    assert!(from_str::<Map<i64>>(&format!("{{{}}}", members.join(","))).is_ok());
    type AnyMessage = Message<UnknownMethod, UnknownMethod>;
    let batch = array(r#"{"jsonrpc":"2.0","method":""}"#, LENGTH);
    assert!(from_str::<Batch<AnyMessage>>(&batch).is_ok());
}

#[test]
fn a_short_text_is_decoded_whatever_its_elements_take() {
    let open = array("1", 20_000);
    assert!(from_str::<Vec<RawJson>>(&open).is_ok());
}

#[test]
fn an_error_is_short_however_long_the_text_is() {
    let long = "é\u{1}".repeat(50_000).replace('\u{1}', "\\u0001");
    for json in [
        format!(r#"{{"kind":"node","counts":{{"{long}":""}}}}"#),
        format!(r#"{{"kind":"node","{long}":1,"{long}":1}}"#),
        format!(r#"{{"kind":"node","size":1.5{}}}"#, "0".repeat(100_000)),
        format!(r#"{{"kind":"node","size":{}}}"#, "1".repeat(100_000)),
    ] {
        let error = refusal::<Node>(&json);
        assert!(error.to_string().len() < 1_000, "{}", error.to_string().len());
    }
    let version = refusal::<Message<UnknownMethod, UnknownMethod>>(&format!(r#"{{"jsonrpc":"{long}","method":""}}"#));
    assert!(version.to_string().len() < 1_000);

    let node: Node = from_str(&format!(r#"{{"kind":"{long}","text":null,"child":{{"kind":1}}}}"#)).unwrap();
    let invalid = node.validate().unwrap_err();
    assert_eq!(invalid.violations.len(), 3);
    assert!(invalid.to_string().len() < 1_500, "{}", invalid.to_string().len());
}
