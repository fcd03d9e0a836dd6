//! Ids of messages, and results, whose method determines their type.

use mcp_adapters::mcp_wire::{RawJson, Reader, Response};
use mcp_adapters::{FromPeer, FromResult, Policy, Revision, hub, peers, translatable};
use mcp_tests::corrected;
use serde_json::json;

use super::{
    AUTOMATIC, EARLIER, Outcome, assert_same, expected, from_client, from_server, sent_by_client, to_client, to_server,
    unchanged,
};

#[test]
fn an_error_without_an_id_is_translated_unchanged_from_and_to_every_revision() {
    let absent = json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "no JSON"}});
    let null = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "no JSON"}});
    for peer in Revision::ALL {
        for message in [&absent, &null] {
            assert_eq!(from_client(peer, message), unchanged(message));
            assert_eq!(from_server(peer, message), unchanged(message));
            assert_eq!(to_client(peer, message), unchanged(message));
            assert_eq!(to_server(peer, message), unchanged(message));
        }
    }
}

#[test]
fn a_cancellation_without_a_request_id_is_dropped_before_2025_11_25() {
    let nameless = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "bored"}});
    let named = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "bored"},
    });
    for peer in EARLIER {
        let dropped = || Outcome::Dropped(expected(&[["(root)", "dropped", AUTOMATIC]]));
        assert_eq!(to_client(peer, &nameless), dropped());
        assert_eq!(to_server(peer, &nameless), dropped());
        assert_eq!(to_client(peer, &named), unchanged(&named));
        assert_eq!(from_client(peer, &named), unchanged(&named));
    }
}

#[test]
fn a_result_is_read_as_the_type_that_its_method_determines() {
    let tools = json!([{"name": "t", "inputSchema": {"type": "object"}}]);
    let result = json!({"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    let result = RawJson::from(&result);
    for peer in Revision::ALL.into_iter().filter(|peer| *peer <= Revision::HUB) {
        let read = |method| peers::server_result(peer, method, &result, Policy::Conform.into());
        let read_tools = read("tools/list").unwrap().unwrap();
        assert_eq!(read_tools.losses, []);
        assert_same(&serde_json::to_value(&read_tools.result).unwrap()["tools"], &tools);
        assert!(matches!(read("resources/list"), Err(FromPeer::Invalid(_))));
        assert!(read("example/extension").unwrap().is_none());
    }
}

#[test]
fn a_result_is_the_same_whether_it_is_read_within_its_response_or_separately() {
    let shown = |read: FromResult<hub::ServerResult>| (serde_json::to_string(&read.result).unwrap(), read.losses);
    for peer in Revision::ALL {
        let mut read = 0;
        let results = translatable(peer).filter(|name| name.ends_with("Result"));
        for instance in results.flat_map(|name| corrected(peer).of(name, 1, 40)) {
            let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, instance.value);
            for method in peer.methods() {
                let alone = peers::server_result(peer, method.name, &(&instance.value).into(), Policy::Conform.into());
                let in_place = Response::read_in_place(response.as_bytes(), |_, result: &mut Reader<'_>| {
                    peers::read_server_result(peer, method.name, result, Policy::Conform.into()).ok()?
                });
                let (alone, in_place) = (alone.ok().flatten().map(shown), in_place.map(|read| shown(read.result)));
                assert_eq!(in_place, alone, "{peer} {}: {response}", method.name);
                read += usize::from(alone.is_some());
            }
        }
        assert!(read > 100, "{peer}: {read} of them");
    }
}

#[test]
fn a_response_is_translated_without_reading_its_result() {
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": "later"}});
    for peer in Revision::ALL {
        assert_eq!(from_server(peer, &response), unchanged(&response));
        assert_eq!(to_client(peer, &response), unchanged(&response));
    }
}

#[test]
fn a_message_from_the_hub_revision_to_itself_is_unchanged() {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call =
        json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "t", "task": 1, "_meta": meta}});
    assert_eq!(sent_by_client((Revision::HUB, Revision::HUB), &call), unchanged(&call));
}
