//! Messages with which sessions subscribe to changes, written and read in every revision.

use mcp_adapters::mcp_wire::{MessageHeader, RawJson, RequestId};
use mcp_adapters::session_messages::{self, ChangeFilter};
use mcp_adapters::{PeerTypes, Revision};
use serde_json::{Value, json};

fn filters() -> Vec<ChangeFilter> {
    let some = ChangeFilter {
        tool_list: true,
        ..ChangeFilter::default()
    };
    let uris = ChangeFilter::default().with_resource("file:///a").with_resource("");
    let all = ChangeFilter::lists().with_resource("file:///b");
    vec![ChangeFilter::default(), some, uris, all]
}

fn params(json: &RawJson) -> Value {
    json.parse().expect("it is JSON")
}

fn message(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

/// Returns the revisions that have a request for a stream of changes.
fn listening() -> Vec<Revision> {
    let revisions = Revision::ALL.into_iter();
    let listening: Vec<_> = revisions.filter(|it| it.lifecycle().listen.is_some()).collect();
    assert!(!listening.is_empty());
    listening
}

#[test]
fn a_request_for_changes_is_valid_and_survives_the_round_trip() {
    for revision in listening() {
        for filter in filters() {
            let (method, written) = session_messages::listen(revision, &filter).expect("the revision has it");
            let mut params = params(&written);
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": revision.as_str(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let mut request: Value = serde_json::from_str(&message(method, params)).expect("it is JSON");
            request["id"] = json!(1);
            let request = request.to_string();
            revision.validate_call(request.as_bytes()).expect("it is valid");
            let header = MessageHeader::from_slice(request.as_bytes()).expect("it is a message");
            assert_eq!(session_messages::read_listen(revision, &header).as_ref(), Ok(&filter));
        }
    }
}

#[test]
fn an_acknowledgement_is_valid_and_survives_the_round_trip_with_either_type_of_id() {
    for revision in listening() {
        for (filter, id) in filters().into_iter().zip([
            RequestId::Integer(7),
            RequestId::String("7".to_owned()),
            RequestId::Integer(-1),
            RequestId::String(String::new()),
        ]) {
            let (method, written) = session_messages::acknowledge(revision, &id, &filter).expect("the revision has it");
            let notification = message(method, params(&written));
            let valid = revision.validate_call(notification.as_bytes());
            valid.expect("it is valid");
            let header = MessageHeader::from_slice(notification.as_bytes()).expect("it is a message");
            assert_eq!(
                session_messages::read_acknowledgement(revision, &header).as_ref(),
                Ok(&filter)
            );
            assert_eq!(session_messages::subscription(revision, &header), Some(id.clone()));
            let result = session_messages::listen_result(revision, &id);
            let method = revision.lifecycle().listen.expect("the revision has it");
            revision.validate_result(method, &result).expect("it is valid");
        }
    }
}

#[test]
fn a_filter_of_the_wrong_type_is_an_error() {
    for revision in listening() {
        let lifecycle = revision.lifecycle();
        let (method, filter) = (
            lifecycle.listen.expect("the revision has it"),
            lifecycle.listen_params.filter.expect("the revision has it"),
        );
        let (tools, uris) = (
            lifecycle.filter_tools.expect("the revision has it"),
            lifecycle.filter_uris.expect("the revision has it"),
        );
        for params in [
            json!({}),
            json!({filter: null}),
            json!({filter: []}),
            json!({filter: {tools: 1}}),
            json!({filter: {uris: "file:///a"}}),
            json!({filter: {uris: [1]}}),
        ] {
            let request = message(method, params.clone());
            let header = MessageHeader::from_slice(request.as_bytes()).expect("it is a message");
            assert!(session_messages::read_listen(revision, &header).is_err(), "{params}");
        }
    }
}

#[test]
fn requests_to_subscribe_and_to_set_the_log_level_are_valid_and_survive_the_round_trip() {
    let mut subscribing = 0;
    for revision in Revision::ALL {
        let lifecycle = revision.lifecycle();
        let written = [
            (
                session_messages::subscribe(revision, "file:///a"),
                lifecycle.subscribe_params.name,
                "file:///a",
            ),
            (
                session_messages::unsubscribe(revision, "file:///a"),
                lifecycle.unsubscribe_params.name,
                "file:///a",
            ),
            (
                session_messages::set_level(revision, "info"),
                lifecycle.set_level_params.level,
                "info",
            ),
        ];
        for (written, member, text) in written {
            let Some((method, written)) = written else { continue };
            subscribing += 1;
            let mut request: Value = serde_json::from_str(&message(method, params(&written))).expect("it is JSON");
            request["id"] = json!(1);
            let request = request.to_string();
            revision.validate_call(request.as_bytes()).expect("it is valid");
            let header = MessageHeader::from_slice(request.as_bytes()).expect("it is a message");
            assert_eq!(session_messages::text_param(&header, member).as_deref(), Ok(text));
        }
    }
    assert!(subscribing >= 3);
}
