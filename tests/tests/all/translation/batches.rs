//! Batches, which only 2025-03-26 has.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use mcp_adapters::mcp_wire::{Batch, DecodeErrorKind};
use mcp_adapters::{Policy, Revision, peers};
use serde_json::{Value, json};

use super::{Outcome, outcome, refusal, to_client, to_server, unchanged};

#[test]
fn a_batch_of_2025_03_26_is_split_and_each_message_is_translated_separately() {
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "example/ping"},
        {"jsonrpc": "2.0", "method": "notifications/example"},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -1, "message": "no"}},
    ]);
    let read = peers::client_message(V2025_03_26, batch.to_string().as_bytes(), Policy::Conform.into()).unwrap();
    let Batch::Many(messages) = read else {
        panic!("one message")
    };
    let outcomes = messages
        .into_iter()
        .map(|message| outcome(message, |message| serde_json::to_value(message).unwrap()));
    let expected = batch.as_array().unwrap().iter().map(unchanged);
    assert_eq!(outcomes.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_batch_in_another_revision_is_an_invalid_request() {
    for batch in [r#"[{"jsonrpc":"2.0","id":1,"method":"example/ping"}]"#, " [1]", "[]"] {
        for peer in [V2024_11_05, V2025_06_18, V2025_11_25] {
            let refused = vec![refusal(Value::Null, -32600, "the revision has no batches")];
            assert_eq!(batch_outcomes(peer, batch), (false, refused), "{batch}");
        }
    }
}

#[test]
fn an_empty_batch_is_an_invalid_request() {
    let refused = vec![refusal(Value::Null, -32600, "an empty batch has no message")];
    assert_eq!(batch_outcomes(V2025_03_26, "\n[ ]"), (false, refused));
}

#[test]
fn an_invalid_element_of_a_batch_is_refused_with_its_id_and_the_others_are_read() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "example/ping"});
    let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {}});
    let elements = [
        (json!(1), Value::Null, -32600),
        (json!([]), Value::Null, -32600),
        (json!({}), Value::Null, -32600),
        (json!({"jsonrpc": "2.0", "id": 7}), json!(7), -32600),
        (
            json!({"jsonrpc": "1.0", "id": "a", "method": "example/ping"}),
            json!("a"),
            -32600,
        ),
        (json!({"id": 8, "method": "example/ping"}), json!(8), -32600),
        (
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "example/ping"}),
            Value::Null,
            -32600,
        ),
        (json!({"jsonrpc": "2.0", "id": 9, "method": 1}), json!(9), -32600),
        (
            json!({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": 1}}),
            json!(10),
            -32602,
        ),
        (
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}),
            Value::Null,
            -32600,
        ),
        // This id is ours: the error must not look like a response to a request of the peer.
        (json!({"jsonrpc": "1.0", "id": 1, "result": {}}), Value::Null, -32600),
    ];
    for (element, id, code) in elements {
        let batch = json!([ping, element, answer]);
        let (is_batch, found) = batch_outcomes(V2025_03_26, &batch.to_string());
        assert!(is_batch);
        assert_eq!([&found[0], &found[2]], [&unchanged(&ping), &unchanged(&answer)]);
        let Outcome::Refused {
            id: named, code: given, ..
        } = &found[1]
        else {
            panic!("{element} became {:?}", found[1])
        };
        assert_eq!((named, *given), (&id, code), "{element}");
    }
}

#[test]
fn a_batch_of_malformed_json_is_a_syntax_error() {
    let batches = [
        "[",
        "[{]",
        "[1,]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"example/ping"}"#,
        "[] []",
    ];
    for batch in batches {
        for peer in Revision::ALL {
            let error = peers::client_message(peer, batch.as_bytes(), Policy::Conform.into()).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Syntax, "{batch}");
        }
    }
}

/// Reads a client's JSON as a server does. Returns whether it is a batch, and the outcome of each message.
fn batch_outcomes(peer: Revision, json: &str) -> (bool, Vec<Outcome>) {
    let read = peers::client_message(peer, json.as_bytes(), Policy::Conform.into()).unwrap();
    let (is_batch, messages) = match read {
        Batch::One(message) => (false, vec![message]),
        Batch::Many(messages) => (true, messages),
    };
    let outcomes = messages
        .into_iter()
        .map(|message| outcome(message, |message| serde_json::to_value(message).unwrap()));
    (is_batch, outcomes.collect())
}

#[test]
fn single_messages_to_a_peer_with_batches_are_not_sent_as_batches() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "example/ping"});
    assert_eq!(to_client(V2025_03_26, &ping), unchanged(&ping));
    assert_eq!(to_server(V2025_03_26, &ping), unchanged(&ping));
}
