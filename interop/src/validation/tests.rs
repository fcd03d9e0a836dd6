//! Tests of the validator.

use mcp_runtime::Revision;
use serde_json::{Value, json};

use super::{LogValidator, OurRole, Report, released};
use crate::wire::Entry;

/// Validates messages that are marked `in` or `out`.
fn validate(ours: OurRole, messages: &[(&str, Value)]) -> Report {
    let entry = |(way, message): &(&str, Value)| -> Entry {
        serde_json::from_value(json!({"session": 1, "way": way, "message": message})).unwrap()
    };
    let log: Vec<Entry> = messages.iter().map(entry).collect();
    LogValidator::load().unwrap().validate(ours, &log)
}

fn asks(revision: Revision) -> Value {
    let params = json!({
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

fn answers(revision: Revision) -> Value {
    let result = json!({
        "protocolVersion": revision, "capabilities": {}, "serverInfo": {"name": "a", "version": "1"}
    });
    json!({"jsonrpc": "2.0", "id": 1, "result": result})
}

/// The report on one message of ours after a session has started.
fn of_message(ours: OurRole, revision: Revision, heard: Option<Value>, message: Value) -> Report {
    let (first, second) = match ours {
        OurRole::Client => ("out", "in"),
        OurRole::Server => ("in", "out"),
    };
    let mut messages = vec![(first, asks(revision)), (second, answers(revision))];
    messages.extend(heard.map(|heard| ("in", heard)));
    messages.push(("out", message));
    validate(ours, &messages)
}

fn call(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The released revisions with a handshake.
fn spoken() -> impl Iterator<Item = Revision> {
    released().filter(|revision| revision.facts().initializes)
}

/// The earliest and the latest of them.
fn ends() -> (Revision, Revision) {
    (spoken().min().unwrap(), spoken().max().unwrap())
}

#[test]
fn valid_messages_are_accepted_in_every_revision() {
    for revision in spoken() {
        let report = of_message(
            OurRole::Client,
            revision,
            None,
            call(2, "tools/call", json!({"name": "a"})),
        );
        assert_eq!((report.checked, report.violations), (2, vec![]), "{revision}");
        let heard = call(7, "tools/list", json!({}));
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": []}});
        let report = of_message(OurRole::Server, revision, Some(heard), answer);
        assert_eq!((report.checked, report.violations), (2, vec![]), "{revision}");
    }
}

#[test]
fn a_missing_member_is_reported_with_its_path() {
    for revision in spoken() {
        let report = of_message(OurRole::Client, revision, None, call(2, "tools/call", json!({})));
        let [violation] = report.violations.as_slice() else {
            panic!("{revision}: {:?}", report.violations)
        };
        assert!(
            violation.contains("/params: \"name\" is a required property"),
            "{violation}"
        );
    }
}

#[test]
fn a_result_is_validated_by_the_method_of_its_request() {
    for revision in spoken() {
        let heard = call(7, "tools/call", json!({"name": "a"}));
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": []}});
        let report = of_message(OurRole::Server, revision, Some(heard), answer);
        assert_eq!(report.violations.len(), 1, "{revision}: {:?}", report.violations);
        assert!(report.violations[0].contains("content"), "{:?}", report.violations);
    }
}

#[test]
fn a_response_without_a_request_is_invalid() {
    let answer = json!({"jsonrpc": "2.0", "id": 9, "result": {}});
    let report = of_message(OurRole::Server, ends().1, None, answer.clone());
    assert_eq!(report.violations.len(), 1, "{:?}", report.violations);
    let once = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let report = of_message(OurRole::Server, ends().1, None, once);
    assert!(
        report.violations[0].contains("answered twice"),
        "{:?}",
        report.violations
    );
}

#[test]
fn methods_of_later_revisions_and_of_the_other_side_are_invalid() {
    let (earliest, _) = ends();
    let later = ends()
        .1
        .methods()
        .iter()
        .find(|method| earliest.method(method.name).is_none());
    let later = later.expect("a method that the earliest revision lacks").name;
    let report = of_message(OurRole::Client, earliest, None, call(2, later, json!({})));
    assert!(report.violations[0].contains("there is no "), "{:?}", report.violations);
    let report = of_message(OurRole::Server, earliest, None, call(2, "tools/list", json!({})));
    assert!(
        report.violations[0].contains("goes the other way"),
        "{:?}",
        report.violations
    );
}

#[test]
fn content_of_a_later_revision_is_invalid_in_an_earlier_one() {
    let (earliest, latest) = ends();
    let content = json!([{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]);
    let heard = call(7, "tools/call", json!({"name": "a"}));
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"content": content}});
    let early = of_message(OurRole::Server, earliest, Some(heard.clone()), answer.clone());
    assert_eq!(early.violations.len(), 1, "{:?}", early.violations);
    let late = of_message(OurRole::Server, latest, Some(heard), answer);
    assert_eq!(late.violations, Vec::<String>::new());
}

#[test]
fn the_error_is_that_of_the_closest_alternative() {
    for revision in spoken() {
        let heard = call(7, "tools/call", json!({"name": "a"}));
        let content = json!([{"type": "text", "text": 5}]);
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"content": content}});
        let report = of_message(OurRole::Server, revision, Some(heard), answer);
        let expected = format!("by {revision}: /result/content/0/text: 5 is not of type \"string\"");
        assert!(report.violations[0].starts_with(&expected), "{:?}", report.violations);
    }
}

