//! Subscriptions to changes, each of which lasts as long as the response to its POST.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::router::{Call, resource};
use mcp_runtime::transport::http::server::HttpServer;
use mcp_runtime::{CallClient, Context, ErrorObject, Options, Revision, Router, ServerHandler, ServerSide, hub, serve};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http_server::client::*;
use crate::http_server::engine::Seen;
use crate::http_server::stateless::{alone, stateless};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

/// A server with a tool that changes a resource.
struct Notes {
    server: TestServer,
    router: Router,
    ended: Arc<AtomicUsize>,
}

async fn serve_notes(config: impl FnOnce(HttpServer) -> HttpServer) -> Notes {
    let notes = Router::new("notes", "1.0")
        .tool("add", "Adds a note", |call: Call| async move {
            call.router().resource_updated("test://notes");
            "added"
        })
        .with(resource(hub::Resource::new("notes", "test://notes"), || "nothing"));
    let options = Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    };
    let ended = Arc::new(AtomicUsize::new(0));
    let (shared, count) = (notes.clone(), Arc::clone(&ended));
    let app = HttpServer::from_fn(move |transport, _| {
        let (session, count) = (shared.clone().serve(options.clone(), transport), Arc::clone(&count));
        tokio::spawn(async move {
            session.ended().await;
            count.fetch_add(1, Ordering::SeqCst);
        });
    });
    Notes {
        server: serve_app(config(app.revisions(Revision::ALL)), Seen::default(), |serve| serve).await,
        router: notes,
        ended,
    }
}

impl Notes {
    async fn post(&self, accept: &str, message: &Value) -> Answer {
        let method = message["method"].as_str().unwrap_or_default();
        let mut headers = vec![("content-type", "application/json"), ("accept", accept)];
        headers.extend([("mcp-protocol-version", stateless()), ("mcp-method", method)]);
        headers.extend(message["params"]["name"].as_str().map(|name| ("mcp-name", name)));
        let body = message.to_string();
        self.server.send("POST", "/mcp", &headers, body.as_bytes()).await
    }

    async fn listen(&self, id: i64, filter: Value) -> Answer {
        let request = alone(id, "subscriptions/listen", json!({"notifications": filter}));
        self.post(BOTH, &request).await
    }
}

/// The next event: its method, and the subscription that it names.
async fn notified(stream: &mut Answer) -> (Value, Value) {
    let (_, message) = stream.event().await.expect("the stream continues");
    (message["method"].clone(), message["params"]["_meta"][TAG].clone())
}

#[tokio::test]
async fn a_subscription_is_acknowledged_and_then_gets_the_changes_of_other_requests() {
    let notes = serve_notes(|server| server).await;
    let mut resources = notes
        .listen(1, json!({"resourceSubscriptions": ["test://notes"]}))
        .await;
    // Both can have the same id, because ids only have to be unique within one POST.
    let mut tools = notes.listen(1, json!({"toolsListChanged": true})).await;
    for stream in [&mut resources, &mut tools] {
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        let acknowledged = json!("notifications/subscriptions/acknowledged");
        assert_eq!(notified(stream).await, (acknowledged, json!(1)));
    }
    let call = alone(1, "tools/call", json!({"name": "add", "arguments": {}}));
    let mut called = notes.post(BOTH, &call).await;
    assert_eq!(called.json().await["result"]["content"][0]["text"], "added");
    notes.router.remove_tool("add");
    let updated = json!("notifications/resources/updated");
    assert_eq!(notified(&mut resources).await, (updated, json!(1)));
    let changed = json!("notifications/tools/list_changed");
    assert_eq!(notified(&mut tools).await, (changed, json!(1)));
}

/// A handler that sends a change notification, and returns the outcome as text.
struct Tells;

impl ServerHandler<Context<ServerSide>> for Tells {
    async fn call_tool(
        &self,
        _: hub::CallToolRequestParams,
        context: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let told = context.notify_tool_list_changed(None).await;
        let text = told.map_or_else(|error| error.to_string(), |()| "told".to_owned());
        Ok(hub::CallToolResult::new(vec![hub::TextContent::new(text).into()]).into())
    }
}

#[tokio::test]
async fn notifying_changes_from_a_stateless_call_without_a_router_is_an_error() {
    let app = HttpServer::from_fn(move |transport, _| {
        let tools = hub::ServerCapabilitiesTools::default().with_list_changed(true);
        let capabilities = hub::ServerCapabilities::default().with_tools(tools);
        let options = Options {
            supported: Revision::ALL.to_vec(),
            ..Options::default()
        };
        serve(
            Tells,
            hub::Implementation::new("tells", "1"),
            capabilities,
            None,
            options,
            transport,
        );
    });
    let server = serve_app(app, Seen::default(), |serve| serve).await;
    let call = alone(1, "tools/call", json!({"name": "any", "arguments": {}}));
    let headers = [
        ("content-type", "application/json"),
        ("accept", BOTH),
        ("mcp-protocol-version", stateless()),
        ("mcp-method", "tools/call"),
        ("mcp-name", "any"),
    ];
    let mut answer = server.send("POST", "/mcp", &headers, call.to_string().as_bytes()).await;
    let answer = answer.json().await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("reaches nobody"), "{answer}");
}

