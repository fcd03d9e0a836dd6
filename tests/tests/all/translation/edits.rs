//! Conversions that edit the text of a value: it stays as it is, except for added and removed members.

use super::{V2024_11_05, V2025_06_18, V2025_11_25, Way, result_to_client, supplied};
use mcp_adapters::{Policy, Revision, translate};
use serde_json::json;

/// Asserts the exact text to which a value of a definition is translated, without a loss.
#[track_caller]
fn becomes(way: Way, definition: &str, before: &str, after: &str) {
    let conversion = match way.1 == Revision::HUB {
        true => supplied(),
        false => Policy::Conform.into(),
    };
    let translation = translate(way.0, way.1, definition, before.as_bytes(), conversion).unwrap();
    assert_eq!(translation.value.text(), after);
    assert!(translation.losses.is_empty(), "{:?}", translation.losses);
}

#[test]
fn an_implied_member_is_removed_with_its_comma() {
    for earlier in [V2025_11_25, V2025_06_18] {
        let is_left = |before: &str, after: &str| becomes((Revision::HUB, earlier), "CallToolResult", before, after);
        is_left(r#"{"content":[],"resultType":"complete"}"#, r#"{"content":[]}"#);
        is_left(r#"{"resultType":"complete","content":[]}"#, r#"{"content":[]}"#);
        is_left(
            r#"{"content":[],"resultType":"complete","x":1}"#,
            r#"{"content":[],"x":1}"#,
        );
        is_left(
            "{ \"resultType\" : \"complete\" , \"content\" : [ ] ,\n\"x\":1 }",
            "{ \"content\" : [ ] ,\n\"x\":1 }",
        );
        // With escapes, it is the same member.
        is_left(
            r#"{"content":[],"result\u0054ype":"comp\u006cete"}"#,
            r#"{"content":[]}"#,
        );
    }
}

#[test]
fn supplied_metadata_is_added_to_the_meta_object_of_the_params() {
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    let version = r#""io.modelcontextprotocol/protocolVersion":"2025-11-25""#;
    let call = |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    for earlier in [V2025_11_25, V2025_06_18] {
        let gets = |before: &str, after: &str| {
            becomes((earlier, Revision::HUB), "CallToolRequest", &call(before), &call(after));
        };
        gets(
            r#"{"name":"a"}"#,
            &format!(r#"{{"name":"a","_meta":{{{version},{capabilities}}}}}"#),
        );
        gets(
            r#"{ "_meta" : {"progressToken":1} , "name":"a","arguments":{"_meta":{}}}"#,
            &format!(
                r#"{{ "_meta" : {{"progressToken":1,{version},{capabilities}}} , "name":"a","arguments":{{"_meta":{{}}}}}}"#
            ),
        );
        gets(
            &format!(r#"{{"_meta":{{{capabilities}}},"name":"a"}}"#),
            &format!(r#"{{"_meta":{{{capabilities},{version}}},"name":"a"}}"#),
        );
    }
}

#[test]
fn a_result_of_any_length_is_written_separately_and_appended_to_another_text() {
    for peer in [V2025_11_25, V2025_06_18, V2024_11_05] {
        for text in ["", "short", &"é\n".repeat(10_000)] {
            let result = json!({"content": [{"type": "text", "text": text}]});
            let sent = result_to_client(peer, "tools/call", &result);
            assert_eq!(sent, Ok((result, Vec::new())), "{peer}");
        }
        let tools: Vec<_> = (0..20)
            .map(|number| json!({"name": number.to_string(), "inputSchema": {"type": "object"}}))
            .collect();
        let result = json!({ "tools": tools });
        let sent = result_to_client(peer, "tools/list", &result);
        assert_eq!(sent, Ok((result, Vec::new())), "{peer}");
    }
}
