//! What becomes of what one revision has and another lacks: each test is a row of the table of behaviours, with the
//! message before and after.

use mcp_adapters::mcp_wire::{Batch, DecodeErrorKind, Message, OpenJson};
use mcp_adapters::{
    FromPeer, Loss, Policy,
    Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25},
    Translated, hub, peers, translate,
};
use mcp_tests::same;
use serde_json::{Value, json};

/// From one revision to another.
type Way = (Revision, Revision);
/// Path, kind and rule.
type Lost<'l> = [&'l str; 3];

const AUTOMATIC: &str = "automatic";

/// What became of a result: JSON and losses, or the code and where in the result.
type ResultFate = Result<(Value, Vec<[String; 3]>), (i64, String)>;

/// What became of a message.
#[derive(Debug, PartialEq)]
enum Fate {
    /// The peer gets this.
    Sent(Value, Vec<[String; 3]>),
    /// The peer gets nothing, and whoever asked gets this error.
    Answered { id: Value, code: i64, message: String },
    /// The peer gets nothing, and nobody is told.
    Dropped(Vec<[String; 3]>),
}

/// Losses by path: their order says nothing.
fn written(losses: &[Loss]) -> Vec<[String; 3]> {
    let written = losses.iter().map(|loss| {
        let [path, kind] = [loss.path.to_string(), loss.kind.to_string()];
        [path, kind, loss.rule.to_owned()]
    });
    sorted(written)
}

