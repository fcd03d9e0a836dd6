//! Values of the generated types: their construction, encoding and validation.

use mcp_adapters::mcp_wire::{self, Decode, Direction, Notification, RawJson, RawObject, Request, Validate, from_str};
use mcp_adapters::v2025_11_25::*;
use mcp_adapters::{Revision, v2024_11_05, v2025_03_26, v2025_06_18, v2026_07_28};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

fn json_of(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn text_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}

#[test]
fn a_glob_import_of_a_crate_does_not_shadow_std_result() {
    // `Result` is the one of std, although the revision has a type of that name.
    fn number(text: &str) -> Result<i64, std::num::ParseIntError> {
        text.parse()
    }
    assert_eq!(number("1"), Ok(1));
    let own = base::Result::default();
    assert_eq!(json_of(&own), json!({}));
}

#[test]
fn constructors_take_required_members_and_with_methods_set_optional_ones() {
    let tool = Tool::new("add", json!({"type": "object"}));
    assert_eq!(
        json_of(&tool),
        json!({"name": "add", "inputSchema": {"type": "object"}})
    );
    let tool = tool
        .with_title("Add")
        .with_description("Adds numbers")
        .with_annotations(ToolAnnotations::default().with_read_only_hint(true))
        .with_meta(json!({"a/b": 1}));
    assert_eq!(
        json_of(&tool),
        json!({
            "name": "add",
            "title": "Add",
            "description": "Adds numbers",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true},
            "_meta": {"a/b": 1},
        })
    );
    assert_eq!(tool.validate(), Ok(()));
}

#[test]
fn a_constructed_value_equals_a_decoded_one() {
    let made = CallToolRequest::new(CallToolRequestParams::new("add").with_arguments(json!({"a": 1, "b": 2})));
    let text = r#"{"params": {"arguments": {"b": 2, "a": 1}, "name": "add"}, "method": "tools/call"}"#;
    let decoded: CallToolRequest = from_str(text).unwrap();
    assert_eq!(made, decoded);
    assert_eq!(made.clone(), made);
    let other = CallToolRequest::new(CallToolRequestParams::new("sub"));
    assert_ne!(made, other);
}

