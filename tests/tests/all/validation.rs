//! Whole messages and results, validated against the schema of their revision.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::{RawJson, Schema, definition_name, validate_text};
use mcp_tests::corrected;
use serde_json::{Value, json};

/// Number of instances of each definition, about half of them valid.
const COUNT: usize = 40;

#[test]
fn valid_messages_and_results_pass_and_some_of_the_others_do_not() {
    for revision in Revision::ALL {
        let instances = corrected(revision);
        let mut refused = 0;
        for method in revision.methods() {
            for instance in instances.of(definition_name(method.definition), 7, COUNT) {
                let validated = revision.validate_call(instance.value.to_string().as_bytes());
                assert!(
                    validated.is_ok() || !instance.valid,
                    "{revision} {}: {validated:?}",
                    instance.value
                );
                refused += usize::from(validated.is_err());
            }
            for result in method.results {
                for instance in instances
                    .of(definition_name(result), 7, COUNT)
                    .into_iter()
                    .filter(|instance| instance.valid)
                {
                    let validated = revision.validate_result(method.name, &RawJson::from(&instance.value));
                    assert!(validated.is_ok(), "{revision} {}: {validated:?}", instance.value);
                }
            }
        }
        assert!(refused > 100, "{revision}: {refused}");
    }
}

#[test]
fn a_definition_compiled_separately_reports_the_same_violations_as_the_whole_schema() {
    for revision in Revision::ALL {
        let instances = corrected(revision);
        let whole = revision.schema();
        whole.validator().unwrap();
        for definition in revision.definitions() {
            let (name, pointer) = (definition.name, definition.pointer);
            // A new schema for each definition, because only the first definitions of a schema are compiled separately.
            let alone = Schema::new(revision.as_str(), whole.text());
            for instance in instances.of(name, 13, 6) {
                let json = instance.value.to_string();
                let [part, all] = [&alone, whole].map(|schema| validate_text(&json, pointer, schema));
                assert_eq!(part, all, "{revision} {name} {json}");
                assert!(part.is_ok() || !instance.valid, "{revision} {name} {json}");
            }
        }
    }
}

#[test]
fn the_violations_of_a_result_are_those_of_its_closest_variant() {
    let result = RawJson::from(serde_json::json!({"content": [{"type": "text", "text": 1}]}));
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        let invalid = revision.validate_result("tools/call", &result).unwrap_err();
        let paths = invalid.violations.iter().map(|violation| violation.path.to_string());
        assert!(
            paths.into_iter().all(|path| path.starts_with("content[0]")),
            "{invalid}"
        );
        assert!(revision.validate_result("ours/own", &result).is_ok());
    }
}

#[test]
fn a_call_with_a_duplicate_member_at_any_depth_is_invalid() {
    for (call, path) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}"#,
            "method",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"a":{"b":1,"b":2}}}}"#,
            "params.arguments.a.b",
        ),
    ] {
        for revision in Revision::ALL {
            let invalid = revision.validate_call(call.as_bytes()).unwrap_err();
            assert_eq!(invalid.violations[0].path.to_string(), path, "{revision}");
        }
    }
}

/// Returns the paths of the violations of a result.
fn violations(revision: Revision, method: &str, result: Value) -> Vec<String> {
    let validated = revision.validate_result(method, &RawJson::from(&result));
    let invalid = validated.err().into_iter();
    let violations = invalid.flat_map(|invalid| invalid.violations);
    violations.map(|violation| violation.path.to_string()).collect()
}

#[test]
fn a_result_is_validated_by_the_type_that_its_tag_determines() {
    let revision = V2026_07_28;
    for (method, result, path) in [
        ("tools/call", json!({"content": "x"}), "content"),
        (
            "resources/read",
            json!({"contents": 17, "ttlMs": 0, "cacheScope": "private"}),
            "contents",
        ),
        ("prompts/get", json!({"messages": [{"role": "user"}]}), "messages[0]"),
    ] {
        assert_eq!(
            violations(revision, method, result.clone()).len(),
            2,
            "{method} without a tag"
        );
        let mut tagged = result;
        tagged["resultType"] = json!("complete");
        assert_eq!(violations(revision, method, tagged.clone()), [path]);
        tagged["resultType"] = json!("input_required");
        assert_eq!(violations(revision, method, tagged), [""; 0]);
    }
}

#[test]
fn a_result_is_validated_by_the_type_that_its_members_determine() {
    let revision = V2025_11_25;
    let content = json!({"content": [{"type": "text"}, {"type": "image"}]});
    assert_eq!(
        violations(revision, "tools/call", content),
        ["content[0]", "content[1]", "content[1]"]
    );
    assert_eq!(
        violations(revision, "tools/call", json!({"task": {}})).first().unwrap(),
        "task"
    );
}

#[test]
fn a_result_with_an_unknown_tag_is_valid_if_any_type_accepts_it() {
    let task = json!({"resultType": "task", "taskId": "1"});
    assert_eq!(violations(V2026_07_28, "tools/call", task), [""; 0]);
}

#[test]
fn the_definition_of_a_result_is_determined_by_its_tag_or_its_members() {
    let definitions = |revision: Revision, result: Value| {
        let found = revision.result_definitions("tools/call", &RawJson::from(&result));
        found.iter().map(|pointer| definition_name(pointer)).collect::<Vec<_>>()
    };
    let (called, asks, task) = ("CallToolResult", "InputRequiredResult", "CreateTaskResult");
    for (result, expected) in [
        (json!({"content": []}), vec![called]),
        (json!({"resultType": "complete", "requestState": "a"}), vec![called]),
        (json!({"resultType": "input_required", "content": []}), vec![asks]),
        (json!({"resultType": "other"}), vec![called, asks]),
        (json!([]), vec![called, asks]),
    ] {
        assert_eq!(definitions(V2026_07_28, result), expected);
    }
    assert_eq!(definitions(V2025_11_25, json!({"task": {}})), [task]);
    assert_eq!(definitions(V2025_11_25, json!({})), [called]);
}