fn owned(losses: &[Lost<'_>]) -> Vec<[String; 3]> {
    sorted(losses.iter().map(|loss| loss.map(str::to_owned)))
}

fn sorted(losses: impl Iterator<Item = [String; 3]>) -> Vec<[String; 3]> {
    let mut losses: Vec<_> = losses.collect();
    losses.sort();
    losses
}

fn parsed(json: &OpenJson) -> Value {
    serde_json::from_str(json.text()).unwrap()
}

#[track_caller]
fn is(actual: &Value, expected: &Value) {
    assert!(same(actual, expected), "got\n{actual:#}\nnot\n{expected:#}");
}

#[track_caller]
fn comes_out(way: Way, policy: Policy, definition: &str, before: &Value, after: &Value, losses: &[Lost<'_>]) {
    let translation = translate(way.0, way.1, definition, before.to_string().as_bytes(), policy);
    let translation = translation.unwrap_or_else(|error| panic!("{}: {error}: {before}", error.code()));
    is(&parsed(&translation.value), after);
    assert_eq!(written(&translation.losses), owned(losses));
}

/// A value becomes another that conforms to the target, and loses this.
#[track_caller]
fn becomes(way: Way, definition: &str, before: &Value, after: &Value, losses: &[Lost<'_>]) {
    comes_out(way, Policy::Conform, definition, before, after, losses);
}

/// A value is the same in both revisions, there and back.
#[track_caller]
fn stays((from, to): Way, definition: &str, value: &Value) {
    becomes((from, to), definition, value, value, &[]);
    becomes((to, from), definition, value, value, &[]);
}

/// What the target doesn't declare travels along, and is declared again when it comes back.
#[track_caller]
fn is_carried((from, to): Way, definition: &str, value: &Value) {
    comes_out((from, to), Policy::Carry, definition, value, value, &[]);
    comes_out((to, from), Policy::Carry, definition, value, value, &[]);
}

/// A value can't be had in the target: the JSON-RPC code, and where in the value.
#[track_caller]
fn refuses((from, to): Way, definition: &str, before: &Value, code: i64, path: &str) {
    match translate(from, to, definition, before.to_string().as_bytes(), Policy::Conform) {
        Ok(translation) => panic!("got {}", translation.value.text()),
        Err(error) => assert_eq!((error.code(), &*error.path().to_string()), (code, path), "{error}"),
    }
}

fn fate<M>(translated: Translated<M>, json: impl FnOnce(M) -> Value) -> Fate {
    match translated {
        Translated::Message { message, losses } => Fate::Sent(json(message), written(&losses)),
        Translated::Refused(response) => Fate::Answered {
            id: serde_json::to_value(&response.id).unwrap(),
            code: response.error.code,
            message: response.error.message,
        },
        Translated::Dropped { losses, .. } => Fate::Dropped(written(&losses)),
    }
}

fn read(bytes: Vec<u8>) -> Value {
    serde_json::from_slice(&bytes).unwrap()
}

fn alone<M>(batch: Batch<M>) -> M {
    match batch {
        Batch::One(message) => message,
        Batch::Many(_) => panic!("a batch"),
    }
}

/// What a client of revision `peer` gets when a server of the hub sends this.
#[track_caller]
fn to_client(peer: Revision, message: &Value) -> Fate {
    let read_by_hub = peers::server_message(Revision::HUB, message.to_string().as_bytes(), Policy::Conform).unwrap();
    let Translated::Message { message, .. } = alone(read_by_hub) else {
        panic!("the hub refuses its own message")
    };
    fate(peers::server_message_for(peer, message, Policy::Conform), read)
}

/// What a server of revision `peer` gets when a client of the hub sends this.
#[track_caller]
fn to_server(peer: Revision, message: &Value) -> Fate {
    let read_by_hub = peers::client_message(Revision::HUB, message.to_string().as_bytes(), Policy::Conform).unwrap();
    let Translated::Message { message, .. } = alone(read_by_hub) else {
        panic!("the hub refuses its own message")
    };
    fate(peers::client_message_for(peer, message, Policy::Conform), read)
}

/// What the hub gets when a client of revision `peer` sends this.
#[track_caller]
fn from_client(peer: Revision, message: &Value) -> Fate {
    let read = peers::client_message(peer, message.to_string().as_bytes(), Policy::Conform).unwrap();
    fate(alone(read), |message| serde_json::to_value(message).unwrap())
}

/// What the hub gets when a server of revision `peer` sends this.
#[track_caller]
fn from_server(peer: Revision, message: &Value) -> Fate {
    let read = peers::server_message(peer, message.to_string().as_bytes(), Policy::Conform).unwrap();
    fate(alone(read), |message| serde_json::to_value(message).unwrap())
}

/// What a client of revision `peer` gets when a server of the hub answers `method` with this.
#[track_caller]
fn result_to_client(peer: Revision, method: &str, result: &Value) -> ResultFate {
    let read_by_hub = peers::server_result(Revision::HUB, method, &result.into(), Policy::Conform);
    let result = read_by_hub.unwrap().expect("a method of the hub").result;
    let sent = peers::server_result_for(peer, result, Policy::Conform);
    sent.map(|(json, losses)| (parsed(&json), written(&losses)))
        .map_err(|error| (error.code(), error.path().to_string()))
}

/// What a server of revision `peer` gets when a client of the hub answers `method` with this.
#[track_caller]
fn result_to_server(peer: Revision, method: &str, result: &Value) -> ResultFate {
    let read_by_hub = peers::client_result(Revision::HUB, method, &result.into(), Policy::Conform);
    let result = read_by_hub.unwrap().expect("a method of the hub").result;
    let sent = peers::client_result_for(peer, result, Policy::Conform);
    sent.map(|(json, losses)| (parsed(&json), written(&losses)))
        .map_err(|error| (error.code(), error.path().to_string()))
}

fn answered(id: Value, code: i64, message: &str) -> Fate {
    Fate::Answered {
        id,
        code,
        message: message.to_owned(),
    }
}

/// A message that both sides write alike.
fn unchanged(message: &Value) -> Fate {
    Fate::Sent(message.clone(), Vec::new())
}

/// The revisions before the hub.
const EARLIER: [Revision; 3] = [V2024_11_05, V2025_03_26, V2025_06_18];

// Optional members.

#[test]
fn optional_members_of_2025_11_25_are_dropped_and_recorded_on_the_way_down() {
    let tool = json!({
        "name": "clock",
        "icons": [{"src": "https://example.org/clock.png"}],
        "execution": {"taskSupport": "optional"},
        "inputSchema": {"type": "object"},
    });
    let earlier = json!({"name": "clock", "inputSchema": {"type": "object"}});
    let losses = [["execution", "dropped", AUTOMATIC], ["icons", "dropped", AUTOMATIC]];
    becomes((V2025_11_25, V2025_06_18), "Tool", &tool, &earlier, &losses);
    stays((V2025_06_18, V2025_11_25), "Tool", &earlier);
    is_carried((V2025_11_25, V2025_06_18), "Tool", &tool);
}

#[test]
fn titles_metadata_and_dates_of_2025_06_18_are_dropped_and_recorded_on_the_way_down() {
    let resource = json!({
        "name": "log",
        "title": "The log",
        "uri": "file:///log",
        "_meta": {"shelf": 3},
        "annotations": {"audience": ["user"], "lastModified": "2025-06-18T00:00:00Z"},
    });
    let earlier = json!({"name": "log", "uri": "file:///log", "annotations": {"audience": ["user"]}});
    let losses = [
        ["annotations.lastModified", "dropped", AUTOMATIC],
        ["_meta", "dropped", AUTOMATIC],
        ["title", "dropped", AUTOMATIC],
    ];
    becomes((V2025_06_18, V2025_03_26), "Resource", &resource, &earlier, &losses);
    stays((V2025_03_26, V2025_06_18), "Resource", &earlier);
    is_carried((V2025_06_18, V2025_03_26), "Resource", &resource);
}

#[test]
fn the_context_of_a_completion_is_dropped_and_recorded_on_the_way_down() {
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "city", "value": "Be"},
            "context": {"arguments": {"country": "DE"}},
        },
    });
    let earlier = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "city", "value": "Be"}},
    });
    let losses = owned(&[["params.context", "dropped", AUTOMATIC]]);
    assert_eq!(to_server(V2025_06_18, &request), unchanged(&request));
    assert_eq!(to_server(V2025_03_26, &request), Fate::Sent(earlier.clone(), losses));
    assert_eq!(from_client(V2025_03_26, &earlier), unchanged(&earlier));
}

#[test]
fn the_message_of_a_progress_notification_is_dropped_and_recorded_on_the_way_to_2024_11_05() {
    let notification = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 0.5, "total": 1, "message": "half"},
    });
    let earlier = json!({
        "jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "t", "progress": 0.5, "total": 1},
    });
    let losses = owned(&[["params.message", "dropped", AUTOMATIC]]);
    assert_eq!(to_client(V2025_03_26, &notification), unchanged(&notification));
    assert_eq!(
        to_client(V2024_11_05, &notification),
        Fate::Sent(earlier.clone(), losses)
    );
    assert_eq!(from_server(V2024_11_05, &earlier), unchanged(&earlier));
}

#[test]
fn the_annotations_of_a_tool_are_dropped_and_recorded_on_the_way_to_2024_11_05() {
    let tool = json!({"name": "rm", "annotations": {"destructiveHint": true}, "inputSchema": {"type": "object"}});
    let earlier = json!({"name": "rm", "inputSchema": {"type": "object"}});
    let losses = [["annotations", "dropped", AUTOMATIC]];
    becomes((V2025_03_26, V2024_11_05), "Tool", &tool, &earlier, &losses);
    stays((V2024_11_05, V2025_03_26), "Tool", &earlier);
    is_carried((V2025_11_25, V2024_11_05), "Tool", &tool);
}

