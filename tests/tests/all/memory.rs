//! The limit on the memory that decoding into generated types allocates.

use mcp_adapters::Revision;
use mcp_adapters::mcp_wire::DecodeErrorKind;

const LENGTH: usize = 300_000;

/// Returns a result of about 300 KB with a list of equal elements, and with members that only some revisions require.
fn result(list: &str, element: &str) -> String {
    let elements = vec![element; LENGTH / (element.len() + 1)].join(",");
    format!(r#"{{"resultType":"complete","ttlMs":0,"cacheScope":"private","{list}":[{elements}]}}"#)
}

#[test]
fn lists_of_the_smallest_valid_elements_are_decoded_in_every_revision() {
    for (definition, list, element) in [
        (
            "ListToolsResult",
            "tools",
            r#"{"name":"","inputSchema":{"type":"object"}}"#,
        ),
        ("ListResourcesResult", "resources", r#"{"name":"","uri":""}"#),
        (
            "ListResourceTemplatesResult",
            "resourceTemplates",
            r#"{"name":"","uriTemplate":""}"#,
        ),
        ("ListPromptsResult", "prompts", r#"{"name":""}"#),
        (
            "ListPromptsResult",
            "prompts",
            r#"{"name":"","arguments":[{"name":""}]}"#,
        ),
        ("ListRootsResult", "roots", r#"{"uri":""}"#),
        ("CallToolResult", "content", r#"{"type":"text","text":""}"#),
        (
            "CallToolResult",
            "content",
            r#"{"type":"image","data":"","mimeType":""}"#,
        ),
        (
            "GetPromptResult",
            "messages",
            r#"{"role":"user","content":{"type":"text","text":""}}"#,
        ),
        ("ReadResourceResult", "contents", r#"{"uri":"","text":""}"#),
    ] {
        let json = result(list, element);
        // Later revisions can require more members of a list.
        for revision in Revision::ALL.into_iter().filter(|revision| *revision <= Revision::HUB) {
            let known = revision.definitions().iter().find(|known| known.name == definition);
            let Some(known) = known else { continue };
            if let Err(error) = known.decode(json.as_bytes()) {
                panic!("{revision} {definition} of {element}: {error}");
            }
        }
    }
}

#[test]
fn a_list_of_elements_without_known_members_is_refused_in_every_revision() {
    let json = result("hints", r#"{"a":1}"#);
    // Later revisions can lack the type.
    assert!(
        Revision::HUB
            .definitions()
            .iter()
            .any(|known| known.name == "ModelPreferences")
    );
    for revision in Revision::ALL {
        let known = revision
            .definitions()
            .iter()
            .find(|known| known.name == "ModelPreferences");
        let Some(known) = known else { continue };
        let error = known.decode(json.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), DecodeErrorKind::MemoryLimit, "{revision}: {error}");
        assert!(error.path().to_string().starts_with("hints["), "{error}");
    }
}
