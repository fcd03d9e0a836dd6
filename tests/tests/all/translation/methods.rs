//! Methods that one revision has and another lacks.

use mcp_adapters::mcp_wire::Message;
use mcp_adapters::{Conversion, Policy, Revision, Translated, hub, peers};
use mcp_tests::orders;
use serde_json::{Value, json};

use super::{
    AUTOMATIC, EARLIER, Outcome, expected, from_client, from_server, refusal, single, supplied, to_client, to_server,
    unchanged,
};

#[test]
fn a_request_unknown_to_the_target_is_answered_with_method_not_found_and_not_sent() {
    for peer in EARLIER {
        let request = json!({"jsonrpc": "2.0", "id": "a", "method": "tasks/get", "params": {"taskId": "t"}});
        // The error names the hub's revision, because all messages go through the hub.
        let message = "`method`: revision 2026-07-28 has no method tasks/get";
        assert_eq!(to_server(peer, &request), refusal(json!("a"), -32601, message));
        assert_eq!(to_client(peer, &request), refusal(json!("a"), -32601, message));
    }
}

#[test]
fn a_notification_unknown_to_the_target_is_dropped_and_recorded() {
    let status = json!({
        "jsonrpc": "2.0", "method": "notifications/tasks/status",
        "params": {
            "taskId": "t", "status": "working", "ttl": null,
            "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z",
        },
    });
    let complete = json!({
        "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "e"},
    });
    for peer in EARLIER {
        let dropped = || Outcome::Dropped(expected(&[["(root)", "dropped", AUTOMATIC]]));
        assert_eq!(to_client(peer, &status), dropped());
        assert_eq!(to_server(peer, &status), dropped());
        assert_eq!(to_client(peer, &complete), dropped());
    }
}

#[test]
fn messages_with_a_method_that_no_revision_declares_are_passed_on_unchanged() {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "example/extension", "params": {"a": 1}});
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/stderr", "params": {"content": "x"}});
    for peer in EARLIER {
        assert_eq!(from_client(peer, &request), unchanged(&request));
        assert_eq!(to_server(peer, &request), unchanged(&request));
        assert_eq!(from_server(peer, &notification), unchanged(&notification));
        assert_eq!(to_client(peer, &notification), unchanged(&notification));
    }
}

#[test]
fn a_later_method_from_an_earlier_peer_is_refused_unless_it_is_carried_and_valid() {
    let request = |version| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }}})
    };
    let method = |peer, message: &Value, policy| {
        let conversion = Conversion::new(policy);
        let read = peers::client_message(peer, message.to_string().as_bytes(), conversion).unwrap();
        match single(read) {
            Translated::Message {
                message: Message::Request(call),
                ..
            } => match call.request {
                hub::ClientRequest::Discover(_) => "known",
                hub::ClientRequest::Unknown(_) => "unknown",
                _ => "another",
            },
            _ => "refused",
        }
    };
    let (right, wrong) = (request(json!("2026-07-28")), request(json!(1)));
    for peer in EARLIER {
        assert_eq!(method(peer, &right, Policy::Conform), "refused");
        // A request that a gateway carried to an earlier revision is restored.
        assert_eq!(method(peer, &right, Policy::Carry), "known");
        assert_eq!(method(peer, &wrong, Policy::Carry), "refused");
    }
    assert_eq!(method(Revision::HUB, &right, Policy::Conform), "known");
}

#[test]
fn a_notification_of_a_later_revision_from_an_earlier_peer_is_dropped() {
    let told = json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {}});
    for peer in EARLIER {
        let losses = expected(&[["(root)", "dropped", AUTOMATIC]]);
        assert_eq!(from_client(peer, &told), Outcome::Dropped(losses));
    }
}

#[test]
fn a_message_converts_the_same_in_any_order_of_its_members() {
    let members = [
        r#""jsonrpc":"2.0""#,
        r#""id":"a""#,
        r#""method":"tools/call""#,
        r#""params":{"name":"echo","arguments":{"text":"a text of more than thirty-two bytes"}}"#,
        r#""other": null"#,
    ];
    let read = |peer, json: &str| match single(peers::client_message(peer, json.as_bytes(), supplied()).unwrap()) {
        Translated::Message { message, losses } => (message, losses),
        other => panic!("{json}: {other:?}"),
    };
    for peer in EARLIER {
        let expected = read(peer, &format!("{{{}}}", members.join(",")));
        for order in orders(&members) {
            let json = format!(" {{ {} }}", order.join(" , "));
            assert_eq!(read(peer, &json), expected, "{json}");
        }
    }
}
