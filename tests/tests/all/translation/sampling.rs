//! Sampling: lists of content blocks, and tools.

use crate::revisions::{V2025_06_18, V2025_11_25};
use mcp_adapters::Policy;
use serde_json::{Value, json};

use super::{EARLIER, Outcome, expected, from_server, result_to_server, to_client, translates, unchanged};

/// Returns a sampling request with these parameters.
pub(super) fn sampling(params: Value) -> Value {
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
        assert_eq!(
            to_client(peer, &request),
            Outcome::Sent(earlier.clone(), expected(&losses))
        );
        assert_eq!(from_server(peer, &earlier), unchanged(&earlier));
    }
    // A list can't be carried, because a peer of the earlier revision couldn't read the message at all.
    translates(
        (V2025_11_25, V2025_06_18),
        Policy::Carry,
        "CreateMessageRequestParams",
        &request["params"],
        &earlier["params"],
        &losses.map(|[path, kind, rule]| [path.trim_start_matches("params."), kind, rule]),
    );
}

#[test]
fn a_list_in_a_sampling_result_becomes_its_only_block_or_its_joined_texts_or_is_refused() {
    let rule = "2025-11-25 CreateMessageResult.content";
    let [a, b, image] = [
        json!({"type": "text", "text": "a"}),
        json!({"type": "text", "text": "b"}),
        json!({"type": "image", "data": "AA==", "mimeType": "image/png"}),
    ];
    let result = |content: Value| json!({"role": "assistant", "model": "m", "content": content});
    let losses = expected(&[["content", "replaced", rule]]);
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
        let outcome = to_client(V2025_06_18, &sampling(params));
        let Outcome::Refused { id, code, message } = outcome else {
            panic!("{outcome:?}")
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