#[test]
fn messages_are_validated_by_the_revision_in_the_initialize_result() {
    let (earliest, latest) = ends();
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": {}});
    let report = validate(
        OurRole::Server,
        &[("in", asks(latest)), ("out", answers(earliest)), ("out", message)],
    );
    assert!(
        report.violations[0].starts_with(&format!("by {earliest}")),
        "{:?}",
        report.violations
    );
}

#[test]
fn batches_are_invalid_in_revisions_without_them() {
    for revision in spoken() {
        let batch = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
        let report = of_message(OurRole::Client, revision, None, batch);
        assert_eq!(
            report.violations.is_empty(),
            revision.facts().batches,
            "{:?}",
            report.violations
        );
    }
}

#[test]
fn reused_ids_and_errors_without_a_message_are_invalid() {
    let again = of_message(OurRole::Client, ends().1, None, call(1, "ping", json!({})));
    assert!(again.violations[0].contains("used again"), "{:?}", again.violations);
    for revision in spoken() {
        let heard = call(7, "tools/list", json!({}));
        let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603}});
        let report = of_message(OurRole::Server, revision, Some(heard), error);
        assert!(report.violations[0].contains("message"), "{:?}", report.violations);
    }
}

/// A stateless request, with its revision.
fn standing_alone(id: u32, method: &str, params: Value) -> (Revision, Value) {
    let revision = released().find(|revision| !revision.facts().initializes).unwrap();
    let mut request = call(id, method, params);
    request["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    (revision, request)
}

#[test]
fn stateless_requests_and_results_are_validated_by_the_revision_they_name() {
    let (revision, list) = standing_alone(7, "tools/list", json!({}));
    let complete = json!({"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
    for (result, is_valid) in [(complete, true), (json!({"tools": []}), false)] {
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": result});
        let (asked, agreed) = (asks(ends().1), answers(ends().1));
        let beside = [
            ("in", asked),
            ("out", agreed),
            ("in", list.clone()),
            ("out", answer.clone()),
        ];
        let report = validate(OurRole::Server, &beside);
        assert_eq!(report.violations.is_empty(), is_valid, "{:?}", report.violations);
        let by = format!("by {revision}");
        assert!(report.violations.iter().all(|violation| violation.starts_with(&by)));
        assert_eq!(report.negotiated, [revision, ends().1]);
        let alone = validate(OurRole::Client, &[("out", list.clone()), ("in", answer)]);
        assert_eq!(
            (alone.checked, alone.violations, alone.negotiated),
            (1, vec![], vec![revision])
        );
    }
    let nameless = call(8, "tools/list", json!({}));
    let report = validate(OurRole::Client, &[("out", list), ("out", nameless)]);
    assert!(report.violations[0].contains("_meta"), "{:?}", report.violations);
}

#[test]
fn a_result_that_requests_input_is_validated_as_such() {
    let (_, ask) = standing_alone(7, "tools/call", json!({"name": "a"}));
    let roots = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}});
    let wrong = json!({"resultType": "input_required", "inputRequests": {"a": {"method": "tools/list"}}});
    for (result, is_valid) in [(roots, true), (wrong, false)] {
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": result});
        let report = validate(OurRole::Server, &[("in", ask.clone()), ("out", answer)]);
        assert_eq!(report.violations.is_empty(), is_valid, "{:?}", report.violations);
    }
}
