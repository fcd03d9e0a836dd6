//! Our server, and a hand-written client.

use mcp_runtime::mcp_wire::RawJson;
use mcp_runtime::{
    CallClient, Context, ErrorObject, Options, Revision, ServerHandler, ServerSession, ServerSide, hub, serve,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::eras::{Lined, handshake, meta, pipe, request, stateless};

/// A server that logs while it lists its tools, and lists the client's roots for completions and prompts.
struct Logs;

impl ServerHandler<Context<ServerSide>> for Logs {
    async fn list_tools(
        &self,
        _: hub::PaginatedRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        for level in [hub::LoggingLevel::Info, hub::LoggingLevel::Error] {
            let params = hub::LoggingMessageNotificationParams::new(level, json!("listing"));
            let logged = context.peer().notify_logging_message(params).await;
            logged.expect("it can be sent");
        }
        let client = context.peer_info().and_then(|info| info.implementation.clone());
        let name = client.map_or("nobody".to_owned(), |client| client.name);
        let revision = context.revision().expect("each request has one");
        let tool = hub::Tool::new("who", json!({"type": "object"})).with_title(format!("{name} in {revision}"));
        Ok(hub::ListToolsResult::new(vec![tool]))
    }

    async fn complete(
        &self,
        _: hub::CompleteRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::CompleteResult, ErrorObject> {
        let asked = context.peer().list_roots(None).await;
        let text = asked.expect_err("requests to the client fail").to_string();
        let completion = hub::CompleteResultCompletion::new(vec![text]);
        Ok(hub::CompleteResult::new(completion))
    }

    async fn get_prompt(
        &self,
        _: hub::GetPromptRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyGetPromptResult, ErrorObject> {
        context.peer().list_roots(None).await?;
        Ok(hub::GetPromptResult::new(vec![]).into())
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::AnyReadResourceResult, ErrorObject> {
        let error = ErrorObject::new(hub::error_code::RESOURCE_NOT_FOUND, "there is none");
        Err(error.with_data(json!({"uri": params.uri})))
    }
}

fn server_of(supported: Vec<Revision>) -> (ServerSession, Lined) {
    let (transport, client) = pipe();
    let capabilities = json!({"tools": {}, "logging": {}, "completions": {}, "prompts": {}, "resources": {}});
    let capabilities = serde_json::from_value(capabilities).expect("they are capabilities");
    let info = hub::Implementation::new("logs", "1.0");
    let options = Options {
        supported,
        ..Options::default()
    };
    let instructions = Some("List the tools.".to_owned());
    (
        serve(Logs, info, capabilities, instructions, options, transport),
        client,
    )
}

fn server() -> (ServerSession, Lined) {
    server_of(Revision::ALL.to_vec())
}

fn initialize(id: i64, version: &str) -> Value {
    let client = json!({"name": "legacy", "version": "1"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

#[tokio::test]
async fn a_stateless_request_is_served_without_a_handshake() {
    let (_server, mut client) = server();
    let mut params = json!({});
    params["_meta"] = meta();
    params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "modern", "version": "1"});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    let answer = client.ask(message).await;
    let result = &answer["result"];
    assert_eq!(
        result["tools"][0]["title"],
        format!("modern in {}", stateless()),
        "{answer}"
    );
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "logs");
}

#[tokio::test]
async fn discovery_returns_the_revisions_capabilities_and_description_of_the_server() {
    let (_server, mut client) = server();
    let answer = client.ask(request(1, "server/discover", json!({}))).await;
    let result = answer["result"].clone();
    let latest = Revision::ALL
        .into_iter()
        .rfind(|revision| !revision.facts().initializes);
    let latest = latest.map(Revision::as_str);
    assert_eq!(result["supportedVersions"][0].as_str(), latest, "{answer}");
    assert_eq!(result["capabilities"]["tools"], json!({}));
    assert_eq!(result["instructions"], "List the tools.");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "logs");
    let result = RawJson::from(result);
    stateless()
        .validate_result("server/discover", &result)
        .expect("it conforms to the schema");
}

#[tokio::test]
async fn both_eras_are_served_side_by_side_over_one_connection() {
    let (_server, mut client) = server();
    let listed = |answer: &Value| answer["result"]["tools"][0]["title"].clone();
    let discovered = client.ask(request(1, "server/discover", json!({}))).await;
    assert!(discovered["result"].is_object(), "{discovered}");
    let begun = client.ask(initialize(2, handshake().as_str())).await;
    assert_eq!(begun["result"]["protocolVersion"], handshake().as_str(), "{begun}");
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    for id in [3, 5] {
        let modern = client.ask(request(id, "tools/list", json!({}))).await;
        assert_eq!(listed(&modern), format!("nobody in {}", stateless()));
        client
            .send(json!({"jsonrpc": "2.0", "id": id + 1, "method": "tools/list"}))
            .await;
        // In a session, a client that hasn't set a log level gets all log messages.
        for level in ["info", "error"] {
            assert_eq!(client.receive().await["params"]["level"], level);
        }
        let legacy = client.receive().await;
        assert_eq!(listed(&legacy), format!("legacy in {}", handshake()));
        assert_eq!(legacy["result"]["resultType"], Value::Null);
        assert_eq!(legacy["result"]["_meta"], Value::Null);
    }
}

#[tokio::test]
async fn a_stateless_request_without_a_required_meta_key_is_refused() {
    let (_server, mut client) = server();
    for key in ["protocolVersion", "clientCapabilities"] {
        let mut message = request(1, "tools/list", json!({}));
        let meta = message["params"]["_meta"].as_object_mut().expect("it is an object");
        meta.remove(&format!("io.modelcontextprotocol/{key}"));
        let answer = client.ask(message).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains(key)),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn an_unsupported_revision_is_refused_with_a_list_of_the_supported_ones() {
    let (_server, mut client) = server_of(vec![handshake(), stateless()]);
    for version in ["1999-01-01", "2999-01-01", handshake().as_str()] {
        let mut message = request(1, "tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let answer = client.ask(message).await;
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        let data = json!({"supported": [handshake().as_str(), stateless().as_str()], "requested": version});
        assert_eq!(answer["error"]["data"], data);
    }
}

#[tokio::test]
async fn a_method_that_the_stateless_revision_lacks_is_not_found() {
    let (_server, mut client) = server();
    for method in [
        "ping",
        "initialize",
        "logging/setLevel",
        "resources/subscribe",
        "tasks/list",
        "nonsense",
    ] {
        let answer = client.ask(request(1, method, json!({}))).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[tokio::test]
async fn a_batch_with_a_stateless_request_is_refused_as_a_whole() {
    let batching = Revision::ALL.into_iter().find(|revision| revision.facts().batches);
    let batching = batching.expect("there is one");
    let (_server, mut client) = server();
    let begun = client.ask(initialize(1, batching.as_str())).await;
    assert_eq!(begun["result"]["protocolVersion"], batching.as_str(), "{begun}");
    let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let mut unsupported = request(5, "tools/list", json!({}));
    unsupported["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
    for stateless in [request(4, "tools/list", json!({})), unsupported] {
        let refused = client.ask(json!([ping(3), stateless])).await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(3), &json!(-32600)),
            "{refused}"
        );
    }
    let answers = client.ask(json!([ping(6), ping(7)])).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
}

#[tokio::test]
async fn the_error_code_of_a_handler_is_converted_to_the_revision_of_the_request() {
    let (_server, mut client) = server();
    client.ask(initialize(1, handshake().as_str())).await;
    let params = json!({"uri": "test://a"});
    let legacy = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": params});
    for (message, code) in [(legacy, -32002), (request(3, "resources/read", params.clone()), -32602)] {
        let answer = client.ask(message).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"], params);
    }
}

#[tokio::test]
async fn requesting_input_without_the_client_capability_fails_as_the_revision_specifies() {
    let (_server, mut client) = server();
    client.ask(initialize(1, handshake().as_str())).await;
    let params = json!({"name": "a"});
    let legacy = json!({"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": params});
    let answer = client.ask(legacy).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = client.ask(request(3, "prompts/get", params)).await;
    assert_eq!(answer["error"]["code"], -32021, "{answer}");
    assert_eq!(answer["error"]["data"], json!({"requiredCapabilities": {"roots": {}}}));
}

#[tokio::test]
async fn a_handshake_never_negotiates_a_stateless_revision() {
    for version in [stateless().as_str(), "2999-01-01"] {
        let (_server, mut client) = server();
        let begun = client.ask(initialize(1, version)).await;
        assert_eq!(begun["result"]["protocolVersion"], handshake().as_str(), "{begun}");
    }
}

#[tokio::test]
async fn a_refused_discovery_does_not_affect_the_handshake_after_it() {
    let with_handshake = Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes);
    for supported in [with_handshake.collect(), Revision::ALL.to_vec()] {
        let (_server, mut client) = server_of(supported);
        let mut probe = request(1, "server/discover", json!({}));
        probe["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2999-01-01");
        probe["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "prober", "version": "1"});
        let refused = client.ask(probe).await;
        assert!(refused["error"].is_object(), "{refused}");
        // The handshake can reuse the id of the probe, and the server remembers nothing of the client from before.
        let begun = client.ask(initialize(1, handshake().as_str())).await;
        assert_eq!(begun["result"]["protocolVersion"], handshake().as_str(), "{begun}");
        client
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
            .send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))
            .await;
        let listed = loop {
            let message = client.receive().await;
            if message["id"] == 2 {
                break message;
            }
        };
        let title = format!("legacy in {}", handshake());
        assert_eq!(listed["result"]["tools"][0]["title"], title, "{listed}");
    }
}

#[tokio::test]
async fn a_stateless_server_refuses_a_handshake_with_its_supported_revisions() {
    let (_server, mut client) = server_of(vec![stateless()]);
    let refused = client.ask(initialize(1, handshake().as_str())).await;
    assert_eq!(
        refused["error"]["data"]["supported"],
        json!([stateless().as_str()]),
        "{refused}"
    );
}

#[tokio::test]
async fn a_stateless_request_gets_the_log_messages_of_the_level_that_it_sets() {
    let (_server, mut client) = server();
    for (level, expected) in [
        (None, vec![]),
        (Some("warning"), vec!["error"]),
        (Some("info"), vec!["info", "error"]),
    ] {
        let mut message = request(1, "tools/list", json!({}));
        if let Some(level) = level {
            message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        client.send(message).await;
        for level in expected {
            assert_eq!(client.receive().await["params"]["level"], level);
        }
        let answer = client.receive().await;
        assert!(answer["result"].is_object(), "{level:?}: {answer}");
    }
    let mut message = request(1, "tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
    assert_eq!(client.ask(message).await["error"]["code"], -32602);
}

/// A server that passes on the context of each tool call.
struct Keeps(mpsc::UnboundedSender<Context<ServerSide>>);

impl ServerHandler<Context<ServerSide>> for Keeps {
    async fn call_tool(
        &self,
        _: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        self.0.send(context.clone()).expect("the test continues");
        Ok(hub::CallToolResult::new(vec![]).into())
    }
}

#[tokio::test]
async fn a_stateless_client_gets_no_progress_and_no_log_messages_after_the_result() {
    let (keep, mut kept) = mpsc::unbounded_channel();
    let (transport, mut client) = pipe();
    let capabilities = serde_json::from_value(json!({"tools": {}, "logging": {}})).expect("they are capabilities");
    let info = hub::Implementation::new("keeps", "1.0");
    let _server = serve(Keeps(keep), info, capabilities, None, Options::default(), transport);
    let mut message = request(1, "tools/call", json!({"name": "any"}));
    message["params"]["_meta"]["progressToken"] = json!("token");
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    assert_eq!(client.ask(message).await["id"], 1);
    let context = kept.recv().await.expect("it was called");
    context.progress(1.0, None, None).await.expect("it is ignored");
    let params = hub::LoggingMessageNotificationParams::new(hub::LoggingLevel::Error, json!("late"));
    context
        .peer()
        .notify_logging_message(params)
        .await
        .expect("it is ignored");
    let next = client.ask(request(2, "tools/call", json!({"name": "any"}))).await;
    assert_eq!(next["id"], 2, "{next}");
}

#[tokio::test]
async fn a_handler_gets_an_error_when_it_sends_a_request_to_a_stateless_client() {
    let (_server, mut client) = server();
    let params = json!({"ref": {"type": "ref/prompt", "name": "a"}, "argument": {"name": "b", "value": "c"}});
    let mut message = request(1, "completion/complete", params);
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"roots": {}});
    let answer = client.ask(message).await;
    let text = answer["result"]["completion"]["values"][0].as_str().unwrap_or_default();
    assert!(text.contains("send no requests"), "{answer}");
}
