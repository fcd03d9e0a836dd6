//! Elicitation, and enumerations in its forms.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use mcp_adapters::Policy;
use serde_json::{Value, json};

use super::{
    AUTOMATIC, Outcome, becomes, expected, from_server, is_carried, refusal, refuses, result_to_server, stays,
    to_client, translates, unchanged,
};

/// Returns an elicitation request with these parameters.
pub(super) fn form(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 4, "method": "elicitation/create", "params": params})
}

#[test]
fn elicitation_of_a_client_whose_revision_lacks_it_is_answered_with_method_not_found() {
    let request = form(json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}));
    for peer in [V2024_11_05, V2025_03_26] {
        let because = "`method`: revision 2025-03-26 has no method elicitation/create";
        assert_eq!(to_client(peer, &request), refusal(json!(4), -32601, because));
    }
    assert_eq!(to_client(V2025_06_18, &request), unchanged(&request));
}

#[test]
fn the_mode_of_a_form_is_dropped_for_2025_06_18_and_not_added_on_upgrade() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let request = form(json!({"mode": "form", "message": "who?", "requestedSchema": schema}));
    let earlier = form(json!({"message": "who?", "requestedSchema": schema}));
    let losses = expected(&[["params.mode", "dropped", AUTOMATIC]]);
    assert_eq!(to_client(V2025_06_18, &request), Outcome::Sent(earlier.clone(), losses));
    assert_eq!(from_server(V2025_06_18, &earlier), unchanged(&earlier));
}

#[test]
fn an_unknown_mode_of_a_form_is_carried_or_dropped_and_never_replaced() {
    let schema = json!({"type": "object", "properties": {}});
    let weird = json!({"mode": "weird", "message": "who?", "requestedSchema": schema});
    let without = json!({"message": "who?", "requestedSchema": schema});
    let (down, up) = ((V2025_11_25, V2025_06_18), (V2025_06_18, V2025_11_25));
    for (way, from) in [(down, "ElicitRequestFormParams"), (up, "ElicitRequestParams")] {
        becomes(way, from, &weird, &without, &[["mode", "dropped", AUTOMATIC]]);
        translates(way, Policy::Carry, from, &weird, &weird, &[]);
    }
}

#[test]
fn url_elicitation_is_refused_for_2025_06_18() {
    let request = form(json!({
        "mode": "url", "message": "sign in", "elicitationId": "e", "url": "https://example.org/sign-in",
    }));
    let because = "`params`: the peer's revision elicits by forms only";
    assert_eq!(to_client(V2025_06_18, &request), refusal(json!(4), -32602, because));
}

#[test]
fn the_result_of_a_form_is_the_same_in_both_revisions_and_lists_are_refused() {
    let answer = json!({"action": "accept", "content": {"name": "me", "age": 41.5, "ok": true}});
    stays((V2025_06_18, V2025_11_25), "ElicitResult", &answer);
    assert_eq!(
        result_to_server(V2025_06_18, "elicitation/create", &answer),
        Ok((answer, Vec::new()))
    );
    let list = json!({"action": "accept", "content": {"tags": ["a", "b"]}});
    refuses(
        (V2025_11_25, V2025_06_18),
        "ElicitResult",
        &list,
        -32602,
        "content.tags",
    );
}

#[test]
fn legacy_and_untitled_single_enumerations_keep_everything_but_their_default() {
    let legacy = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "title": "Letter"});
    let untitled = json!({"type": "string", "enum": ["a", "b"], "description": "A letter"});
    for schema in [legacy, untitled] {
        stays((V2025_06_18, V2025_11_25), "PrimitiveSchemaDefinition", &schema);
        stays((V2025_06_18, V2025_11_25), "EnumSchema", &schema);
        let mut with_default = schema.clone();
        with_default["default"] = json!("a");
        let losses = [["default", "dropped", AUTOMATIC]];
        becomes(
            (V2025_11_25, V2025_06_18),
            "EnumSchema",
            &with_default,
            &schema,
            &losses,
        );
    }
}

#[test]
fn a_titled_single_enumeration_becomes_a_legacy_one_with_values_and_names() {
    let titled = json!({
        "type": "string", "title": "Letter", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}],
    });
    let earlier = json!({"type": "string", "title": "Letter", "enum": ["a", "b"], "enumNames": ["A", "B"]});
    for (definition, rule) in [
        (
            "PrimitiveSchemaDefinition",
            "2025-11-25 PrimitiveSchemaDefinition[TitledSingleSelectEnumSchema]",
        ),
        ("EnumSchema", "2025-11-25 EnumSchema[TitledSingleSelectEnumSchema]"),
    ] {
        let losses = [["(root)", "replaced", rule]];
        becomes((V2025_11_25, V2025_06_18), definition, &titled, &earlier, &losses);
        // On upgrade, the two lists stay: a legacy enumeration isn't converted.
        stays((V2025_06_18, V2025_11_25), definition, &earlier);
    }
    is_carried((V2025_11_25, V2025_06_18), "PrimitiveSchemaDefinition", &titled);
}

#[test]
fn a_multiple_choice_field_is_dropped_if_optional_and_refused_if_required() {
    let rule = "2025-11-25 RequestedSchema.properties";
    let titled = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
    let untitled = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
    for tags in [titled, untitled] {
        let question = |required: Value| {
            let properties = json!({"name": {"type": "string"}, "tags": tags});
            let schema = json!({"type": "object", "properties": properties, "required": required});
            form(json!({"message": "who?", "requestedSchema": schema}))
        };
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        let earlier = form(json!({"message": "who?", "requestedSchema": schema}));
        let losses = expected(&[["params.requestedSchema.properties.tags", "dropped", rule]]);
        assert_eq!(
            to_client(V2025_06_18, &question(json!(["name"]))),
            Outcome::Sent(earlier, losses)
        );
        let Outcome::Refused { id, code, message } = to_client(V2025_06_18, &question(json!(["tags"]))) else {
            panic!("a required field was left out")
        };
        assert_eq!((id, code), (json!(4), -32602));
        assert!(
            message.starts_with("`params.requestedSchema.properties.tags`: "),
            "{message}"
        );
    }
}