#[test]
fn defaults_of_form_fields_are_dropped_and_recorded_on_the_way_down() {
    let fields = [
        (json!({"type": "string", "default": "me"}), json!({"type": "string"})),
        (json!({"type": "number", "default": 1}), json!({"type": "number"})),
        (
            json!({"type": "string", "enum": ["a"], "default": "a"}),
            json!({"type": "string", "enum": ["a"]}),
        ),
    ];
    for (field, earlier) in fields {
        let losses = [["default", "dropped", AUTOMATIC]];
        becomes(
            (V2025_11_25, V2025_06_18),
            "PrimitiveSchemaDefinition",
            &field,
            &earlier,
            &losses,
        );
        stays((V2025_06_18, V2025_11_25), "PrimitiveSchemaDefinition", &earlier);
    }
    stays(
        (V2025_06_18, V2025_11_25),
        "PrimitiveSchemaDefinition",
        &json!({"type": "boolean", "default": true}),
    );
}

// Methods.

#[test]
fn a_request_unknown_to_the_target_is_answered_with_method_not_found_and_never_sent() {
    for peer in EARLIER {
        let request = json!({"jsonrpc": "2.0", "id": "a", "method": "tasks/get", "params": {"taskId": "t"}});
        let message = "`method`: revision 2025-06-18 has no method tasks/get";
        assert_eq!(to_server(peer, &request), answered(json!("a"), -32601, message));
        assert_eq!(to_client(peer, &request), answered(json!("a"), -32601, message));
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
        let dropped = || Fate::Dropped(owned(&[["(root)", "dropped", AUTOMATIC]]));
        assert_eq!(to_client(peer, &status), dropped());
        assert_eq!(to_server(peer, &status), dropped());
        assert_eq!(to_client(peer, &complete), dropped());
    }
}

#[test]
fn a_method_that_no_revision_knows_reaches_whoever_can_answer_it() {
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
fn a_method_of_a_later_revision_from_an_earlier_peer_is_refused_or_is_carried_as_what_it_is() {
    use hub::ClientRequest;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "t"}});
    let wrong = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": 1}});
    let method = |peer, message: &Value, policy| {
        let read = peers::client_message(peer, message.to_string().as_bytes(), policy).unwrap();
        match alone(read) {
            Translated::Message { message, .. } => match message {
                Message::Request(call) => match call.request {
                    ClientRequest::GetTask(_) => "known",
                    ClientRequest::Unknown(_) => "unknown",
                    _ => "another",
                },
                _ => "no request",
            },
            _ => "refused",
        }
    };
    for peer in EARLIER {
        let refused = answered(
            json!(1),
            -32601,
            "`method`: revision 2025-06-18 has no method tasks/get",
        );
        assert_eq!(from_client(peer, &request), refused);
        assert_eq!(from_client(peer, &wrong), refused);
        // What a gateway carried to an earlier revision comes back as what it was.
        assert_eq!(method(peer, &request, Policy::Carry), "known");
        assert_eq!(method(peer, &wrong, Policy::Carry), "refused");
    }
    assert_eq!(method(Revision::HUB, &request, Policy::Conform), "known");

    let told = json!({"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": {}});
    for peer in EARLIER {
        let losses = owned(&[["(root)", "dropped", AUTOMATIC]]);
        assert_eq!(from_client(peer, &told), Fate::Dropped(losses));
    }
}

// Names.

#[test]
fn a_resource_reference_is_a_resource_template_reference_by_another_name() {
    let reference = json!({"type": "ref/resource", "uri": "file:///{path}"});
    becomes(
        (V2025_03_26, V2025_06_18),
        "ResourceReference",
        &reference,
        &reference,
        &[],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "ResourceTemplateReference",
        &reference,
        &reference,
        &[],
    );
    let request = json!({
        "jsonrpc": "2.0", "id": 1, "method": "completion/complete",
        "params": {"ref": reference, "argument": {"name": "path", "value": "/"}},
    });
    for peer in EARLIER {
        assert_eq!(from_client(peer, &request), unchanged(&request));
        assert_eq!(to_server(peer, &request), unchanged(&request));
    }
}

#[test]
fn the_title_of_a_tool_is_copied_to_its_annotations_unless_they_have_one_and_its_name_stays() {
    let rule = "2025-06-18 Tool.title";
    let schema = json!({"type": "object"});
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "The clock"}, "inputSchema": schema}),
        &[["title", "dropped", rule], ["annotations", "defaulted", rule]],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "A", "annotations": {"readOnlyHint": true}, "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "A", "readOnlyHint": true}, "inputSchema": schema}),
        &[["title", "dropped", rule], ["annotations.title", "defaulted", rule]],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &json!({"name": "clock", "title": "A", "annotations": {"title": "B", "readOnlyHint": true}, "inputSchema": schema}),
        &json!({"name": "clock", "annotations": {"title": "B", "readOnlyHint": true}, "inputSchema": schema}),
        &[["title", "dropped", rule]],
    );
    // There are no annotations in 2024-11-05.
    becomes(
        (V2025_06_18, V2024_11_05),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
        &json!({"name": "clock", "inputSchema": schema}),
        &[["title", "dropped", rule]],
    );
    // A title of the annotations is none of the tool.
    stays(
        (V2025_03_26, V2025_06_18),
        "Tool",
        &json!({"name": "clock", "annotations": {"title": "The clock"}, "inputSchema": schema}),
    );
    is_carried(
        (V2025_06_18, V2024_11_05),
        "Tool",
        &json!({"name": "clock", "title": "The clock", "inputSchema": schema}),
    );
}