#[tokio::test]
async fn closing_the_stream_ends_the_subscription() {
    let notes = serve_notes(|server| server).await;
    let mut stream = notes.listen(1, json!({"toolsListChanged": true})).await;
    notified(&mut stream).await;
    let mut other = notes.listen(2, json!({"toolsListChanged": true})).await;
    notified(&mut other).await;
    drop(stream);
    until("the engine of the closed stream ends", || {
        notes.ended.load(Ordering::SeqCst) == 1
    })
    .await;
    notes.router.remove_tool("add");
    let changed = json!("notifications/tools/list_changed");
    assert_eq!(notified(&mut other).await, (changed, json!(2)));
}

#[tokio::test]
async fn a_subscription_without_an_event_stream_is_refused() {
    let request = alone(
        3,
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let notes = serve_notes(|server| server).await;
    let refused = notes.post("application/json", &request).await;
    assert_eq!(refused.status, 406);
    let json_only = serve_notes(|server| server.json_only(true)).await;
    let mut refused = json_only.post(BOTH, &request).await;
    assert_eq!(refused.status, 406);
    let error = refused.json().await;
    assert_eq!((&error["id"], &error["error"]["code"]), (&json!(3), &json!(-32600)));
}

#[tokio::test]
async fn change_capabilities_are_declared_only_where_changes_can_be_delivered() {
    let declared = |config: fn(HttpServer) -> HttpServer| async move {
        let notes = serve_notes(config).await;
        let mut modern = notes.post(BOTH, &alone(1, "server/discover", json!({}))).await;
        let modern = modern.json().await["result"]["capabilities"].clone();
        let params = json!({
            "protocolVersion": with(|revision| revision.facts().listening), "capabilities": {},
            "clientInfo": {"name": "legacy", "version": "1"},
        });
        let mut legacy = notes.server.post_with(&[], &request(0, "initialize", params)).await;
        let legacy = match legacy.header("content-type") {
            Some("application/json") => legacy.json().await,
            _ => legacy.messages().await.remove(0),
        };
        [modern, legacy["result"]["capabilities"].clone()].map(|declared| {
            let changes = [&declared["tools"]["listChanged"], &declared["resources"]["subscribe"]];
            assert!(
                declared["tools"].is_object() && declared["resources"].is_object(),
                "{declared}"
            );
            changes.map(|change| *change == json!(true))
        })
    };
    assert_eq!(declared(|server| server).await, [[true; 2]; 2]);
    assert_eq!(declared(|server| server.json_only(true)).await, [[false; 2], [true; 2]]);
    assert_eq!(declared(|server| server.stateless(true)).await, [[true; 2], [false; 2]]);
}

#[tokio::test]
async fn sessions_still_get_change_notifications_on_their_own_stream() {
    let notes = serve_notes(|server| server).await;
    let handshake = with(|revision| revision.facts().listening);
    let params = json!({
        "protocolVersion": handshake, "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
    });
    let begun = notes.server.post_with(&[], &request(0, "initialize", params)).await;
    let session = begun.session();
    let mut stream = notes.server.listen(&session, None).await;
    let mut modern = notes.listen(1, json!({"toolsListChanged": true})).await;
    notified(&mut modern).await;
    notes.router.remove_tool("add");
    let changed = json!("notifications/tools/list_changed");
    assert_eq!(notified(&mut stream).await, (changed.clone(), Value::Null));
    assert_eq!(notified(&mut modern).await, (changed, json!(1)));
}

#[tokio::test]
async fn a_subscription_ends_with_its_response_when_the_server_shuts_down() {
    let token = tokio_util::sync::CancellationToken::new();
    let config = |server: HttpServer| server.shutdown(token.clone()).grace(3 * PATIENCE);
    let notes = serve_notes(config).await;
    let mut stream = notes.listen(1, json!({"toolsListChanged": true})).await;
    notified(&mut stream).await;
    token.cancel();
    let (_, response) = stream.event().await.expect("there is a response");
    assert_eq!(
        (&response["id"], &response["result"]["_meta"][TAG]),
        (&json!(1), &json!(1))
    );
    assert!(stream.event().await.is_none(), "the stream ends");
    until("the engine ends", || notes.ended.load(Ordering::SeqCst) == 1).await;
    let refused = notes.listen(2, json!({"toolsListChanged": true})).await;
    assert_eq!(refused.status, 503);
}

#[tokio::test]
async fn subscriptions_do_not_count_toward_the_limit_on_sessions_and_calls() {
    let notes = serve_notes(|server| server.max_sessions(1)).await;
    let mut stream = notes.listen(1, json!({"toolsListChanged": true})).await;
    notified(&mut stream).await;
    let call = alone(2, "tools/call", json!({"name": "add", "arguments": {}}));
    let mut called = notes.post(BOTH, &call).await;
    assert_eq!(called.status, 200);
    assert_eq!(called.json().await["result"]["content"][0]["text"], "added");
}

#[tokio::test]
async fn a_subscription_beyond_the_limit_is_refused_until_another_ends() {
    let notes = serve_notes(|server| server.max_listens(1)).await;
    let filter = || json!({"toolsListChanged": true});
    let mut stream = notes.listen(1, filter()).await;
    notified(&mut stream).await;
    let mut refused = notes.listen(2, filter()).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.json().await["id"], 2);
    drop(stream);
    let room = async { while notes.listen(3, filter()).await.status != 200 {} };
    timeout(PATIENCE, room).await.expect("a subscription is accepted again");
}
