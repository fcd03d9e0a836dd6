//! Content blocks of types that a revision lacks, and structured content.

use crate::revisions::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25};
use serde_json::json;

use super::{AUTOMATIC, becomes, expected, is_carried, refusal, result_to_server, stays, to_client, unchanged};

#[test]
fn audio_in_tool_and_prompt_content_becomes_an_embedded_blob_for_2024_11_05() {
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
fn audio_in_sampling_is_refused_in_requests_to_2024_11_05_and_becomes_text_in_results() {
    let audio = json!({"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"});
    let request = json!({
        "jsonrpc": "2.0", "id": 7, "method": "sampling/createMessage",
        "params": {"maxTokens": 9, "messages": [{"role": "user", "content": audio}]},
    });
    let because = "`params.messages[0].content`: the peer's revision has no audio in sampling";
    assert_eq!(to_client(V2024_11_05, &request), refusal(json!(7), -32602, because));
    assert_eq!(to_client(V2025_03_26, &request), unchanged(&request));

    let result = json!({"role": "assistant", "model": "m", "content": audio});
    let earlier = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "[audio: audio/wav]"}});
    let losses = [["content", "replaced", "2025-03-26 CreateMessageResult.content[audio]"]];
    assert_eq!(
        result_to_server(V2024_11_05, "sampling/createMessage", &result),
        Ok((earlier, expected(&losses)))
    );
    stays((V2025_03_26, V2025_11_25), "CreateMessageResult", &result);
}

#[test]
fn a_resource_link_becomes_text_with_its_name_uri_and_description_before_2025_06_18() {
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
fn structured_content_is_dropped_and_added_as_text_unless_there_is_a_text_block() {
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
fn the_output_schema_of_a_tool_is_dropped_and_recorded_on_downgrade() {
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