// Content.

#[test]
fn audio_in_tool_and_prompt_content_is_an_embedded_blob_in_2024_11_05() {
    let rule = "2025-03-26 ContentBlock[audio]";
    let audio = json!({
        "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav", "annotations": {"audience": ["user"]},
    });
    let embedded = json!({
        "type": "resource",
        "annotations": {"audience": ["user"]},
        "resource": {"uri": "audio:embedded", "mimeType": "audio/wav", "blob": "UklGRg=="},
    });
    let text = json!({"type": "text", "text": "listen"});
    becomes(
        (V2025_03_26, V2024_11_05),
        "CallToolResult",
        &json!({"content": [text, audio]}),
        &json!({"content": [text, embedded]}),
        &[["content[1]", "replaced", rule]],
    );
    becomes(
        (V2025_11_25, V2024_11_05),
        "GetPromptResult",
        &json!({"messages": [{"role": "user", "content": audio}]}),
        &json!({"messages": [{"role": "user", "content": embedded}]}),
        &[["messages[0].content", "replaced", rule]],
    );
    stays(
        (V2024_11_05, V2025_03_26),
        "CallToolResult",
        &json!({"content": [text, embedded]}),
    );
    stays(
        (V2025_03_26, V2025_11_25),
        "CallToolResult",
        &json!({"content": [text, audio]}),
    );
    is_carried(
        (V2025_03_26, V2024_11_05),
        "CallToolResult",
        &json!({"content": [text, audio]}),
    );
}

#[test]
fn audio_in_sampling_is_refused_in_a_request_to_2024_11_05_and_put_into_words_in_a_result() {
    let audio = json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"});
    let request = json!({
        "jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage",
        "params": {"maxTokens": 9, "messages": [{"role": "user", "content": audio}]},
    });
    let because = "`params.messages[0].content`: the peer's revision has no audio in sampling";
    assert_eq!(to_client(V2024_11_05, &request), answered(json!(7), -32602, because));
    assert_eq!(to_client(V2025_03_26, &request), unchanged(&request));

    let result = json!({"role": "assistant", "model": "m", "content": audio});
    let earlier = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "[audio: audio/wav]"}});
    let losses = [["content", "replaced", "2025-03-26 CreateMessageResult.content[audio]"]];
    assert_eq!(
        result_to_server(V2024_11_05, "sampling/createMessage", &result),
        Ok((earlier, owned(&losses)))
    );
    stays((V2025_03_26, V2025_11_25), "CreateMessageResult", &result);
}

#[test]
fn a_resource_link_is_a_text_with_its_name_address_and_description_before_2025_06_18() {
    let rule = "2025-06-18 ContentBlock[resource_link]";
    let link = json!({
        "type": "resource_link", "name": "main.rs", "uri": "file:///main.rs", "description": "Where it begins",
        "mimeType": "text/x-rust", "annotations": {"priority": 1.0},
    });
    becomes(
        (V2025_06_18, V2025_03_26),
        "CallToolResult",
        &json!({"content": [link]}),
        &json!({"content": [{
            "type": "text", "text": "main.rs: file:///main.rs\nWhere it begins", "annotations": {"priority": 1.0},
        }]}),
        &[["content[0]", "replaced", rule]],
    );
    becomes(
        (V2025_11_25, V2024_11_05),
        "GetPromptResult",
        &json!({"messages": [{"role": "user", "content": {"type": "resource_link", "name": "n", "uri": "file:///n"}}]}),
        &json!({"messages": [{"role": "user", "content": {"type": "text", "text": "n: file:///n"}}]}),
        &[["messages[0].content", "replaced", rule]],
    );
    stays(
        (V2025_06_18, V2025_11_25),
        "CallToolResult",
        &json!({"content": [link]}),
    );
    is_carried(
        (V2025_11_25, V2024_11_05),
        "CallToolResult",
        &json!({"content": [link]}),
    );
}

#[test]
fn structured_content_is_dropped_and_said_in_text_unless_a_text_is_there() {
    let rule = "2025-06-18 CallToolResult.structuredContent";
    let image = json!({"type": "image", "data": "AA==", "mimeType": "image/png"});
    let text = json!({"type": "text", "text": "21 degrees"});
    let structured = json!({"degrees": 21});
    becomes(
        (V2025_06_18, V2025_03_26),
        "CallToolResult",
        &json!({"content": [image], "structuredContent": structured}),
        &json!({"content": [image, {"type": "text", "text": "{\"degrees\":21}"}]}),
        &[
            ["content[1]", "defaulted", rule],
            ["structuredContent", "dropped", rule],
        ],
    );
    becomes(
        (V2025_06_18, V2025_03_26),
        "CallToolResult",
        &json!({"content": [text], "structuredContent": structured}),
        &json!({"content": [text]}),
        &[["structuredContent", "dropped", rule]],
    );
    is_carried(
        (V2025_11_25, V2024_11_05),
        "CallToolResult",
        &json!({"content": [text], "structuredContent": structured}),
    );
    is_carried(
        (V2025_11_25, V2024_11_05),
        "CallToolResult",
        &json!({"content": [image], "structuredContent": structured}),
    );
}

#[test]
fn the_output_schema_of_a_tool_is_dropped_and_recorded_on_the_way_down() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "$defs": {}}});
    becomes(
        (V2025_06_18, V2025_03_26),
        "Tool",
        &tool,
        &json!({"name": "t", "inputSchema": {"type": "object"}}),
        &[["outputSchema", "dropped", AUTOMATIC]],
    );
    stays((V2025_06_18, V2025_11_25), "Tool", &tool);
    is_carried((V2025_11_25, V2024_11_05), "Tool", &tool);
}

