//! Texts that aren't JSON, and those that almost are.

use mcp_wire::{DecodeErrorKind, Message, RawJson, UnknownMethod, from_slice};
use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::refusal;
use super::shapes::Node;

type AnyMessage = Message<UnknownMethod, UnknownMethod>;

const MESSAGE: &str = r#" {"jsonrpc": "2.0", "id": -12.0e0, "method": "a\u00e9\\\"/b", "params": {"x": [1, true, null, {}], "": "é💡"}, "y": []} "#;
const NODE: &str = r#"{"kind":"node","text":"\ud83d\ude00é","size":1.0e1,"child":{"shapes":[{"radius":0.5,"type":"circle"}],
    "kind":"node"},"counts":{"a":1},"open":[{"b":[false,-1e-3]},"\n"],"x":null}"#;

/// Whether another parser accepts the bytes as JSON.
fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok() && std::str::from_utf8(bytes).is_ok()
}

#[test]
fn a_truncated_text_is_an_error() {
    for (text, decodes) in [
        (
            MESSAGE.trim(),
            (|bytes| from_slice::<AnyMessage>(bytes).is_ok()) as fn(&[u8]) -> bool,
        ),
        (NODE, |bytes| from_slice::<Node>(bytes).is_ok()),
        (NODE, |bytes| from_slice::<RawJson>(bytes).is_ok()),
    ] {
        assert!(decodes(text.as_bytes()), "{text}");
        for length in 0..text.len() {
            assert!(!decodes(&text.as_bytes()[..length]), "{length} bytes of {text}");
        }
    }
}

#[test]
fn invalid_utf_8_is_an_error_with_its_offset() {
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc0\xaf\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xe9",
    ] {
        let error = from_slice::<RawJson>(bytes).unwrap_err();
        assert_eq!(
            (error.kind(), error.offset()),
            (DecodeErrorKind::Syntax, 1),
            "{bytes:?}"
        );
    }
    assert!(from_slice::<RawJson>(b"\xef\xbb\xbf{}").is_err(), "a byte order mark");
}

#[test]
fn an_unpaired_surrogate_in_a_string_is_an_error() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800\ud800""#,
        r#""\ud83dx""#,
        r#""\ude00\ud83d""#,
    ] {
        assert_eq!(refusal::<String>(text).kind(), DecodeErrorKind::Syntax, "{text}");
        let error = refusal::<Node>(&format!(r#"{{"kind":"node","text":{text}}}"#));
        assert_eq!(error.path().to_string(), "text", "{text}");
        refusal::<Node>(&format!(r#"{{"kind":"node",{text}:1}}"#));
    }
}

#[test]
fn an_error_in_a_string_has_its_place() {
    for (text, shown) in [
        (r#""ab\x""#, r"expected a valid escape, found '\\' at byte 3"),
        (
            "\"ab\ncd\"",
            r"expected no unescaped control character, found '\n' at byte 3",
        ),
        ("\"ab", "expected the end of the string, found the end of the text"),
    ] {
        assert_eq!(refusal::<String>(text).to_string(), shown);
        assert_eq!(refusal::<RawJson>(text).to_string(), shown);
    }
}

#[test]
fn text_that_is_almost_json_is_an_error() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "{,}",
        r#"{"kind":"node",}"#,
        r#"{"kind" "node"}"#,
        r#"{"kind":}"#,
        r#"{kind:"node"}"#,
        r#"{'kind':'node'}"#,
        r#"{"kind":"node"}{}"#,
        r#"{"kind":"node"},"#,
        r#"{"kind":"node","x":01}"#,
        r#"{"kind":"node","x":tru}"#,
        r#"{"kind":"node","x":nul}"#,
        r#"{"kind":"node","x":[1,]}"#,
        r#"{"kind":"node","shapes":[{},]}"#,
        r#"{"kind":"node","shapes":[,{}]}"#,
        r#"{"kind":"node","shapes":[{} {}]}"#,
        r#"{"kind":"node","text":nullx}"#,
        r#"{"kind":"node","text":"\x"}"#,
        r#"{"kind":"node","text":"\u12"}"#,
        "{\"kind\":\"node\",\"text\":\"\n\"}",
        "{\"kind\":\"node\",\"text\":\"\0\"}",
        "{\"kind\":\"node\",\"te\txt\":1}",
        r#"{"kind":"node"/**/}"#,
        "{\"kind\":\"node\"\u{a0}}",
        "{\"kind\":\"node\"}\0",
        "\u{feff}{\"kind\":\"node\"}",
    ] {
        assert!(!is_json(text.as_bytes()), "{text:?}");
        assert_eq!(refusal::<Node>(text).kind(), DecodeErrorKind::Syntax, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic_and_are_decoded_only_if_they_are_json(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        for text in [MESSAGE, NODE] {
            let mut bytes = text.as_bytes().to_vec();
            for (index, byte) in &flips {
                let at = index.index(bytes.len());
                bytes[at] = *byte;
            }
            let json = is_json(&bytes);
            prop_assert_eq!(from_slice::<RawJson>(&bytes).is_ok(), json);
            prop_assert!(json || from_slice::<AnyMessage>(&bytes).is_err());
            prop_assert!(json || from_slice::<Node>(&bytes).is_err());
        }
    }

    #[test]
    fn a_text_is_decoded_as_open_json_if_and_only_if_it_is_json(text in r#"[\[\]{}",:0-9eE.+\-tfn \\u\n]{0,24}"#) {
        let held = from_slice::<RawJson>(text.as_bytes());
        prop_assert_eq!(held.is_ok(), is_json(text.as_bytes()));
        if let Ok(held) = held {
            prop_assert_eq!(held.text(), text.trim_matches([' ', '\n']));
        }
    }
}
