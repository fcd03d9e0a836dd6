//! A client and a server in one process, in every revision.

use std::time::Duration;

use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallClient, CallError, CallServer, ClientHandler, ClientSide, Context, ErrorObject, Options, Revision,
    ServerHandler, ServerSide, connect, hub, serve,
};
use serde_json::json;

use crate::common::session_revisions;

/// A server with one tool, which reports progress and requests the client's roots.
struct Weather;

impl ServerHandler<Context<ServerSide>> for Weather {
    async fn list_tools(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        let tool = hub::Tool::new("weather", json!({"type": "object"})).with_title("Weather");
        Ok(hub::ListToolsResult::new(vec![tool]))
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        match params.name.as_str() {
            "panic" => panic!("on purpose"),
            "sleep" => tokio::time::sleep(Duration::from_secs(3600)).await,
            _ => {}
        }
        context.progress(1.0, Some(2.0), None).await.unwrap();
        let roots = context.peer().list_roots(None).await.unwrap();
        let text = hub::TextContent::new(format!("{} roots", roots.roots.len()));
        let result = hub::CallToolResult::new(vec![text.into()]);
        Ok(result.with_structured_content(json!({"roots": 1})).into())
    }
}

struct Roots;

impl ClientHandler<Context<ClientSide>> for Roots {
    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        Ok(hub::ListRootsResult::new(vec![hub::Root::new("file:///")]))
    }
}

async fn session(revision: Revision) -> (mcp_runtime::ServerSession, mcp_runtime::ClientSession) {
    let (server_end, client_end) = channel(16);
    let capabilities: hub::ServerCapabilities = serde_json::from_value(json!({"tools": {}})).unwrap();
    let info = hub::Implementation::new("weather", "1.0");
    let options = Options {
        supported: session_revisions(),
        ..Options::default()
    };
    let server = serve(Weather, info, capabilities, None, options, server_end);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let capabilities: hub::ClientCapabilities = serde_json::from_value(json!({"roots": {}})).unwrap();
    let client = connect(
        Roots,
        hub::Implementation::new("client", "1.0"),
        capabilities,
        options,
        client_end,
    );
    (server, client.await.unwrap())
}

#[tokio::test]
async fn one_handler_serves_every_revision() {
    for revision in session_revisions() {
        let (server, client) = session(revision).await;
        assert_eq!(client.peer().revision(), Some(revision));
        let tools = client
            .peer()
            .list_tools(hub::PaginatedRequestParams::default())
            .await
            .unwrap();
        assert_eq!(tools.tools[0].name, "weather");
        let (progress, mut made) = tokio::sync::mpsc::channel(4);
        let peer = client.peer().clone().with_progress(progress);
        let result = peer
            .call_tool(hub::CallToolRequestParams::new("weather"))
            .await
            .unwrap();
        assert!(serde_json::to_string(&result).unwrap().contains("1 roots"));
        assert_eq!(made.recv().await.map(|made| made.total), Some(Some(2.0)));
        client.close().await;
        server.ended().await;
    }
}

#[tokio::test]
async fn a_panic_is_an_internal_error_only_for_its_caller() {
    let (_server, client) = session(Revision::V2025_11_25).await;
    let peer = client.peer();
    match peer.call_tool(hub::CallToolRequestParams::new("panic")).await {
        Err(CallError::Peer(error)) => assert_eq!(error.code, -32603),
        other => panic!("{other:?}"),
    }
    peer.call_tool(hub::CallToolRequestParams::new("weather"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_call_that_the_peer_does_not_offer_is_an_error() {
    let (_server, client) = session(Revision::V2025_11_25).await;
    let error = client
        .peer()
        .list_prompts(hub::PaginatedRequestParams::default())
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            CallError::NotOffered {
                capability: "prompts",
                ..
            }
        ),
        "{error}"
    );
}

#[tokio::test]
async fn closing_a_client_ends_its_pending_calls_and_the_servers_session() {
    let (server, client) = session(Revision::V2025_11_25).await;
    let peer = client.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(hub::CallToolRequestParams::new("sleep")).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    client.close().await;
    assert!(matches!(call.await.unwrap(), Err(CallError::Closed)));
    tokio::time::timeout(Duration::from_secs(10), server.ended())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_client_that_stops_writing_still_gets_every_response() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let transport = mcp_runtime::transport::stdio::LineTransport::new(reader, writer, Default::default());
    let capabilities: hub::ServerCapabilities = serde_json::from_value(json!({"tools": {}})).unwrap();
    let info = hub::Implementation::new("weather", "1.0");
    let session = serve(Weather, info, capabilities, None, Options::default(), transport);
    let (mut answers, mut requests) = split(theirs);
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": Revision::V2025_11_25.as_str(), "capabilities": {},
            "clientInfo": {"name": "client", "version": "1.0"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}),
    ] {
        requests.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    requests.shutdown().await.unwrap();
    session.ended().await;
    let mut text = String::new();
    answers.read_to_string(&mut text).await.unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("\"weather\""), "{text}");
}