// Capabilities.

#[test]
fn the_completions_capability_is_left_absent_on_the_way_up_and_dropped_on_the_way_to_2024_11_05() {
    let before = json!({"capabilities": {"completions": {}, "tools": {}}, "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "s", "version": "1"}});
    let after = json!({"capabilities": {"tools": {}}, "protocolVersion": "2024-11-05",
        "serverInfo": {"name": "s", "version": "1"}});
    let losses = owned(&[["capabilities.completions", "dropped", AUTOMATIC]]);
    assert_eq!(
        result_to_client(V2024_11_05, "initialize", &before),
        Ok((after.clone(), losses))
    );
    stays((V2025_03_26, V2025_11_25), "InitializeResult", &before);
    stays((V2024_11_05, V2025_03_26), "InitializeResult", &after);
}

#[test]
fn the_elicitation_capability_means_forms_and_is_removed_where_it_means_addresses_alone() {
    let rule = "2025-11-25 ClientCapabilities.elicitation";
    let capabilities = |elicitation: Value| json!({"elicitation": elicitation});
    stays(
        (V2025_06_18, V2025_11_25),
        "ClientCapabilities",
        &capabilities(json!({})),
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}})),
        &capabilities(json!({})),
        &[["elicitation.form", "dropped", rule]],
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}, "url": {}})),
        &capabilities(json!({})),
        &[
            ["elicitation.form", "dropped", rule],
            ["elicitation.url", "dropped", rule],
        ],
    );
    becomes(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"url": {}})),
        &json!({}),
        &[["elicitation", "dropped", rule]],
    );
    becomes(
        (V2025_11_25, V2024_11_05),
        "ClientCapabilities",
        &capabilities(json!({})),
        &json!({}),
        &[["elicitation", "dropped", AUTOMATIC]],
    );
    is_carried(
        (V2025_11_25, V2025_06_18),
        "ClientCapabilities",
        &capabilities(json!({"form": {}, "url": {}})),
    );
    is_carried(
        (V2025_11_25, V2024_11_05),
        "ClientCapabilities",
        &capabilities(json!({"url": {}})),
    );
}

// Batches.

#[test]
fn a_batch_of_2025_03_26_is_split_and_each_message_has_its_own_fate() {
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
        {"jsonrpc": "2.0", "id": 3, "error": {"code": -1, "message": "no"}},
    ]);
    let read = peers::client_message(V2025_03_26, batch.to_string().as_bytes(), Policy::Conform).unwrap();
    let Batch::Many(messages) = read else {
        panic!("one message")
    };
    let fates = messages
        .into_iter()
        .map(|message| fate(message, |message| serde_json::to_value(message).unwrap()));
    let expected = batch.as_array().unwrap().iter().map(unchanged);
    assert_eq!(fates.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}

#[test]
fn a_batch_in_another_revision_is_an_invalid_request() {
    for batch in [r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, " [1]", "[]"] {
        for peer in [V2024_11_05, V2025_06_18, V2025_11_25] {
            let refused = vec![answered(Value::Null, -32600, "the revision has no batches")];
            assert_eq!(outcomes(peer, batch), (false, refused), "{batch}");
        }
    }
}

#[test]
fn an_empty_batch_is_an_invalid_request() {
    let refused = vec![answered(Value::Null, -32600, "an empty batch has no message")];
    assert_eq!(outcomes(V2025_03_26, "\n[ ]"), (false, refused));
}

#[test]
fn a_bad_element_of_a_batch_is_refused_with_its_id_and_the_others_are_read() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = json!({"jsonrpc": "2.0", "id": 2, "result": {}});
    let elements = [
        (json!(1), Value::Null, -32600),
        (json!([]), Value::Null, -32600),
        (json!({}), Value::Null, -32600),
        (json!({"jsonrpc": "2.0", "id": 7}), json!(7), -32600),
        (
            json!({"jsonrpc": "1.0", "id": "a", "method": "ping"}),
            json!("a"),
            -32600,
        ),
        (json!({"id": 8, "method": "ping"}), json!(8), -32600),
        (
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
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
        // Its id is one that we gave: it must not look like an answer to a request of the peer's.
        (json!({"jsonrpc": "1.0", "id": 1, "result": {}}), Value::Null, -32600),
    ];
    for (element, id, code) in elements {
        let batch = json!([ping, element, answer]);
        let (is_batch, found) = outcomes(V2025_03_26, &batch.to_string());
        assert!(is_batch);
        assert_eq!([&found[0], &found[2]], [&unchanged(&ping), &unchanged(&answer)]);
        let Fate::Answered {
            id: named, code: given, ..
        } = &found[1]
        else {
            panic!("{element} became {:?}", found[1])
        };
        assert_eq!((named, *given), (&id, code), "{element}");
    }
}

#[test]
fn a_batch_that_is_no_json_is_a_decode_error() {
    let batches = [
        "[",
        "[{]",
        "[1,]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "[] []",
    ];
    for batch in batches {
        for peer in Revision::ALL {
            let error = peers::client_message(peer, batch.as_bytes(), Policy::Conform).unwrap_err();
            assert_eq!(error.kind(), DecodeErrorKind::Syntax, "{batch}");
        }
    }
}

