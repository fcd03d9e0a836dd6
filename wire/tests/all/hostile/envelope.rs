//! The JSON-RPC envelope of methods and results.

use mcp_wire::{Call, DecodeErrorKind, Message, MessageHeader, Notice, RequestId, UnknownMethod, from_str};

use super::{again, refusal};

type AnyMessage = Message<UnknownMethod, UnknownMethod>;

/// Returns an object for each order of the members.
fn orders(members: &[&str]) -> Vec<String> {
    fn arrange(chosen: &mut Vec<String>, left: &[&str], found: &mut Vec<String>) {
        if left.is_empty() {
            found.push(format!("{{{}}}", chosen.join(",")));
        }
        for (index, member) in left.iter().enumerate() {
            let mut others = left.to_vec();
            others.remove(index);
            chosen.push((*member).to_owned());
            arrange(chosen, &others, found);
            chosen.pop();
        }
    }
    let mut found = Vec::new();
    arrange(&mut Vec::new(), members, &mut found);
    found
}

#[test]
fn an_invalid_id_is_an_error_in_any_order_of_members() {
    for id in [
        "18446744073709551615",
        "-9223372036854775809",
        "1e400",
        "1.5",
        "null",
        "{}",
        "[]",
        "true",
    ] {
        let id = format!(r#""id":{id}"#);
        for json in orders(&[r#""jsonrpc":"2.0""#, &id, r#""method":"m""#, r#""params":{"id":1}"#]) {
            assert_eq!(refusal::<AnyMessage>(&json).path().to_string(), "id", "{json}");
        }
        for json in orders(&[r#""jsonrpc":"2.0""#, &id, r#""result":{}"#]) {
            assert_eq!(refusal::<AnyMessage>(&json).path().to_string(), "id", "{json}");
        }
    }
}

#[test]
fn the_members_determine_the_kind_of_a_message_in_any_order() {
    let (version, id, method) = (r#""jsonrpc":"2.0""#, r#""id":1"#, r#""method":"m""#);
    let (result, error) = (r#""result":{"method":"m"}"#, r#""error":{"code":1,"message":"no"}"#);
    let message = |json: &str| from_str::<AnyMessage>(json).unwrap();
    for json in orders(&[version, id, method]) {
        assert!(matches!(message(&json), Message::Request(_)), "{json}");
    }
    for json in orders(&[version, method, r#""params":{"id":1}"#]) {
        assert!(matches!(message(&json), Message::Notification(_)), "{json}");
    }
    for json in orders(&[version, id, result]) {
        assert!(matches!(message(&json), Message::Response(_)), "{json}");
    }
    for json in orders(&[version, id, error]).iter().chain(&orders(&[version, error])) {
        assert!(matches!(message(json), Message::Error(_)), "{json}");
    }
    for json in orders(&[version, id, result, error])
        .iter()
        .chain(&orders(&[version, id]))
    {
        assert_eq!(
            refusal::<AnyMessage>(json).kind(),
            DecodeErrorKind::NotAMessage,
            "{json}"
        );
    }
}

#[test]
fn the_null_id_of_an_error_response_is_kept() {
    let json = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no JSON"},"id":null}"#;
    let Message::Error(response) = from_str::<AnyMessage>(json).unwrap() else {
        panic!("an error response")
    };
    assert_eq!(response.id, None);
    assert_eq!(serde_json::to_string(&response).unwrap(), json);
}

#[test]
fn the_version_must_be_2_and_occur_once() {
    for (json, shown) in [
        (
            r#"{"id":1,"method":"m"}"#,
            "`jsonrpc`: expected a required member, found nothing",
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#,
            "`jsonrpc`: expected the string \"2.0\", found the string \"1.0\"",
        ),
        (
            r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
            "`jsonrpc`: expected a string, found a number",
        ),
        (
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","method":"m"}"#,
            "`jsonrpc`: expected the member once, found it again",
        ),
        (
            r#"{"id":1,"result":{}}"#,
            "`jsonrpc`: expected a required member, found nothing",
        ),
        (
            r#"{"id":1,"error":{"code":1,"message":""}}"#,
            "`jsonrpc`: expected a required member, found nothing",
        ),
    ] {
        assert_eq!(refusal::<AnyMessage>(json).to_string(), shown, "{json}");
    }
    let error = refusal::<AnyMessage>(r#"{"jsonrpc": "1.0","method":"m"}"#);
    assert_eq!(error.offset(), 12, "the place of the value");
}

#[test]
fn a_header_checks_the_version_in_any_order_of_members() {
    for (version, is_valid) in [
        (r#""jsonrpc":"2.0""#, true),
        (r#""jsonrpc":"2\u002e0""#, true),
        (r#""jsonrpc":"1.0""#, false),
        (r#""jsonrpc":null"#, false),
        (r#""a":1"#, false),
    ] {
        for json in orders(&[version, r#""id":1"#, r#""method":"m""#, r#""params":{"a":[1]}"#]) {
            let header = MessageHeader::from_slice(json.as_bytes()).unwrap();
            assert_eq!(header.check_version().is_ok(), is_valid, "{json}");
        }
    }
}

#[test]
fn a_duplicate_member_of_the_envelope_is_an_error() {
    for json in [
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","\u0069d":2}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"id":1}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""},"id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"id":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":null,"data":1}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":null,"params":{}}"#,
    ] {
        assert_eq!(
            refusal::<AnyMessage>(json).kind(),
            DecodeErrorKind::DuplicateMember,
            "{json}"
        );
    }
}

#[test]
fn a_notification_with_an_id_and_a_request_without_one_are_errors() {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"m"}"#;
    assert_eq!(
        refusal::<Notice<UnknownMethod>>(request).kind(),
        DecodeErrorKind::NotAMessage
    );
    let missing = refusal::<Call<UnknownMethod>>(notification);
    assert_eq!(
        (missing.kind(), missing.path().to_string().as_str()),
        (DecodeErrorKind::MissingMember, "id")
    );
}

#[test]
fn an_integral_id_is_the_same_in_any_notation() {
    for id in ["7", "7.0", "70e-1", "0.7e1"] {
        let call: Call<UnknownMethod> = from_str(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#)).unwrap();
        assert_eq!(call.id, RequestId::from(7), "{id}");
    }
    for id in [i64::MIN, i64::MAX] {
        let json = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        assert_eq!(again::<AnyMessage>(&json), json);
    }
}

#[test]
fn values_that_are_not_messages_are_refused() {
    for json in [
        "[]",
        "null",
        "1",
        "\"method\"",
        "true",
        "{}",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]",
    ] {
        refusal::<AnyMessage>(json);
    }
}
