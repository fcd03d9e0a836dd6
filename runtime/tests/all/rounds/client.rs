//! Clients that answer the input requests of a server whose messages the test writes as JSON.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_runtime::mcp_wire::UnknownMethod;
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, Era, ErrorObject, Options, Revision,
    connect, hub,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::rounds::{Obliging, Raw, client_of, every_capability, info, stateless};

/// A client, and the raw server that it has discovered.
async fn connected<H>(handler: H, capabilities: Value) -> (ClientSession, Raw)
where
    H: ClientHandler<Context<ClientSide>> + 'static,
{
    let (server, client) = channel(16);
    let mut server = Raw::new(server);
    let options = Options {
        supported: vec![stateless()],
        era: Some(Era::Stateless),
        ..Options::default()
    };
    let capabilities = serde_json::from_value(capabilities).expect("they are capabilities");
    let connecting = tokio::spawn(connect(handler, info(), capabilities, options, client));
    let asked = server.receive().await;
    let discovered = json!({
        "supportedVersions": [stateless().as_str()], "capabilities": {"tools": {}, "prompts": {}, "completions": {}},
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
    });
    let response = json!({"jsonrpc": "2.0", "id": asked["id"], "result": discovered});
    server.send(&response).await;
    let client = connecting.await.expect("it doesn't panic").expect("it connects");
    (client, server)
}

fn calling(client: &ClientSession) -> tokio::task::JoinHandle<Result<hub::CallToolResult, CallError>> {
    let peer = client.peer().clone();
    tokio::spawn(async move {
        let arguments = json!({"b": 1, "a": [2]});
        let params = hub::CallToolRequestParams::new("tool").with_arguments(arguments);
        peer.call_tool(params).await
    })
}

async fn answer(server: &mut Raw, request: &Value, result: Value) {
    let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
    server.send(&response).await;
}