/// Whether a server takes what a client sent for a batch, and what became of each message.
fn outcomes(peer: Revision, json: &str) -> (bool, Vec<Fate>) {
    let read = peers::client_message(peer, json.as_bytes(), Policy::Conform).unwrap();
    let (is_batch, messages) = match read {
        Batch::One(message) => (false, vec![message]),
        Batch::Many(messages) => (true, messages),
    };
    let fates = messages
        .into_iter()
        .map(|message| fate(message, |message| serde_json::to_value(message).unwrap()));
    (is_batch, fates.collect())
}

#[test]
fn no_batch_is_ever_sent() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(to_client(V2025_03_26, &ping), unchanged(&ping));
    assert_eq!(to_server(V2025_03_26, &ping), unchanged(&ping));
}

// Elicitation.

/// A form with one question.
fn form(params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 4, "method": "elicitation/create", "params": params})
}

#[test]
fn elicitation_to_a_client_that_lacks_it_is_answered_with_method_not_found() {
    let request = form(json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}));
    for peer in [V2024_11_05, V2025_03_26] {
        let because = "`method`: revision 2025-03-26 has no method elicitation/create";
        assert_eq!(to_client(peer, &request), answered(json!(4), -32601, because));
    }
    assert_eq!(to_client(V2025_06_18, &request), unchanged(&request));
}

#[test]
fn a_form_loses_its_mode_on_the_way_to_2025_06_18_and_needs_none_on_the_way_up() {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let request = form(json!({"mode": "form", "message": "who?", "requestedSchema": schema}));
    let earlier = form(json!({"message": "who?", "requestedSchema": schema}));
    let losses = owned(&[["params.mode", "dropped", AUTOMATIC]]);
    assert_eq!(to_client(V2025_06_18, &request), Fate::Sent(earlier.clone(), losses));
    assert_eq!(from_server(V2025_06_18, &earlier), unchanged(&earlier));
}

#[test]
fn an_unknown_mode_of_a_form_is_carried_or_dropped_and_never_becomes_another() {
    let schema = json!({"type": "object", "properties": {}});
    let weird = json!({"mode": "weird", "message": "who?", "requestedSchema": schema});
    let without = json!({"message": "who?", "requestedSchema": schema});
    let (down, up) = ((V2025_11_25, V2025_06_18), (V2025_06_18, V2025_11_25));
    for (way, from) in [(down, "ElicitRequestFormParams"), (up, "ElicitRequestParams")] {
        becomes(way, from, &weird, &without, &[["mode", "dropped", AUTOMATIC]]);
        comes_out(way, Policy::Carry, from, &weird, &weird, &[]);
    }
}

#[test]
fn an_address_to_visit_is_refused_on_the_way_to_2025_06_18() {
    let request = form(json!({
        "mode": "url", "message": "sign in", "elicitationId": "e", "url": "https://example.org/sign-in",
    }));
    let because = "`params`: the peer's revision elicits by forms only";
    assert_eq!(to_client(V2025_06_18, &request), answered(json!(4), -32602, because));
}

#[test]
fn an_answer_to_a_form_is_the_same_in_both_revisions_but_for_lists() {
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

// Enumerations in forms.

#[test]
fn legacy_and_untitled_single_enumerations_are_the_same_but_for_their_default() {
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
fn a_titled_single_enumeration_becomes_values_and_names() {
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
        // The two lists stay what they are: a legacy enumeration is still one.
        stays((V2025_06_18, V2025_11_25), definition, &earlier);
    }
    is_carried((V2025_11_25, V2025_06_18), "PrimitiveSchemaDefinition", &titled);
}

#[test]
fn a_multiple_choice_is_left_out_of_a_form_where_it_is_optional_and_refused_where_it_is_required() {
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
        let losses = owned(&[["params.requestedSchema.properties.tags", "dropped", rule]]);
        assert_eq!(
            to_client(V2025_06_18, &question(json!(["name"]))),
            Fate::Sent(earlier, losses)
        );
        let Fate::Answered { id, code, message } = to_client(V2025_06_18, &question(json!(["tags"]))) else {
            panic!("a question that must be answered was left out")
        };
        assert_eq!((id, code), (json!(4), -32602));
        assert!(
            message.starts_with("`params.requestedSchema.properties.tags`: "),
            "{message}"
        );
    }
}

// Sampling.

/// A request for a message.
fn sampling(params: Value) -> Value {
    let mut params = params;
    params["maxTokens"] = json!(100);
    json!({"jsonrpc": "2.0", "id": 5, "method": "sampling/createMessage", "params": params})
}

