//! Texts that would take many times their length in memory, or would be quoted in errors at full length.

use mcp_wire::{Batch, DecodeErrorKind, Map, Message, RawJson, UnknownMethod, Validate, from_str};

use super::refusal;
use super::shapes::{Node, Shape};

/// Long enough that elements can take more memory than every text can.
const LENGTH: usize = 300_000;

/// Returns an array of about `length` bytes.
fn array(element: &str, length: usize) -> String {
    format!("[{}]", vec![element; length / (element.len() + 1)].join(","))
}

#[test]
fn an_array_that_takes_too_much_memory_is_refused_with_its_path() {
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
    // As a single value, the same array is kept as text.
    assert_eq!(from_str::<RawJson>(&ones).unwrap().text(), ones);
}

#[test]
fn long_arrays_of_elements_with_content_are_decoded() {
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
fn a_short_text_is_decoded_even_if_its_elements_take_much_memory() {
    let open = array("1", 20_000);
    assert!(from_str::<Vec<RawJson>>(&open).is_ok());
}

#[test]
fn errors_about_long_texts_are_short() {
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