fn asks(questions: &Value, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

fn roots() -> Value {
    json!({"method": "roots/list"})
}

fn done() -> Value {
    json!({"resultType": "complete", "content": []})
}

#[tokio::test]
async fn a_request_is_repeated_with_a_new_id_the_input_responses_and_the_state() {
    let (client, mut server) = connected(Obliging, every_capability()).await;
    let call = calling(&client);
    let first = server.receive().await;
    assert_eq!(first["params"]["inputResponses"], Value::Null);
    let form = json!({"mode": "form", "message": "Ann", "requestedSchema": {"type": "object", "properties": {}}});
    let questions = json!({"where": roots(), "who": {"method": "elicitation/create", "params": form}});
    answer(&mut server, &first, asks(&questions, Some("état \u{1}"))).await;

    let second = server.receive().await;
    assert_ne!(second["id"], first["id"]);
    let mut bare = second["params"].clone();
    let members = bare.as_object_mut().expect("an object");
    assert_eq!(members.remove("requestState"), Some(json!("état \u{1}")));
    let answers = members.remove("inputResponses").expect("they are there");
    assert_eq!(answers["where"]["roots"][0]["uri"], "file:///home");
    assert_eq!(answers["who"], json!({"action": "accept", "content": {"name": "Ann"}}));
    assert_eq!(bare, first["params"]);

    // The next result has other input requests and no state: nothing of the previous round is sent again.
    answer(&mut server, &second, asks(&json!({"again": roots()}), None)).await;
    let third = server.receive().await;
    assert_eq!(third["params"].get("requestState"), None, "{third}");
    let names: Vec<&String> = third["params"]["inputResponses"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(names, ["again"]);

    // A state without input requests is sent back immediately.
    let state = json!({"resultType": "input_required", "requestState": "later"});
    answer(&mut server, &third, state).await;
    let fourth = server.receive().await;
    assert_eq!(fourth["params"]["requestState"], "later");
    assert_eq!(fourth["params"].get("inputResponses"), None, "{fourth}");
    answer(&mut server, &fourth, done()).await;
    assert!(call.await.expect("it doesn't panic").is_ok());
}

#[tokio::test]
async fn a_call_fails_after_ten_rounds_of_input_requests() {
    let (client, mut server) = connected(Obliging, every_capability()).await;
    let call = calling(&client);
    for _ in 0..11 {
        let request = server.receive().await;
        answer(&mut server, &request, asks(&json!({"where": roots()}), None)).await;
    }
    let called = call.await.expect("it doesn't panic");
    assert!(matches!(called, Err(CallError::TooManyRounds(10))), "{called:?}");
}

#[tokio::test]
async fn an_input_request_of_an_undeclared_capability_fails_the_call() {
    let (client, mut server) = connected(Obliging, json!({})).await;
    let call = calling(&client);
    let request = server.receive().await;
    answer(&mut server, &request, asks(&json!({"where": roots()}), None)).await;
    let called = call.await.expect("it doesn't panic");
    assert!(matches!(called, Err(CallError::InputNotProvided(_))), "{called:?}");
}

#[tokio::test]
async fn invalid_input_required_results_fail_the_call() {
    let many: serde_json::Map<String, Value> = (0..1000).map(|name| (name.to_string(), roots())).collect();
    for wrong in [
        json!({"resultType": "input_required"}),
        asks(&json!(many), None),
        asks(&json!({"where": {"method": 1}}), None),
        asks(&json!("nothing"), None),
        json!({"resultType": "task", "content": []}),
    ] {
        let (client, mut server) = connected(Obliging, every_capability()).await;
        let call = calling(&client);
        let request = server.receive().await;
        answer(&mut server, &request, wrong.clone()).await;
        let called = call.await.expect("it doesn't panic");
        assert!(
            matches!(called, Err(CallError::InvalidResult(_))),
            "{wrong}: {called:?}"
        );
    }
    // Only three methods may have results that request input.
    let (client, mut server) = connected(Obliging, every_capability()).await;
    let peer = client.peer().clone();
    let call = tokio::spawn(async move { peer.list_tools(Default::default()).await });
    let request = server.receive().await;
    answer(&mut server, &request, asks(&json!({"where": roots()}), None)).await;
    let called = call.await.expect("it doesn't panic");
    assert!(matches!(called, Err(CallError::InvalidResult(_))), "{called:?}");
}

#[tokio::test]
async fn a_single_round_call_returns_the_input_required_result() {
    let (client, mut server) = connected(Obliging, every_capability()).await;
    let peer = client.peer().clone();
    let request = hub::CallToolRequest::new(hub::CallToolRequestParams::new("tool"));
    let call = tokio::spawn(async move { peer.call(request.into()).await });
    let request = server.receive().await;
    answer(&mut server, &request, asks(&json!({"where": roots()}), Some("s"))).await;
    let called = call.await.expect("it doesn't panic");
    let Ok(hub::ServerResult::InputRequired(asked)) = called else {
        panic!("{called:?}")
    };
    assert_eq!(asked.request_state.as_deref(), Some("s"));
}

/// A client that never answers, and notifies when its handler starts and when it is cancelled.
struct Ponders(Arc<Notify>, Arc<Notify>);

impl ClientHandler<Context<ClientSide>> for Ponders {
    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        context: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        let (cancelled, ended) = (context.cancelled().clone(), Arc::clone(&self.1));
        tokio::spawn(async move {
            cancelled.cancelled().await;
            ended.notify_one();
        });
        self.0.notify_one();
        pending().await
    }
}

#[tokio::test]
async fn dropping_a_call_cancels_the_handlers_of_its_input_requests() {
    let (begun, ended) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = Ponders(Arc::clone(&begun), Arc::clone(&ended));
    let (client, mut server) = connected(handler, every_capability()).await;
    let call = calling(&client);
    let request = server.receive().await;
    answer(&mut server, &request, asks(&json!({"where": roots()}), None)).await;
    begun.notified().await;
    call.abort();
    timeout(Duration::from_secs(30), ended.notified())
        .await
        .expect("the handler is dropped");
}

/// A client and a raw server of the revision with the URL elicitation error, after the handshake.
async fn legacy(capabilities: Value) -> (ClientSession, Raw) {
    let (server, client) = channel(16);
    let mut server = Raw::new(server);
    let connecting = tokio::spawn(client_of(Revision::V2025_11_25, capabilities, client));
    begin(&mut server).await;
    (connecting.await.expect("it doesn't panic"), server)
}

/// Answers the handshake.
async fn begin(server: &mut Raw) {
    let asked = server.receive().await;
    let begun = json!({
        "protocolVersion": Revision::V2025_11_25.as_str(), "capabilities": {"tools": {}},
        "serverInfo": {"name": "legacy", "version": "1"},
    });
    answer(server, &asked, begun).await;
    assert_eq!(server.receive().await["method"], "notifications/initialized");
}

/// Answers a request with a URL elicitation error, which asks the user to visit a page.
async fn send_away(server: &mut Raw, request: &Value) {
    let page = json!({
        "mode": "url", "message": "Allow it", "url": "https://example.org/allow", "elicitationId": "e-1",
    });
    let error = json!({"code": -32042, "message": "first the page", "data": {"elicitations": [page]}});
    server
        .send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
        .await;
}

fn error_of(called: Result<hub::CallToolResult, CallError>) -> ErrorObject {
    match called {
        Err(CallError::Peer(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_url_elicitation_error_is_answered_and_the_call_is_repeated() {
    let (client, mut server) = legacy(json!({"elicitation": {"url": {}}})).await;
    let call = calling(&client);
    let first = server.receive().await;
    send_away(&mut server, &first).await;
    let second = server.receive().await;
    assert_ne!(second["id"], first["id"]);
    assert_eq!(
        (&second["method"], &second["params"]),
        (&first["method"], &first["params"])
    );
    answer(&mut server, &second, json!({"content": []})).await;
    assert!(call.await.expect("it doesn't panic").is_ok());

    let call = calling(&client);
    for _ in 0..11 {
        let request = server.receive().await;
        send_away(&mut server, &request).await;
    }
    let called = call.await.expect("it doesn't panic");
    assert!(matches!(called, Err(CallError::TooManyRounds(10))), "{called:?}");
}

/// A client that declines URL elicitations, and counts them.
struct Stays(Arc<AtomicUsize>);

impl ClientHandler<Context<ClientSide>> for Stays {
    async fn elicit(
        &self,
        params: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        assert!(matches!(params, hub::ElicitRequestParams::Url(_)), "{params:?}");
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(hub::ElicitResult::new(hub::ElicitResultAction::Decline))
    }
}

#[tokio::test]
async fn a_url_elicitation_error_is_returned_if_the_user_declines_or_cannot_be_asked() {
    for (capabilities, asked) in [
        (json!({"elicitation": {"url": {}}}), 1),
        (json!({"elicitation": {}}), 0),
        (json!({}), 0),
    ] {
        let (server, client) = channel(16);
        let mut server = Raw::new(server);
        let count = Arc::new(AtomicUsize::new(0));
        let connecting = tokio::spawn(connect(
            Stays(Arc::clone(&count)),
            info(),
            serde_json::from_value(capabilities).expect("they are capabilities"),
            Options {
                supported: vec![Revision::V2025_11_25],
                ..Options::default()
            },
            client,
        ));
        begin(&mut server).await;
        let client = connecting.await.expect("it doesn't panic").expect("it connects");
        let call = calling(&client);
        let request = server.receive().await;
        send_away(&mut server, &request).await;
        assert_eq!(error_of(call.await.expect("it doesn't panic")).code, -32042);
        assert_eq!(count.load(Ordering::SeqCst), asked);
    }
    // In a revision that doesn't define this error, it is like any other.
    let (client, mut server) = connected(Obliging, json!({"elicitation": {"url": {}}})).await;
    let call = calling(&client);
    let request = server.receive().await;
    send_away(&mut server, &request).await;
    assert_eq!(error_of(call.await.expect("it doesn't panic")).code, -32042);
}

/// A client that opens pages, and reports their ids and those of the completed ones.
struct Opens(mpsc::UnboundedSender<String>);

impl ClientHandler<Context<ClientSide>> for Opens {
    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        context: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        let id = context.original_params().and_then(|params| params.get("elicitationId"));
        let _ = self.0.send(format!("opened {}", id.expect("it has an id").text()));
        Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept))
    }

    async fn on_unknown(&self, notification: UnknownMethod, _: &Context<ClientSide>) {
        let params = notification.params.expect("it has parameters");
        let id = params.get("elicitationId").expect("it has an id");
        let _ = self.0.send(format!("completed {}", id.text()));
    }
}

#[tokio::test]
async fn a_client_matches_the_id_of_a_page_with_that_of_its_completion() {
    let (server, client) = channel(16);
    let mut server = Raw::new(server);
    let (sender, mut seen) = mpsc::unbounded_channel();
    let connecting = tokio::spawn(connect(
        Opens(sender),
        info(),
        serde_json::from_value(json!({"elicitation": {"url": {}}})).expect("they are capabilities"),
        Options {
            supported: vec![Revision::V2025_11_25],
            ..Options::default()
        },
        client,
    ));
    begin(&mut server).await;
    let _client = connecting.await.expect("it doesn't panic").expect("it connects");
    let page = json!({"mode": "url", "message": "Pay", "url": "https://example.org/pay", "elicitationId": "e-1"});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": page});
    server.send(&request).await;
    assert_eq!(server.receive().await["result"], json!({"action": "accept"}));
    assert_eq!(seen.recv().await.as_deref(), Some(r#"opened "e-1""#));
    let completed = json!({
        "jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": "e-1"},
    });
    server.send(&completed).await;
    assert_eq!(seen.recv().await.as_deref(), Some(r#"completed "e-1""#));
}