#[test]
fn a_value_whose_members_are_all_optional_has_a_default() {
    assert_eq!(text_of(&ClientCapabilities::default()), "{}");
    assert_eq!(text_of(&PingRequest::default()), r#"{"method":"ping"}"#);
    assert_eq!(
        text_of(&InitializedNotification::default()),
        r#"{"method":"notifications/initialized"}"#
    );
}

#[test]
fn an_object_that_does_not_match_its_tag_is_kept_if_the_schema_accepts_it() {
    use v2026_07_28::{AnyReadResourceResult, ReadResourceResultResponse};
    // An example in the specification: the schema accepts a result without the required cache hints, as a result that
    // requests input.
    let text =
        r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","contents":[{"uri":"file:///a","text":"b"}]}}"#;
    let response: ReadResourceResultResponse = from_str(text).unwrap();
    assert!(matches!(response.result, AnyReadResourceResult::Unknown(_)));
    assert_eq!(json_of(&response), serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(response.validate(), Ok(()));
    let invalid = text.replace(r#""complete""#, "1");
    assert!(from_str::<ReadResourceResultResponse>(&invalid).is_err());
    // Here the schema declares the type of each variant, so another value is refused.
    let block = r#"{"type":"text","text":1}"#;
    assert_eq!(from_str::<ContentBlock>(block).unwrap_err().path().to_string(), "text");
}

#[test]
fn into_converts_to_variants_and_scalar_types() {
    let block: ContentBlock = TextContent::new("hello").into();
    assert_eq!(json_of(&block), json!({"type": "text", "text": "hello"}));
    let message = PromptMessage::new(Role::User, TextContent::new("hello"));
    assert_eq!(message, PromptMessage::new("user", TextContent::new("hello")));
    let request: ClientRequest = PingRequest::default().into();
    assert_eq!(request.method(), "ping");
    assert_eq!(ProgressToken::from("a"), ProgressToken::String("a".to_owned()));
    assert_eq!(ProgressToken::from(1), ProgressToken::Integer(1));
    assert_eq!(LoggingLevel::from("info"), LoggingLevel::Info);
    assert_eq!(LoggingLevel::Info.to_string(), "info");
}

#[test]
fn constants_are_written_first_and_validated() {
    assert_eq!(
        text_of(&ImageContent::new("AAAA", "image/png").with_meta(json!({}))),
        r#"{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{}}"#
    );
    let missing = from_str::<ImageContent>(r#"{"data":"","mimeType":""}"#).unwrap_err();
    assert_eq!(missing.path().to_string(), "type");
    let wrong: ImageContent = from_str(r#"{"type":"picture","data":"","mimeType":""}"#).unwrap();
    assert_eq!(json_of(&wrong)["type"], "picture", "the wrong value is kept");
    let violations = wrong.validate().unwrap_err().violations;
    assert_eq!(violations[0].path.to_string(), "type");
}

#[test]
fn validation_applies_to_the_received_json() {
    let valid = |arguments: &str| {
        let params: CallToolRequestParams = from_str(&format!(r#"{{"name":"a","arguments":{arguments}}}"#)).unwrap();
        params.validate()
    };
    assert_eq!(valid(r#"{"far":1e400}"#), Ok(()));
    // serde_json marks raw values with this key, but a peer can send it, too.
    assert_eq!(valid(r#"{"$serde_json::private::RawValue":"1"}"#), Ok(()));
    assert_eq!(valid(r#"{"$serde_json::private::RawValue":1}"#), Ok(()));
    let smuggled = r#"{"$serde_json::private::RawValue":"{\"type\":\"object\"}"}"#;
    let tool: Tool = from_str(&format!(r#"{{"name":"a","inputSchema":{smuggled}}}"#)).unwrap();
    let invalid = tool.validate().unwrap_err();
    assert_eq!(
        invalid.violations[0].path.to_string(),
        "inputSchema",
        "it has no `type`"
    );
}

/// Describes a request only through its trait.
fn describe<R: Request>() -> (&'static str, Direction) {
    (R::METHOD, R::DIRECTION)
}

#[test]
fn a_request_type_declares_its_method_direction_and_result() {
    assert_eq!(describe::<CallToolRequest>(), ("tools/call", Direction::ClientToServer));
    assert_eq!(
        describe::<CreateMessageRequest>(),
        ("sampling/createMessage", Direction::ServerToClient)
    );
    assert_eq!(describe::<PingRequest>(), ("ping", Direction::Both));
    let params: <CallToolRequest as Request>::Params = CallToolRequestParams::new("add");
    let result: <CallToolRequest as Request>::Result = CallToolResult::new(vec![]);
    assert_eq!((params.name.as_str(), result.content.len()), ("add", 0));
    assert_eq!(
        (InitializedNotification::METHOD, InitializedNotification::DIRECTION),
        ("notifications/initialized", Direction::ClientToServer)
    );
}

#[test]
fn the_table_of_methods_agrees_with_the_definitions() {
    for revision in Revision::ALL {
        let defines = |pointer: &str| {
            revision
                .definitions()
                .iter()
                .any(|definition| definition.pointer == pointer)
        };
        for method in revision.methods() {
            assert!(defines(method.definition), "{revision} {method:?}");
            assert!(
                method.results.iter().all(|result| defines(result)),
                "{revision} {method:?}"
            );
            assert_eq!(
                method.is_request(),
                method.definition.ends_with("Request"),
                "{revision} {method:?}"
            );
        }
    }
    let call = METHODS
        .iter()
        .find(|method| method.name == CallToolRequest::METHOD)
        .unwrap();
    assert_eq!(call.direction, CallToolRequest::DIRECTION);
}

#[test]
fn types_of_several_revisions_can_be_used_together_and_share_open_json() {
    let schema = RawObject::from(json!({"type": "object"}));
    let early = v2024_11_05::Tool::new("add", schema.clone());
    let late = Tool::new(early.name.clone(), early.input_schema.clone());
    assert_eq!(json_of(&early), json_of(&late));
    let block: v2025_06_18::ContentBlock = v2025_06_18::TextContent::new("a").into();
    let same: v2024_11_05::ContentBlock = v2024_11_05::TextContent::new("a").into();
    assert_eq!(json_of(&block), json_of(&same));
    assert_eq!(v2024_11_05::REVISION, Revision::V2024_11_05.as_str());
    assert_eq!(REVISION.parse::<Revision>(), Ok(Revision::V2025_11_25));
    assert!(Revision::V2024_11_05 < Revision::V2025_03_26);
    let unknown = "2000-01-01".parse::<Revision>().unwrap_err();
    assert!(unknown.to_string().contains("2025-11-25"), "{unknown}");
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Weather {
    city: String,
    celsius: f64,
}

#[test]
fn open_json_keeps_its_received_text_and_is_parsed_on_demand() {
    let text =
        r#"{"content":[],"structuredContent":{"city": "Bern","celsius":21.50,"big":123456789012345678901234567890}}"#;
    let result: CallToolResult = from_str(text).unwrap();
    let open = result.structured_content.as_ref().unwrap();
    assert_eq!(
        open.text(),
        r#"{"city": "Bern","celsius":21.50,"big":123456789012345678901234567890}"#
    );
    assert_eq!(open.get("big").unwrap().text(), "123456789012345678901234567890");
    assert_eq!(open.get("city").unwrap().parse::<String>().unwrap(), "Bern");
    assert!(open.get("wind").is_none());
    let weather: Weather = open.parse().unwrap();
    assert_eq!(
        weather,
        Weather {
            city: "Bern".to_owned(),
            celsius: 21.5
        }
    );
    assert!(open.parse::<Vec<u8>>().is_err());
    assert_eq!(text_of(&result), text);
    let made = RawJson::from_serialize(&weather).unwrap();
    assert_eq!(made, RawJson::from(json!({"celsius": 21.5, "city": "Bern"})));
}

#[test]
fn undeclared_members_are_kept_in_order_on_every_object() {
    let text =
        r#"{"name":"add","inputSchema":{"type":"object"},"execution":{"x":[1.0]},"zeta":null,"alpha":{"b":1e2}}"#;
    let tool: Tool = from_str(text).unwrap();
    assert_eq!(tool.extra.get("alpha").unwrap().text(), r#"{"b":1e2}"#);
    assert_eq!(tool.execution.as_ref().unwrap().extra.get("x").unwrap().text(), "[1.0]");
    let kept: Vec<&str> = tool.extra.iter().map(|(name, _)| name).collect();
    assert_eq!(kept, ["zeta", "alpha"]);
    assert!(
        text_of(&tool).ends_with(r#""zeta":null,"alpha":{"b":1e2}}"#),
        "{}",
        text_of(&tool)
    );
}

#[test]
fn absent_null_and_empty_values_stay_distinct() {
    for meta in ["", r#","_meta":null"#, r#","_meta":{}"#] {
        for content in ["[]", r#"[{"type":"text","text":""}]"#] {
            let text = format!(r#"{{"content":{content}{meta}}}"#);
            let result: CallToolResult = from_str(&text).unwrap();
            assert_eq!(json_of(&result), serde_json::from_str::<Value>(&text).unwrap());
            assert_eq!(result.meta.is_some(), meta.ends_with("{}"), "{text}");
            // The schema doesn't allow null here: it is kept, and validation reports it.
            assert_eq!(result.validate().is_err(), meta.ends_with("null"), "{text}");
        }
    }
    for params in ["", r#","params":{}"#, r#","params":{"_meta":{}}"#] {
        let text = format!(r#"{{"method":"tools/list"{params}}}"#);
        let request: ListToolsRequest = from_str(&text).unwrap();
        assert_eq!(text_of(&request), text);
    }
    for wrong in [r#"{"content":null}"#, r#"{"content":{}}"#, "{}", "[]", "null"] {
        assert!(from_str::<CallToolResult>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn undeclared_variants_are_kept_as_unknown_and_fail_validation_unless_allowed() {
    let block: ContentBlock = from_str(r#"{"depth":3,"type":"hologram","data":1.50}"#).unwrap();
    let ContentBlock::Unknown(open) = &block else {
        panic!("{block:?}");
    };
    assert_eq!(open.text(), r#"{"depth":3,"type":"hologram","data":1.50}"#);
    assert_eq!(text_of(&block), open.text());
    assert!(block.validate().is_err());

    let level: LoggingLevel = from_str(r#""verbose""#).unwrap();
    assert_eq!(level, LoggingLevel::Unknown("verbose".to_owned()));
    assert_eq!(text_of(&level), r#""verbose""#);
    assert!(level.validate().is_err());

    // An open set of strings has no unknown values, because the schema allows any string.
    let text = r#"{"content":{"type":"text","text":""},"model":"m","role":"assistant","stopReason":"bored"}"#;
    let result: CreateMessageResult = from_str(text).unwrap();
    assert_eq!(result.stop_reason, Some("bored".into()));
    assert_eq!(result.validate(), Ok(()));
}

#[test]
fn logging_levels_are_ordered_by_severity() {
    assert!(LoggingLevel::Debug < LoggingLevel::Warning);
    assert!(LoggingLevel::Emergency > LoggingLevel::Alert);
}

#[test]
fn integers_are_written_without_a_fraction_and_numbers_keep_their_value() {
    for (written, back) in [("1", "1"), ("1.0", "1"), ("1e2", "100"), ("0.5", "0.5")] {
        let text = format!(r#"{{"progress":{written},"progressToken":1.0}}"#);
        let params: ProgressNotificationParams = from_str(&text).unwrap();
        assert_eq!(params.progress_token, ProgressToken::Integer(1));
        assert_eq!(text_of(&params.progress), back);
    }
    let too_large = from_str::<RequestMeta>(r#"{"progressToken":18446744073709551615}"#).unwrap_err();
    assert_eq!(too_large.kind(), mcp_wire::DecodeErrorKind::OutOfRange);
    assert_eq!(too_large.path().to_string(), "progressToken");
}

#[track_caller]
fn fails<T: Decode + std::fmt::Debug>(text: &str, message: &str) {
    assert_eq!(from_str::<T>(text).unwrap_err().to_string(), message);
}

#[test]
fn a_decode_error_states_its_path_and_the_expected_and_found_types() {
    let message = |content: &str| {
        let good = r#"{"role":"user","content":{"type":"text","text":""}}"#;
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[{good},{good},{{"role":"user","content":{content}}}]}}}}"#
        )
    };
    fails::<ServerMessage>(
        &message(r#"{"type":7}"#),
        "`params.messages[2].content.type`: expected a string, found a number",
    );
    fails::<ServerMessage>(
        &message(r#"{"type":"text"}"#),
        "`params.messages[2].content.text`: expected a required member, found nothing",
    );
    fails::<ServerMessage>(
        &message(r#"[{"type":"text","text":null}]"#),
        "`params.messages[2].content[0].text`: expected a string, found null",
    );
    fails::<CallToolResult>("[]", "expected an object, found an array");
    fails::<Tool>(
        r#"{"name":"a","name":"b"}"#,
        "`name`: expected the member once, found it again",
    );
}

#[test]
fn validation_reports_every_violation_with_its_path() {
    let text = r#"{"name":"a","inputSchema":{"type":"array"},"annotations":{"title":null},"execution":{"taskSupport":"maybe"}}"#;
    let tool: Tool = from_str(text).unwrap();
    let invalid = tool.validate().unwrap_err();
    let paths: Vec<String> = invalid
        .violations
        .iter()
        .map(|violation| violation.path.to_string())
        .collect();
    for path in ["inputSchema.type", "annotations.title", "execution.taskSupport"] {
        assert!(paths.iter().any(|found| found == path), "{path}: {invalid}");
    }
    assert_eq!(paths.len(), 3, "{invalid}");
}

/// Returns the violations of a value as text, which is empty if the value is valid.
fn violations(value: &impl Validate) -> String {
    value
        .validate()
        .map_or_else(|invalid| invalid.to_string(), |()| String::new())
}

fn message_violations<M: Decode + Validate>(message: &Value) -> String {
    violations(&from_str::<M>(&message.to_string()).unwrap())
}

#[test]
fn a_message_is_validated_against_the_definition_of_its_method_or_kind() {
    fn check<C: Decode + Validate, S: Decode + Validate>(result: &Value) {
        // Required in 2026-07-28, and allowed before.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
            "params": {"ref": {"type": "ref/unknown"}, "argument": {"name": "a", "value": ""}, "_meta": meta},
        });
        let invalid = message_violations::<C>(&request);
        assert!(invalid.contains("`params.ref.type`"), "{invalid}");
        let unknown = json!({"jsonrpc": "2.0", "id": 1, "method": "a/b"});
        assert!(message_violations::<C>(&unknown).contains("a method of the revision"));
        let notification = |level: &str| {
            let params = json!({"level": level, "data": 1});
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        };
        assert_eq!(message_violations::<S>(&notification("info")), "");
        assert!(message_violations::<S>(&notification("loud")).contains("`params.level`"));
        let response = |result: &Value| json!({"jsonrpc": "2.0", "id": 1, "result": result});
        assert_eq!(message_violations::<S>(&response(result)), "");
        assert!(message_violations::<S>(&response(&json!(5))).contains("`result`"));
        let error =
            |code: i64| json!({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "a", "data": [1]}});
        assert_eq!(message_violations::<S>(&error(-32603)), "");
    }
    check::<v2024_11_05::ClientMessage, v2024_11_05::ServerMessage>(&json!({}));
    check::<v2025_03_26::ClientMessage, v2025_03_26::ServerMessage>(&json!({}));
    check::<v2025_06_18::ClientMessage, v2025_06_18::ServerMessage>(&json!({}));
    check::<ClientMessage, ServerMessage>(&json!({}));
    check::<v2026_07_28::ClientMessage, v2026_07_28::ServerMessage>(&json!({"resultType": "complete"}));
    // A result without `resultType`, which this revision requires.
    let untagged = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    assert!(message_violations::<v2026_07_28::ServerMessage>(&untagged).contains("resultType"));
    let several = json!([untagged, {"jsonrpc": "2.0", "id": 1, "result": null}]);
    let invalid = message_violations::<v2025_03_26::ServerMessage>(&several);
    assert!(invalid.starts_with("`[1].result`: expected an object"), "{invalid}");
}

#[test]
fn an_error_response_without_an_id_is_valid_where_the_revision_allows_it() {
    let error = json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "a"}});
    assert!(message_violations::<v2024_11_05::ServerMessage>(&error).contains("\"id\""));
    assert_eq!(message_violations::<ServerMessage>(&error), "");
}

#[test]
fn a_result_is_validated_against_its_definition_both_separately_and_in_a_response() {
    let decode = |method: &str, result: Value| {
        let decoded = v2026_07_28::ServerResult::decode(method, &RawJson::from(result));
        decoded.unwrap().unwrap()
    };
    let listed = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": []});
    assert_eq!(violations(&decode("tools/list", listed.clone())), "");
    let mut wrong = listed.clone();
    wrong["ttlMs"] = json!(-1);
    let wrong = decode("tools/list", wrong);
    assert!(violations(&wrong).starts_with("`ttlMs`: "), "{}", violations(&wrong));
    let response = mcp_wire::Response::new(1, wrong);
    assert!(
        violations(&response).starts_with("`result.ttlMs`: "),
        "{}",
        violations(&response)
    );
    // A `resultType` that an extension declares.
    assert_eq!(
        violations(&decode("tools/call", json!({"resultType": "task", "taskId": "a"}))),
        ""
    );

    let roots = v2024_11_05::ClientResult::decode("roots/list", &RawJson::from(json!({"roots": [{"uri": "a b"}]})));
    let roots = roots.unwrap().unwrap();
    assert_eq!(
        roots.validate().is_ok(),
        v2024_11_05::Root::new("a b").validate().is_ok()
    );
    let sampled = json!({"role": "robot", "model": "m", "content": {"type": "text", "text": ""}});
    let sampled = v2024_11_05::ClientResult::decode("sampling/createMessage", &RawJson::from(sampled));
    assert!(violations(&sampled.unwrap().unwrap()).starts_with("`role`: "));
    assert_eq!(violations(&mcp_wire::Response::new(1, RawJson::from(json!(5)))), "");
}