#[test]
fn a_sampling_message_with_a_list_is_split_into_messages_of_the_same_role() {
    let [hello, image] = [
        json!({"type": "text", "text": "hello"}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
    ];
    let request = sampling(json!({"messages": [
        {"role": "assistant", "content": hello},
        {"role": "user", "content": [hello, image]},
        {"role": "assistant", "content": [hello]},
    ]}));
    let earlier = sampling(json!({"messages": [
        {"role": "assistant", "content": hello},
        {"role": "user", "content": hello},
        {"role": "user", "content": image},
        {"role": "assistant", "content": hello},
    ]}));
    let rule = "2025-11-25 CreateMessageRequestParams.messages";
    let losses = [
        ["params.messages[1].content", "replaced", rule],
        ["params.messages[2].content", "replaced", rule],
    ];
    for peer in EARLIER {
        assert_eq!(to_client(peer, &request), Fate::Sent(earlier.clone(), owned(&losses)));
        assert_eq!(from_server(peer, &earlier), unchanged(&earlier));
    }
    // A list can't be carried: the earlier revision couldn't read the message at all.
    comes_out(
        (V2025_11_25, V2025_06_18),
        Policy::Carry,
        "CreateMessageRequestParams",
        &request["params"],
        &earlier["params"],
        &losses.map(|[path, kind, rule]| [path.trim_start_matches("params."), kind, rule]),
    );
}

#[test]
fn a_sampling_result_with_a_list_is_its_only_piece_or_its_texts_joined_or_refused() {
    let rule = "2025-11-25 CreateMessageResult.content";
    let [a, b, image] = [
        json!({"type": "text", "text": "a"}),
        json!({"type": "text", "text": "b"}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
    ];
    let result = |content: Value| json!({"role": "assistant", "model": "m", "content": content});
    let losses = owned(&[["content", "replaced", rule]]);
    let sent = |content: Value| result_to_server(V2025_06_18, "sampling/createMessage", &result(content));
    assert_eq!(sent(json!([image])), Ok((result(image.clone()), losses.clone())));
    let joined = json!({"type": "text", "text": "a\nb"});
    assert_eq!(sent(json!([a, b])), Ok((result(joined), losses)));
    assert_eq!(sent(json!([a, image])), Err((-32602, "content".to_owned())));
    assert_eq!(sent(json!([])), Err((-32602, "content".to_owned())));
    assert_eq!(sent(a.clone()), Ok((result(a), Vec::new())));
}

#[test]
fn tools_in_sampling_are_refused_before_2025_11_25() {
    let hello = json!({"role": "user", "content": {"type": "text", "text": "hello"}});
    let uses = json!({"type": "tool_use", "id": "u", "name": "clock", "input": {}});
    let returned = json!({"type": "tool_result", "toolUseId": "u", "content": []});
    let tool = json!({"name": "clock", "inputSchema": {"type": "object"}});
    let cases = [
        (json!({"messages": [hello], "tools": [tool]}), "params.tools"),
        (
            json!({"messages": [hello], "toolChoice": {"mode": "auto"}}),
            "params.toolChoice",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": uses}]}),
            "params.messages[0].content",
        ),
        (
            json!({"messages": [{"role": "user", "content": returned}]}),
            "params.messages[0].content",
        ),
    ];
    for (params, path) in cases {
        let fate = to_client(V2025_06_18, &sampling(params));
        let Fate::Answered { id, code, message } = fate else {
            panic!("{fate:?}")
        };
        assert_eq!((id, code), (json!(5), -32602));
        assert!(message.starts_with(&format!("`{path}`: ")), "{message}");
    }
    let result = json!({"role": "assistant", "model": "m", "content": uses});
    let refused = Err((-32602, "content".to_owned()));
    assert_eq!(
        result_to_server(V2025_06_18, "sampling/createMessage", &result),
        refused
    );
}

// Tasks.

#[test]
fn a_call_that_wants_to_be_a_task_is_an_ordinary_call_before_2025_11_25() {
    let call = json!({
        "jsonrpc": "2.0", "id": 6, "method": "tools/call",
        "params": {"name": "t", "arguments": {"a": 1}, "task": {"ttl": 1000}},
    });
    let earlier = json!({
        "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "t", "arguments": {"a": 1}},
    });
    let losses = || owned(&[["params.task", "dropped", AUTOMATIC]]);
    for peer in EARLIER {
        assert_eq!(to_server(peer, &call), Fate::Sent(earlier.clone(), losses()));
        assert_eq!(from_client(peer, &earlier), unchanged(&earlier));
    }
    let message = json!({"role": "user", "content": {"type": "text", "text": "hello"}});
    let request = sampling(json!({"messages": [message], "task": {}}));
    let earlier = sampling(json!({"messages": [message]}));
    assert_eq!(to_client(V2025_06_18, &request), Fate::Sent(earlier, losses()));
    let schema = json!({"type": "object", "properties": {}});
    let request = form(json!({"message": "who?", "requestedSchema": schema, "task": {}}));
    let earlier = form(json!({"message": "who?", "requestedSchema": schema}));
    assert_eq!(to_client(V2025_06_18, &request), Fate::Sent(earlier, losses()));
}

#[test]
fn a_task_is_no_result_that_an_earlier_peer_could_read() {
    let task = json!({"task": {
        "taskId": "t", "status": "working", "ttl": null,
        "createdAt": "2025-11-25T00:00:00Z", "lastUpdatedAt": "2025-11-25T00:00:00Z",
    }});
    // Whoever asked did nothing wrong.
    let refused = || Err((-32603, "(root)".to_owned()));
    for peer in EARLIER {
        assert_eq!(result_to_client(peer, "tools/call", &task), refused());
        assert_eq!(result_to_server(peer, "sampling/createMessage", &task), refused());
    }
}

#[test]
fn every_tasks_method_is_answered_with_method_not_found_before_2025_11_25() {
    for peer in EARLIER {
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"taskId": "t"}});
            for fate in [to_client(peer, &request), to_server(peer, &request)] {
                assert!(matches!(fate, Fate::Answered { code: -32601, .. }), "{fate:?}");
            }
        }
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/list"});
        for fate in [to_client(peer, &request), to_server(peer, &request)] {
            assert!(matches!(fate, Fate::Answered { code: -32601, .. }), "{fate:?}");
        }
    }
}

#[test]
fn a_tool_that_can_only_be_called_as_a_task_is_hidden_before_2025_11_25() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let with = |name: &str, support: &str| {
        let mut tool = tool(name);
        tool["execution"] = json!({"taskSupport": support});
        tool
    };
    let tools = json!({"tools": [tool("a"), with("b", "required"), with("c", "forbidden"), tool("d")]});
    let earlier = json!({"tools": [tool("a"), tool("c"), tool("d")]});
    let losses = [
        ["tools[1]", "dropped", "2025-11-25 ListToolsResult.tools"],
        ["tools[2].execution", "dropped", AUTOMATIC],
    ];
    for peer in EARLIER {
        assert_eq!(
            result_to_client(peer, "tools/list", &tools),
            Ok((earlier.clone(), owned(&losses)))
        );
    }
    is_carried((V2025_11_25, V2024_11_05), "ListToolsResult", &tools);
}

