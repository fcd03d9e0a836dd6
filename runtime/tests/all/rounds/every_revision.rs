//! One handler that requests input from clients of every revision.

use mcp_runtime::mcp_wire::error_code;
use mcp_runtime::router::{Call, FromCall, prompt, resource};
use mcp_runtime::{CallClient, CallError, CallServer, Revision, Router, ToolError, hub};
use serde_json::{Value, json};

use crate::common::revisions_with;
use crate::rounds::{every_capability, name_of, sampling, served, text};

/// The URI of the client's first root, which the extractor requests.
struct Home(String);

impl FromCall for Home {
    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        Ok(Self(call.list_roots(None).await?.roots[0].uri.clone()))
    }
}

fn router() -> Router {
    let asks = |call: Call| async move {
        let (message, roots) = tokio::join!(call.create_message(sampling("hello")), call.list_roots(None));
        let (message, roots) = (message?, roots?.roots);
        let hub::SamplingContent::Text(message) = message.content else {
            panic!("a text was asked for")
        };
        Ok::<String, CallError>(format!("{}, {}", message.text, roots[0].uri))
    };
    let elicits = |call: Call| async move { name_of(&call, "Ann").await };
    let home = |call: Call| async move { Ok::<_, CallError>(call.list_roots(None).await?.roots[0].uri.clone()) };
    Router::new("asks", "1.0")
        .tool("asks", "Asks two things at once", asks)
        .tool("elicits", "Asks the user", elicits)
        .tool("home", "Returns the first root", |Home(uri): Home| uri)
        .with(resource(hub::Resource::new("asks", "file:///asks"), home))
        .with(prompt(hub::Prompt::new("asks"), home))
}

#[tokio::test]
async fn tools_extractors_resources_and_prompts_request_input_in_every_revision() {
    let router = router();
    for revision in revisions_with(&["roots/list", "sampling/createMessage"]) {
        let client = served(&router, revision, every_capability()).await;
        let peer = client.peer();
        let called = peer.call_tool(hub::CallToolRequestParams::new("asks")).await.unwrap();
        assert_eq!(text(&called), "1 bytes, file:///home", "{revision}");
        let called = peer.call_tool(hub::CallToolRequestParams::new("home")).await.unwrap();
        assert_eq!(text(&called), "file:///home", "{revision}");
        let read = peer
            .read_resource(hub::ReadResourceRequestParams::new("file:///asks"))
            .await;
        let read = serde_json::to_value(read.unwrap()).unwrap();
        assert_eq!(read["contents"][0]["text"], "file:///home", "{revision}");
        let filled = peer.get_prompt(hub::GetPromptRequestParams::new("asks")).await;
        let filled = serde_json::to_value(filled.unwrap()).unwrap();
        assert_eq!(filled["messages"][0]["content"]["text"], "file:///home", "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn elicitation_works_where_the_revision_has_it_and_fails_the_tool_elsewhere() {
    let router = router();
    let mut asked = 0;
    for revision in Revision::ALL {
        let client = served(&router, revision, every_capability()).await;
        let called = client
            .peer()
            .call_tool(hub::CallToolRequestParams::new("elicits"))
            .await;
        let is_known = revision.method("elicitation/create").is_some();
        match called {
            Ok(result) if is_known => assert_eq!(text(&result), "\"Ann\"", "{revision}"),
            Ok(result) => {
                assert_eq!(result.is_error, Some(true), "{revision}");
                assert!(text(&result).contains("`elicitation`"), "{result:?}");
            }
            other => panic!("{revision}: {other:?}"),
        }
        asked += usize::from(is_known);
    }
    assert!((1..Revision::ALL.len()).contains(&asked), "both happen");
}

#[tokio::test]
async fn the_error_names_the_capability_that_the_client_lacks() {
    let router = router();
    for revision in revisions_with(&["roots/list", "sampling/createMessage"]) {
        let client = served(&router, revision, json!({"roots": {}})).await;
        let peer = client.peer();
        let called = peer.call_tool(hub::CallToolRequestParams::new("asks")).await;
        if revision.facts().initializes {
            let result = called.unwrap();
            assert_eq!(result.is_error, Some(true), "{revision}");
            let why = "sampling/createMessage needs the capability `sampling`, which the client hasn't declared";
            assert_eq!(text(&result), why, "{revision}");
            continue;
        }
        let Err(CallError::Peer(error)) = called else {
            panic!("{revision}: {called:?}")
        };
        let data = error.data.as_ref().map(|data| data.parse::<Value>().unwrap());
        assert_eq!(error.code, hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY);
        assert_eq!(data, Some(json!({"requiredCapabilities": {"sampling": {}}})));
    }
}

#[tokio::test]
async fn a_resource_that_requests_input_fails_if_the_client_lacks_the_capability() {
    let router = router();
    for revision in revisions_with(&["roots/list"]) {
        let client = served(&router, revision, json!({})).await;
        let params = hub::ReadResourceRequestParams::new("file:///asks");
        let Err(CallError::Peer(error)) = client.peer().read_resource(params).await else {
            panic!("{revision}")
        };
        let expected = match revision.facts().initializes {
            true => error_code::INVALID_PARAMS,
            false => hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY,
        };
        assert_eq!(error.code, expected, "{revision}");
    }
}

#[tokio::test]
async fn a_handler_can_check_whether_it_may_request_input() {
    let asks = |call: Call| async move {
        let question = hub::InputRequest::from(hub::ListRootsRequest::default());
        match call.peer().check_input_request(&question) {
            Ok(()) => call.list_roots(None).await.map(|roots| roots.roots.len().to_string()),
            Err(CallError::NotOffered { capability, .. }) => Ok(format!("no {capability}")),
            Err(error) => Err(error),
        }
    };
    let router = Router::new("asks", "1.0").tool("asks", "Asks if it may", asks);
    for revision in revisions_with(&["roots/list"]) {
        for (capabilities, expected) in [(json!({}), "no roots"), (json!({"roots": {}}), "1")] {
            let client = served(&router, revision, capabilities).await;
            let called = client.peer().call_tool(hub::CallToolRequestParams::new("asks")).await;
            assert_eq!(text(&called.unwrap()), expected, "{revision}");
        }
    }
}
