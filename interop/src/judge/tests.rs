//! The judge must see what is wrong.

use mcp_runtime::Revision;
use serde_json::{Value, json};

use super::{Judge, Ours, Verdict, released};
use crate::wire::Entry;

/// Judges messages that are marked `in` or `out`.
fn judge(ours: Ours, messages: &[(&str, Value)]) -> Verdict {
    let entry = |(way, message): &(&str, Value)| -> Entry {
        serde_json::from_value(json!({"session": 1, "way": way, "message": message})).unwrap()
    };
    let log: Vec<Entry> = messages.iter().map(entry).collect();
    Judge::load().unwrap().judge(ours, &log)
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

/// What the judge says of one message of ours after a session has begun.
fn of_message(ours: Ours, revision: Revision, heard: Option<Value>, message: Value) -> Verdict {
    let (first, second) = match ours {
        Ours::Client => ("out", "in"),
        Ours::Server => ("in", "out"),
    };
    let mut messages = vec![(first, asks(revision)), (second, answers(revision))];
    messages.extend(heard.map(|heard| ("in", heard)));
    messages.push(("out", message));
    judge(ours, &messages)
}

fn call(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// The released revisions of sessions that begin with `initialize`.
fn spoken() -> impl Iterator<Item = Revision> {
    released().filter(|revision| revision.facts().initializes)
}

/// The earliest and the latest of them.
fn ends() -> (Revision, Revision) {
    (spoken().min().unwrap(), spoken().max().unwrap())
}

#[test]
fn a_right_message_is_right_at_every_revision() {
    for revision in spoken() {
        let verdict = of_message(
            Ours::Client,
            revision,
            None,
            call(2, "tools/call", json!({"name": "a"})),
        );
        assert_eq!((verdict.judged, verdict.faults), (2, vec![]), "{revision}");
        let heard = call(7, "tools/list", json!({}));
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": []}});
        let verdict = of_message(Ours::Server, revision, Some(heard), answer);
        assert_eq!((verdict.judged, verdict.faults), (2, vec![]), "{revision}");
    }
}

#[test]
fn a_request_without_a_member_is_wrong_and_the_fault_says_where() {
    for revision in spoken() {
        let verdict = of_message(Ours::Client, revision, None, call(2, "tools/call", json!({})));
        let [fault] = verdict.faults.as_slice() else {
            panic!("{revision}: {:?}", verdict.faults)
        };
        assert!(fault.contains("/params: \"name\" is a required property"), "{fault}");
    }
}

#[test]
fn a_result_is_judged_by_the_method_that_it_answers() {
    for revision in spoken() {
        let heard = call(7, "tools/call", json!({"name": "a"}));
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"tools": []}});
        let verdict = of_message(Ours::Server, revision, Some(heard), answer);
        assert_eq!(verdict.faults.len(), 1, "{revision}: {:?}", verdict.faults);
        assert!(verdict.faults[0].contains("content"), "{:?}", verdict.faults);
    }
}

#[test]
fn an_answer_that_nobody_asked_for_is_wrong() {
    let answer = json!({"jsonrpc": "2.0", "id": 9, "result": {}});
    let verdict = of_message(Ours::Server, ends().1, None, answer.clone());
    assert_eq!(verdict.faults.len(), 1, "{:?}", verdict.faults);
    let once = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let verdict = of_message(Ours::Server, ends().1, None, once);
    assert!(verdict.faults[0].contains("answered twice"), "{:?}", verdict.faults);
}

#[test]
fn methods_of_later_revisions_and_of_the_other_side_are_wrong() {
    let (earliest, _) = ends();
    let later = ends()
        .1
        .methods()
        .iter()
        .find(|method| earliest.method(method.name).is_none());
    let later = later.expect("a method that the earliest revision lacks").name;
    let verdict = of_message(Ours::Client, earliest, None, call(2, later, json!({})));
    assert!(verdict.faults[0].contains("there is no "), "{:?}", verdict.faults);
    let verdict = of_message(Ours::Server, earliest, None, call(2, "tools/list", json!({})));
    assert!(verdict.faults[0].contains("goes the other way"), "{:?}", verdict.faults);
}

#[test]
fn content_of_a_later_revision_is_wrong_in_an_earlier_one() {
    let (earliest, latest) = ends();
    let content = json!([{"type": "audio", "data": "AA==", "mimeType": "audio/wav"}]);
    let heard = call(7, "tools/call", json!({"name": "a"}));
    let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"content": content}});
    let early = of_message(Ours::Server, earliest, Some(heard.clone()), answer.clone());
    assert_eq!(early.faults.len(), 1, "{:?}", early.faults);
    let late = of_message(Ours::Server, latest, Some(heard), answer);
    assert_eq!(late.faults, Vec::<String>::new());
}

#[test]
fn of_alternatives_the_nearest_is_told() {
    for revision in spoken() {
        let heard = call(7, "tools/call", json!({"name": "a"}));
        let content = json!([{"type": "text", "text": 5}]);
        let answer = json!({"jsonrpc": "2.0", "id": 7, "result": {"content": content}});
        let verdict = of_message(Ours::Server, revision, Some(heard), answer);
        let expected = format!("by {revision}: /result/content/0/text: 5 is not of type \"string\"");
        assert!(verdict.faults[0].starts_with(&expected), "{:?}", verdict.faults);
    }
}

#[test]
fn the_answer_to_initialize_settles_by_what_the_rest_is_judged() {
    let (earliest, latest) = ends();
    let message = json!({"jsonrpc": "2.0", "id": 5, "method": "elicitation/create", "params": {}});
    let verdict = judge(
        Ours::Server,
        &[("in", asks(latest)), ("out", answers(earliest)), ("out", message)],
    );
    assert!(
        verdict.faults[0].starts_with(&format!("by {earliest}")),
        "{:?}",
        verdict.faults
    );
}

#[test]
fn batches_are_wrong_where_the_revision_has_none() {
    for revision in spoken() {
        let batch = json!([{"jsonrpc": "2.0", "method": "notifications/initialized"}]);
        let verdict = of_message(Ours::Client, revision, None, batch);
        assert_eq!(
            verdict.faults.is_empty(),
            revision.facts().batches,
            "{:?}",
            verdict.faults
        );
    }
}

#[test]
fn an_id_that_is_used_again_and_an_error_without_a_message_are_wrong() {
    let again = of_message(Ours::Client, ends().1, None, call(1, "ping", json!({})));
    assert!(again.faults[0].contains("used again"), "{:?}", again.faults);
    for revision in spoken() {
        let heard = call(7, "tools/list", json!({}));
        let error = json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603}});
        let verdict = of_message(Ours::Server, revision, Some(heard), error);
        assert!(verdict.faults[0].contains("message"), "{:?}", verdict.faults);
    }
}