#[test]
fn the_tasks_capability_is_dropped_and_recorded_before_2025_11_25() {
    let capabilities = json!({"tasks": {"list": {}}});
    let losses = [["tasks", "dropped", AUTOMATIC]];
    for definition in ["ClientCapabilities", "ServerCapabilities"] {
        becomes(
            (V2025_11_25, V2025_06_18),
            definition,
            &capabilities,
            &json!({}),
            &losses,
        );
        is_carried((V2025_11_25, V2024_11_05), definition, &capabilities);
    }
}

// Ids.

#[test]
fn an_error_without_an_id_is_accepted_from_and_for_every_revision() {
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
fn a_cancellation_of_nothing_in_particular_is_dropped_before_2025_11_25() {
    let nameless = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"reason": "bored"}});
    let named = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "bored"},
    });
    for peer in EARLIER {
        let dropped = || Fate::Dropped(owned(&[["(root)", "dropped", AUTOMATIC]]));
        assert_eq!(to_client(peer, &nameless), dropped());
        assert_eq!(to_server(peer, &nameless), dropped());
        assert_eq!(to_client(peer, &named), unchanged(&named));
        assert_eq!(from_client(peer, &named), unchanged(&named));
    }
}

// Results by their request's method.

#[test]
fn a_result_is_read_by_the_method_that_it_answers() {
    let result = OpenJson::from(&json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}));
    for peer in Revision::ALL {
        let read = |method| peers::server_result(peer, method, &result, Policy::Conform);
        let tools = read("tools/list").unwrap().unwrap();
        assert_eq!(tools.losses, []);
        is(&serde_json::to_value(&tools.result).unwrap(), &parsed(&result));
        assert!(matches!(read("resources/list"), Err(FromPeer::Invalid(_))));
        assert!(read("example/extension").unwrap().is_none());
    }
}

#[test]
fn a_response_passes_with_its_result_unread() {
    let response = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": "later"}});
    for peer in Revision::ALL {
        assert_eq!(from_server(peer, &response), unchanged(&response));
        assert_eq!(to_client(peer, &response), unchanged(&response));
    }
}

#[test]
fn a_message_of_the_hub_is_the_same_on_both_sides() {
    let call = json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "t", "task": {"ttl": 1}}});
    assert_eq!(to_server(Revision::HUB, &call), unchanged(&call));
    let read = peers::client_message(Revision::HUB, call.to_string().as_bytes(), Policy::Conform).unwrap();
    let Translated::Message {
        message: Message::Request(_),
        losses,
    } = alone(read)
    else {
        panic!("no request")
    };
    assert!(losses.is_empty());
}

// What real peers send.

#[test]
fn a_resource_link_from_a_server_that_should_not_know_it_is_a_resource_link_to_the_hub() {
    let result = json!({"content": [{"type": "resource_link", "name": "n", "uri": "file:///n"}]});
    for peer in EARLIER {
        let read = peers::server_result(peer, "tools/call", &OpenJson::from(&result), Policy::Conform);
        let read = read.unwrap().unwrap();
        assert_eq!(read.losses, []);
        let mcp_adapters::v2025_11_25::ServerResult::CallTool(called) = read.result else {
            panic!("{:?}", read.result)
        };
        assert!(
            matches!(
                called.content[..],
                [mcp_adapters::v2025_11_25::ContentBlock::ResourceLink(_)]
            ),
            "{called:?}"
        );
    }
}

#[test]
fn content_that_no_revision_knows_travels_along() {
    let result = json!({"content": [{"type": "hologram", "data": [1, 2.50]}], "vendor": null});
    for peer in EARLIER {
        stays((peer, V2025_11_25), "CallToolResult", &result);
    }
}

#[test]
fn an_invalid_value_of_a_member_that_only_the_target_declares_is_dropped_and_recorded() {
    let tool = json!({"name": "t", "icons": null, "inputSchema": {"type": "object"}});
    let later = json!({"name": "t", "inputSchema": {"type": "object"}});
    becomes(
        (V2025_06_18, V2025_11_25),
        "Tool",
        &tool,
        &later,
        &[["icons", "dropped", AUTOMATIC]],
    );
}

#[test]
fn what_a_tool_schema_says_of_its_dialect_is_dropped_and_recorded_if_it_is_no_text() {
    let tool = |dialect: Value| json!({"name": "t", "inputSchema": {"type": "object", "$schema": dialect, "x": 1.50}});
    let without = json!({"name": "t", "inputSchema": {"type": "object", "x": 1.50}});
    let losses = [["inputSchema.$schema", "dropped", AUTOMATIC]];
    for earlier in EARLIER {
        let way = (earlier, V2025_11_25);
        becomes(way, "Tool", &tool(json!({})), &without, &losses);
        stays(
            way,
            "Tool",
            &tool(json!("https://json-schema.org/draft/2020-12/schema")),
        );
        comes_out(way, Policy::Carry, "Tool", &tool(json!({})), &tool(json!({})), &[]);
    }
    let output =
        json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "$schema": 1}});
    let without = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}});
    let losses = [["outputSchema.$schema", "dropped", AUTOMATIC]];
    becomes((V2025_06_18, V2025_11_25), "Tool", &output, &without, &losses);
}
