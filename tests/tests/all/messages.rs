//! Whole JSON-RPC messages: their kinds, and unknown content that they keep.

use mcp_adapters::mcp_wire::{
    Batch, Call, DecodeErrorKind, ErrorObject, ErrorResponse, Message, Notice, RequestId, Response, from_slice,
    from_str,
};
use mcp_adapters::v2025_11_25::*;
use mcp_adapters::{v2024_11_05, v2025_03_26};
use mcp_tests::orders;
use serde_json::json;

fn text_of(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn a_request_is_decoded_from_bytes_with_its_id() {
    let message: ClientMessage = from_slice(PING.as_bytes()).unwrap();
    let expected = Message::Request(Call {
        id: RequestId::from("a"),
        request: PingRequest::default().into(),
    });
    assert_eq!(message, expected);
    assert_eq!(text_of(&message), PING);
}

#[test]
fn a_request_is_decoded_with_any_order_of_members_and_escapes_in_the_method() {
    let expected = Message::Request(Call {
        id: RequestId::Integer(1),
        request: CallToolRequest::new(CallToolRequestParams::new("add").with_arguments(json!({"a": []}))).into(),
    });
    for method in [r#""tools/call""#, r#""tools\/call""#, r#" "t\u006fols/call" "#] {
        let method = format!("\"method\":{method}");
        let others = [
            r#""jsonrpc":"2.0""#,
            r#""id":1"#,
            r#""params":{"arguments":{"a":[]},"name":"add"}"#,
        ];
        let members = [&others[..], &[&method]].concat();
        for order in orders(&members) {
            let text = format!("{{{}}}", order.join(","));
            assert_eq!(from_str::<ClientMessage>(&text).as_ref(), Ok(&expected), "{text}");
        }
    }
}

#[test]
fn members_that_the_envelope_also_has_are_written_once() {
    let request = from_str::<PingRequest>(r#"{"jsonrpc":"1.0","id":"b","method":"ping","x":1}"#).unwrap();
    let id = RequestId::from("a");
    let expected = r#"{"jsonrpc":"2.0","id":"a","method":"ping","x":1}"#;
    assert_eq!(text_of(&Call { id, request }), expected);
    let notification = r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#;
    let notification = from_str::<InitializedNotification>(notification).unwrap();
    assert_eq!(text_of(&Notice { notification }), INITIALIZED);
}

#[test]
fn a_notification_has_no_id() {
    let message: ClientMessage = from_str(INITIALIZED).unwrap();
    let expected = Message::Notification(Notice {
        notification: InitializedNotification::default().into(),
    });
    assert_eq!(message, expected);
    assert_eq!(text_of(&message), INITIALIZED);
}

#[test]
fn the_result_of_a_response_is_decoded_only_once_its_method_is_known() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"x":1.50}}"#;
    let Message::Response(response) = from_str::<ServerMessage>(text).unwrap() else {
        panic!("not a response");
    };
    assert_eq!(response.result.text(), r#"{"tools":[],"x":1.50}"#);
    assert_eq!(text_of(&response), text);
    let result = ServerResult::decode("tools/list", &response.result).unwrap();
    assert!(matches!(result, Some(ServerResult::ListTools(_))), "{result:?}");
    assert_eq!(ServerResult::decode("tools/forget", &response.result), Ok(None));
    assert!(ServerResult::decode("tools/call", &response.result).is_err());
    let typed: ListToolsResult = response.result.decode_as().unwrap();
    assert_eq!(text_of(&Response::new(1, typed)), text);
}

#[test]
fn the_type_of_a_result_is_chosen_by_its_members_if_a_method_has_two() {
    let decode = |json| ServerResult::decode("tools/call", &json);
    let task = json!({"task": {
        "taskId": "1", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": null
    }});
    assert!(matches!(decode(task.into()), Ok(Some(ServerResult::CreateTask(_)))));
    assert!(matches!(
        decode(json!({"content": []}).into()),
        Ok(Some(ServerResult::CallTool(_)))
    ));
}

