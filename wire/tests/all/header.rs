//! The header of a message, compared with the decoded message.

use mcp_wire::{
    BatchElements, DecodeErrorKind, Message, MessageHeader, MessageKind, Payload, RawJson, RequestId, Response,
    UnknownMethod, from_str,
};
use proptest::prelude::*;

type AnyMessage = Message<UnknownMethod, UnknownMethod>;

fn header(json: &str) -> MessageHeader<'_> {
    MessageHeader::from_slice(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn batch(json: &str) -> BatchElements<'_> {
    match Payload::from_slice(json.as_bytes()) {
        Ok(Payload::Batch(elements)) => elements,
        other => panic!("{json}: {other:?}"),
    }
}

fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// Values that are difficult for some JSON parsers.
fn odd_values() -> Vec<String> {
    let values = [
        "1",
        "7.0",
        "1e999",
        "18446744073709551616",
        "null",
        "true",
        r#""m""#,
        r#""\u006d""#,
        r#""\ud800""#,
        r#"{"a":1,"a":2}"#,
        r#"{"\ud800":1}"#,
        r#"{"$serde_json::private::RawValue":"{}"}"#,
        r#"{"$serde_json::private::Number":"1"}"#,
        r#"{"code":1,"message":"no"}"#,
        r#"{"_meta":{"progressToken":1e999},"x":"\udfff"}"#,
        r#"{"method":"m","id":1}"#,
        "{}",
        "[ ]",
    ];
    let deep = [126, 127, 128, 300].map(nested);
    let long = "a".repeat(100);
    let long = [
        format!("{long:?}"),
        format!("\"{long}\\n\""),
        format!("\"{long}\\ud800\""),
        format!(r#"{{"a":{long:?}, "b":{{"a":[{long:?}],"a":1}}}}"#),
    ];
    values.map(str::to_owned).into_iter().chain(deep).chain(long).collect()
}

fn messages() -> impl Strategy<Value = String> {
    let names = [
        r#""jsonrpc""#,
        r#""id""#,
        r#""i\u0064""#,
        r#""method""#,
        r#""params""#,
        r#""result""#,
        r#""error""#,
        r#""other""#,
        r#""\ud800""#,
    ];
    let value = prop_oneof![2 => Just("\"2.0\"".to_owned()), 5 => prop::sample::select(odd_values())];
    let fitting = prop::sample::select(vec![
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"2.0""#,
        r#""id":1"#,
        r#""id":"a""#,
        r#""method":"m""#,
        r#""params":{}"#,
        r#""result":{}"#,
        r#""error":{"code":1,"message":"no"}"#,
    ]);
    let any = (prop::sample::select(names.to_vec()), value, "[ \n\t]{0,2}")
        .prop_map(|(name, value, space)| format!("{space}{name}{space}:{value}{space}"));
    let member = prop_oneof![3 => fitting.prop_map(str::to_owned), 1 => any];
    prop::collection::vec(member, 0..6).prop_map(|members| format!(" {{{}}} ", members.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_header_agrees_with_the_decoded_message(json in messages()) {
        let header = MessageHeader::from_slice(json.as_bytes());
        let Ok(message) = from_str::<AnyMessage>(&json) else {
            return Ok(());
        };
        let header = header.map_err(|error| TestCaseError::fail(format!("{json}: {error}")))?;
        let told = (header.kind(), header.id(), header.method(), header.params().map(|params| params.text().to_owned()));
        let call = |call: UnknownMethod| {
            // Optional parameters that are `null` are kept as an undeclared member.
            let params = call.params.map(|params| params.text().to_owned());
            (Some(call.method.into()), params.or_else(|| call.extra.get("params").map(|params| params.text().to_owned())))
        };
        let (kind, id, (method, params)) = match message {
            Message::Request(message) => (MessageKind::Request, Some(message.id), call(message.request)),
            Message::Notification(message) => (MessageKind::Notification, None, call(message.notification)),
            Message::Response(message) => {
                let params = message.extra.get("params").map(|params| params.text().to_owned());
                (MessageKind::Response, Some(message.id), (None, params))
            }
            Message::Error(message) => {
                let params = message.extra.get("params").map(|params| params.text().to_owned());
                (MessageKind::Error, message.id, (None, params))
            }
        };
        prop_assert_eq!(told, (Ok(kind), id, method, params), "{}", json);
    }

    #[test]
    fn a_message_decodes_the_same_with_its_header(json in messages()) {
        if let Ok(header) = MessageHeader::from_slice(json.as_bytes()) {
            // Of several errors, either can be the reported one.
            prop_assert_eq!(header.decode::<AnyMessage>().ok(), from_str(&json).ok(), "{}", json);
        }
    }

    #[test]
    fn a_response_read_in_place_equals_the_decoded_one(json in messages()) {
        let in_place = Response::<RawJson>::read_in_place(json.as_bytes(), |_, result| result.decode().ok());
        let decoded = match from_str::<AnyMessage>(&json) {
            Ok(Message::Response(response)) if response.extra.is_empty() => Some(response),
            _ => None,
        };
        let places = json.find("\"id\"").zip(json.find("\"result\""));
        if in_place.is_some() || places.is_some_and(|(id, result)| id < result) {
            prop_assert_eq!(in_place, decoded, "{}", json);
        }
    }

    #[test]
    fn the_elements_of_a_batch_are_its_messages(
        messages in prop::collection::vec(messages(), 0..5)
    ) {
        let json = format!(" [{}] ", messages.join(" , "));
        let elements = batch(&json);
        prop_assert!(!elements.is_longer_than(messages.len()));
        prop_assert!(messages.is_empty() || elements.is_longer_than(messages.len() - 1));
        let read: Vec<Option<&str>> = elements.map(|element| Some(element.ok()?.message().text())).collect();
        let alone = |json: &String| MessageHeader::from_slice(json.as_bytes()).is_ok().then(|| json.trim().to_owned());
        let expected: Vec<Option<String>> = messages.iter().map(alone).collect();
        prop_assert_eq!(read, expected.iter().map(Option::as_deref).collect::<Vec<_>>());
    }
}

#[test]
fn the_header_of_a_request_that_cannot_be_decoded_can_be_read() {
    for params in odd_values() {
        let json = format!(r#"{{"id":"a","method":"m","params":{params}}}"#);
        let header = header(&json);
        assert_eq!(header.kind(), Ok(MessageKind::Request));
        assert_eq!(header.id(), Some(RequestId::from("a")));
        assert_eq!(header.params().map(|params| params.text()), Some(&*params));
    }
    let header = header(r#"{"id":1e999,"method":"m"}"#);
    assert_eq!(
        (header.kind(), header.has_id(), header.id()),
        (Ok(MessageKind::Request), true, None)
    );
}

#[test]
fn duplicate_members_of_a_header_or_on_a_path_are_errors() {
    for json in [
        r#"{"id":1,"method":"m","\u0069d":2}"#,
        r#"{"id":null,"method":"m","id":2}"#,
        r#"{"id":1,"method":"m","params":null,"params":{}}"#,
    ] {
        let error = MessageHeader::from_slice(json.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::DuplicateMember, "{json}");
    }
    let json = r#"{"method":"m","params":{"mode":"form","a":{"b":1},"mode":"url"}}"#;
    let error = header(json).param(&["mode"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`params.mode`: expected the member once, found it again"
    );
    // Duplicate members that aren't on the path don't matter.
    assert_eq!(header(json).param(&["a", "b"]).unwrap().unwrap().text(), "1");
}

#[test]
fn a_nested_duplicate_member_is_an_error_and_other_members_are_found() {
    let json = r#"{"method":"m","params":{"_meta":{"a":1,"b":{"c":2},"a":3}}}"#;
    let header = header(json);
    // The second time, the members have been read.
    for _ in 0..2 {
        let error = header.param(&["_meta", "a"]).unwrap_err();
        let expected = "`params._meta.a`: expected the member once, found it again";
        assert_eq!(error.to_string(), expected);
        let value = header.param(&["_meta", "b", "c"]).unwrap().unwrap();
        assert_eq!((value.text(), &json[value.offset()..][..1]), ("2", "2"));
    }
}

#[test]
fn a_parameter_is_found_by_its_path_and_has_its_offset() {
    let json = r#" {"id":1, "method":"m","params": { "_meta" : {"progressToken": 5e0 } } }"#;
    let message = json.trim_start();
    let header = header(json);
    let token = header.param(&["_meta", "progressToken"]).unwrap().unwrap();
    assert_eq!((token.text(), token.decode_as()), ("5e0", Ok(5_i64)));
    assert!(message[token.offset()..].starts_with("5e0"));
    for absent in [
        &["requestId"][..],
        &["_meta", "progressToken", "deeper"],
        &["_meta", "x"],
    ] {
        assert!(header.param(absent).unwrap().is_none(), "{absent:?}");
    }
}

#[test]
fn the_error_about_an_invalid_message_has_the_reason() {
    for (json, why) in [
        (
            "{}",
            "expected a member `method`, `result` or `error`, found none of them",
        ),
        (
            r#"{"result":1,"error":2}"#,
            "expected only one of `method`, `result` and `error`, found several of them",
        ),
        (
            r#"{"result":1,"method":"m"}"#,
            "expected only one of `method`, `result` and `error`, found several of them",
        ),
    ] {
        assert_eq!(header(json).kind().unwrap_err().to_string(), why, "{json}");
    }
    for (json, why) in [
        ("5", "expected an object, found a number"),
        ("[", "expected `,` or `]`, found the end of the text"),
        ("{} {}", "expected the end of the text, found '{' at byte 3"),
    ] {
        assert_eq!(
            Payload::from_slice(json.as_bytes()).unwrap_err().to_string(),
            why,
            "{json}"
        );
    }
}

#[test]
fn the_text_of_a_payload_has_no_white_space_around_it() {
    for text in [r#"{"method": "m"}"#, "[ 1, {} ]"] {
        let json = format!(" \n{text}\t");
        assert_eq!(Payload::from_slice(json.as_bytes()).unwrap().text(), text);
    }
}