#[test]
fn an_error_response_keeps_its_data() {
    let text = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no","data":{"uri":"a:b","n":1.0}}}"#;
    let Message::Error(response) = from_str::<ServerMessage>(text).unwrap() else {
        panic!("not an error");
    };
    assert_eq!(response.error.code, error_code::RESOURCE_NOT_FOUND);
    assert_eq!(text_of(&response), text);
    let made = ErrorResponse::new(
        Some(1.into()),
        ErrorObject::new(-32002, "no").with_data(json!({"uri": "a:b", "n": 1.0})),
    );
    assert_eq!(response, made);
}

#[test]
fn an_unknown_method_is_kept() {
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"vendor/do","params":{"b":1.50,"a":[]}}"#;
    let message: ClientMessage = from_str(text).unwrap();
    let Message::Request(call) = &message else {
        panic!("{message:?}");
    };
    let ClientRequest::Unknown(unknown) = &call.request else {
        panic!("{call:?}");
    };
    assert_eq!(unknown.method, "vendor/do");
    assert_eq!(text_of(&message), text);
    // A method of the other direction is also kept.
    let roots = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let Message::Request(call) = from_str::<ClientMessage>(roots).unwrap() else {
        panic!("not a request");
    };
    assert!(matches!(call.request, ClientRequest::Unknown(_)));
}

#[test]
fn unknown_members_of_the_envelope_are_kept_in_every_kind_of_message() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","trace":1.0}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","trace":1.0}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"trace":1.0}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","more":[]},"trace":1.0}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"vendor/do","trace":1.0}"#,
    ] {
        assert_eq!(text_of(&from_str::<ClientMessage>(text).unwrap()), text);
    }
}

#[test]
fn an_invalid_id_is_an_error_and_never_makes_another_kind_of_message() {
    for (id, kind) in [
        ("1.5", DecodeErrorKind::WrongType),
        ("18446744073709551615", DecodeErrorKind::OutOfRange),
        ("null", DecodeErrorKind::WrongType),
        ("{}", DecodeErrorKind::WrongType),
        ("true", DecodeErrorKind::WrongType),
    ] {
        for text in [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"notifications/initialized"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
        ] {
            let error = from_str::<ClientMessage>(&text).unwrap_err();
            assert_eq!(
                (error.kind(), error.path().to_string().as_str()),
                (kind, "id"),
                "{text}: {error}"
            );
        }
    }
}

#[test]
fn invalid_messages_are_refused() {
    for text in [
        r#"{"jsonrpc":"2.0"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        "[]",
        "7",
        "",
    ] {
        assert!(from_str::<ClientMessage>(text).is_err(), "{text}");
    }
}

#[test]
fn only_the_revision_with_batches_accepts_a_batch() {
    let batch = format!("[{PING},{INITIALIZED}]");
    let decoded: v2025_03_26::ClientMessage = from_str(&batch).unwrap();
    let Batch::Many(messages) = &decoded else {
        panic!("{decoded:?}");
    };
    assert!(matches!(messages[..], [Message::Request(_), Message::Notification(_)]));
    assert_eq!(text_of(&decoded), batch);
    let one: v2025_03_26::ClientMessage = from_str(PING).unwrap();
    assert!(matches!(one, Batch::One(Message::Request(_))));
    assert_eq!(text_of(&one), PING);

    let bad = format!(r#"[{PING},{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":1}}}}]"#);
    let error = from_str::<v2025_03_26::ClientMessage>(&bad).unwrap_err();
    assert_eq!(error.path().to_string(), "[1].params.name");

    assert!(from_str::<v2024_11_05::ClientMessage>(&batch).is_err());
    assert!(from_str::<ClientMessage>(&batch).is_err());
}

#[test]
fn text_that_is_not_utf_8_is_a_syntax_error() {
    let error = from_slice::<ClientMessage>(b"{\"jsonrpc\":\"\xff\"}").unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Syntax);
}
