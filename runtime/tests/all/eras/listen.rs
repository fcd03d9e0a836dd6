//! Our server, which notifies of changes, and hand-written clients.

use mcp_runtime::router::{Call, resource};
use mcp_runtime::{CallClient, Limits, Options, Peer, Revision, Router, ServerSession, ServerSide, hub};
use serde_json::{Value, json};

use crate::eras::{Lined, handshake, pipe, request, stateless};

const TAG: &str = "io.modelcontextprotocol/subscriptionId";

/// A server with a tool and a resource, and no prompt.
fn router() -> Router {
    let news = hub::Resource::new("news", "test://news");
    Router::new("notes", "1.0")
        .tool("add", "Adds a note", |call: Call| async move {
            let logged = call.log(hub::LoggingLevel::Info, json!("added")).await;
            logged.expect("it can be sent");
            "added"
        })
        .with(resource(news, || "nothing"))
}

fn serve_with(router: &Router, options: Options) -> (ServerSession, Lined) {
    let (transport, client) = pipe();
    (router.clone().serve(options, transport), client)
}

fn serve(router: &Router) -> (ServerSession, Lined) {
    let options = Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    };
    serve_with(router, options)
}

fn listen(id: Value, filter: Value) -> Value {
    let mut message = request(0, "subscriptions/listen", json!({"notifications": filter}));
    message["id"] = id;
    message
}

fn all() -> Value {
    let uris = ["test://news"];
    json!({"toolsListChanged": true, "resourcesListChanged": true, "promptsListChanged": true, "resourceSubscriptions": uris})
}

async fn acknowledged(client: &mut Lined, id: Value, filter: Value) -> Value {
    let acknowledged = client.ask(listen(id.clone(), filter)).await;
    let notification = acknowledged.to_string();
    stateless()
        .validate_call(notification.as_bytes())
        .expect("it conforms to the schema");
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    assert_eq!(acknowledged["params"]["_meta"][TAG], id);
    acknowledged["params"]["notifications"].clone()
}

/// The next notification: its method, and the subscription that it names.
async fn notified(client: &mut Lined) -> (String, Value) {
    let message = client.receive().await;
    stateless()
        .validate_call(message.to_string().as_bytes())
        .expect("it conforms to the schema");
    let method = message["method"].as_str().unwrap_or_else(|| panic!("{message}"));
    (method.to_owned(), message["params"]["_meta"][TAG].clone())
}

#[tokio::test]
async fn supported_changes_are_acknowledged_and_tagged_with_the_id_of_the_request() {
    for id in [json!(7), json!("7"), json!("a")] {
        let router = router();
        let (_server, mut client) = serve(&router);
        let agreed = acknowledged(&mut client, id.clone(), all()).await;
        // There is no prompt, so changes of prompts aren't declared.
        let expected = json!({
            "toolsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": ["test://news"],
        });
        assert_eq!(agreed, expected);
        router.remove_tool("add");
        assert_eq!(
            notified(&mut client).await,
            ("notifications/tools/list_changed".to_owned(), id.clone())
        );
        router.resource_updated("test://news");
        assert_eq!(
            notified(&mut client).await,
            ("notifications/resources/updated".to_owned(), id.clone())
        );
        router.remove_resource("test://news");
        assert_eq!(
            notified(&mut client).await,
            ("notifications/resources/list_changed".to_owned(), id)
        );
    }
}

#[tokio::test]
async fn only_requested_changes_are_sent() {
    let router = router();
    let (_server, mut client) = serve(&router);
    assert_eq!(acknowledged(&mut client, json!(1), json!({})).await, json!({}));
    let only = json!({"resourcesListChanged": true});
    assert_eq!(acknowledged(&mut client, json!(2), only.clone()).await, only);
    let unknown = json!({"resourceSubscriptions": ["test://olds"]});
    assert_eq!(acknowledged(&mut client, json!(3), unknown).await, json!({}));
    router.remove_tool("add");
    router.resource_updated("test://news");
    router.resource_updated("test://olds");
    router.remove_resource("test://news");
    assert_eq!(
        notified(&mut client).await,
        ("notifications/resources/list_changed".to_owned(), json!(2))
    );
    // No other change is sent: the next message is the response.
    let answer = client.ask(request(4, "tools/list", json!({}))).await;
    assert_eq!(answer["id"], 4, "{answer}");
}

#[tokio::test]
async fn subscriptions_on_one_connection_have_distinct_ids_and_end_separately() {
    let router = router();
    let (_server, mut client) = serve(&router);
    let tools = json!({"toolsListChanged": true});
    for id in [json!(1), json!("1")] {
        acknowledged(&mut client, id, tools.clone()).await;
    }
    let again = client.ask(listen(json!(1), tools.clone())).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    router.remove_tool("add");
    let mut ids = vec![notified(&mut client).await.1, notified(&mut client).await.1];
    ids.sort_by_key(Value::is_string);
    assert_eq!(ids, [json!(1), json!("1")]);

    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.send(cancelled).await;
    // The response shows that the cancellation has been handled.
    client.ask(request(5, "tools/list", json!({}))).await;
    router
        .insert(mcp_runtime::router::tool("again", "", || ""))
        .expect("there is room");
    assert_eq!(notified(&mut client).await.1, json!("1"));
    // The id is free again.
    acknowledged(&mut client, json!(1), tools).await;
}

#[tokio::test]
async fn a_list_change_from_a_handler_reaches_every_subscribed_client() {
    let router = router().tool("change", "Changes a list", |peer: Peer<ServerSide>| async move {
        let told = peer.notify_resource_list_changed(None).await;
        told.map_or_else(|error| error.to_string(), |()| "changed".to_owned())
    });
    let (_server, mut caller) = serve(&router);
    let (_other_server, mut other) = serve(&router);
    acknowledged(&mut other, json!(1), json!({"resourcesListChanged": true})).await;
    let answer = caller
        .ask(request(1, "tools/call", json!({"name": "change", "arguments": {}})))
        .await;
    assert_eq!(answer["result"]["content"][0]["text"], "changed", "{answer}");
    let changed = "notifications/resources/list_changed".to_owned();
    assert_eq!(notified(&mut other).await, (changed, json!(1)));
}

#[tokio::test]
async fn a_client_cannot_end_the_subscription_of_another() {
    let router = router();
    let (_server, mut client) = serve(&router);
    let (_other_server, mut other) = serve(&router);
    let tools = json!({"toolsListChanged": true});
    acknowledged(&mut client, json!(1), tools.clone()).await;
    acknowledged(&mut other, json!(2), tools).await;
    for id in [json!(1), json!("2")] {
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        other.send(cancelled).await;
    }
    other.ask(request(3, "tools/list", json!({}))).await;
    router.remove_tool("add");
    assert_eq!(notified(&mut client).await.1, json!(1));
    assert_eq!(notified(&mut other).await.1, json!(2));
}

#[tokio::test]
async fn a_server_that_closes_ends_a_subscription_with_a_result_that_names_it() {
    for id in [json!(9), json!("nine")] {
        let (server, mut client) = serve(&router());
        acknowledged(&mut client, id.clone(), all()).await;
        tokio::spawn(server.close());
        let response = client.receive().await;
        assert_eq!(response["id"], id, "{response}");
        assert_eq!(response["result"]["_meta"][TAG], id);
        let result = response["result"].clone().into();
        stateless()
            .validate_result("subscriptions/listen", &result)
            .expect("it conforms to the schema");
    }
}

#[tokio::test]
async fn repeated_changes_are_merged_while_a_client_reads_nothing() {
    let router = router();
    let (_server, mut client) = serve(&router);
    acknowledged(&mut client, json!(1), all()).await;
    for _ in 0..10_000 {
        router.resource_updated("test://news");
        tokio::task::yield_now().await;
    }
    router.remove_tool("add");
    let mut updates = 0;
    while notified(&mut client).await.0 != "notifications/tools/list_changed" {
        updates += 1;
    }
    // The pipe holds some of them; the queue holds one.
    assert!((1..2_000).contains(&updates), "{updates}");
}

#[tokio::test]
async fn subscriptions_are_limited_in_number_and_bytes_without_blocking_other_requests() {
    let options = Options {
        supported: Revision::ALL.to_vec(),
        ..Options::default()
    };
    let limit = options.limits.subscriptions;
    let (_server, mut client) = serve_with(&router(), options);
    for id in 0..10_001 {
        let answer = client.ask(listen(json!(id), json!({"toolsListChanged": true}))).await;
        let is_refused = answer["error"]["code"] == -32603;
        assert_eq!(is_refused, id >= limit, "{id}: {answer}");
    }
    let answer = client.ask(request(20_000, "tools/list", json!({}))).await;
    assert!(answer["result"].is_object(), "{answer}");

    let limits = Limits {
        subscription_bytes: 1024,
        ..Limits::default()
    };
    let options = Options {
        supported: Revision::ALL.to_vec(),
        limits,
        ..Options::default()
    };
    let (_server, mut client) = serve_with(&router(), options);
    let one = json!({"resourceSubscriptions": ["test://news"]});
    acknowledged(&mut client, json!(1), one.clone()).await;
    let refused = client.ask(listen(json!(2), one.clone())).await;
    assert_eq!(refused["error"]["message"], "Too many subscriptions", "{refused}");
    // A refused subscription counts toward no limit and leaves its id free. One that ends frees its bytes.
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.send(cancelled).await;
    client.ask(request(3, "tools/list", json!({}))).await;
    acknowledged(&mut client, json!(2), one).await;
}

#[tokio::test]
async fn a_subscription_with_a_missing_or_invalid_filter_is_refused() {
    let (_server, mut client) = serve(&router());
    for params in [
        json!({}),
        json!({"notifications": []}),
        json!({"notifications": {"toolsListChanged": 1}}),
    ] {
        let answer = client.ask(request(1, "subscriptions/listen", params.clone())).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    let bare = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"notifications": {}}});
    let answer = client.ask(bare).await;
    assert!(answer["error"].is_object(), "{answer}");
}

#[tokio::test]
async fn a_session_and_subscriptions_live_side_by_side_on_one_connection() {
    let router = router();
    let (_server, mut client) = serve(&router);
    let params = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
    });
    client
        .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        .await;
    client
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    acknowledged(&mut client, json!(2), json!({"resourceSubscriptions": ["test://news"]})).await;
    router.resource_updated("test://news");
    assert_eq!(notified(&mut client).await.1, json!(2));
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/subscribe", "params": {"uri": "test://news"}});
    assert_eq!(client.ask(subscribe).await["result"], json!({}));
    router.resource_updated("test://news");
    let mut ids = vec![notified(&mut client).await.1, notified(&mut client).await.1];
    ids.sort_by_key(Value::is_null);
    assert_eq!(ids, [json!(2), Value::Null]);
    router.remove_tool("add");
    // The subscription doesn't include it, and the session gets it without subscribing.
    let message = client.receive().await;
    assert_eq!(message["method"], "notifications/tools/list_changed", "{message}");
    assert_eq!(message["params"], Value::Null);
}

#[tokio::test]
async fn a_session_cannot_subscribe_to_a_resource_that_does_not_exist() {
    let (_server, mut client) = serve(&router());
    let params = json!({
        "protocolVersion": handshake().as_str(), "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
    });
    client
        .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
        .await;
    for method in ["resources/subscribe", "resources/read"] {
        let request = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {"uri": "test://none"}});
        let error = &client.ask(request).await["error"];
        assert_eq!(
            (&error["code"], &error["data"]),
            (&json!(-32002), &json!({"uri": "test://none"})),
            "{method}"
        );
    }
}

#[tokio::test]
async fn each_session_has_its_own_log_level() {
    let router = router();
    let (_first, mut first) = serve(&router);
    let (_second, mut second) = serve(&router);
    let set_level =
        |level: &str| json!({"jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": {"level": level}});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "add"}});
    for client in [&mut first, &mut second] {
        let params = json!({
            "protocolVersion": handshake().as_str(), "capabilities": {}, "clientInfo": {"name": "legacy", "version": "1"},
        });
        client
            .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}))
            .await;
    }
    assert_eq!(first.ask(set_level("loud")).await["error"]["code"], -32602);
    assert_eq!(first.ask(set_level("warning")).await["result"], json!({}));
    assert_eq!(first.ask(call.clone()).await["id"], 3);
    assert_eq!(second.ask(call).await["params"]["level"], "info");
    assert_eq!(second.receive().await["id"], 3);
    // A stateless request on the same connection has its own level: none.
    let alone = second.ask(request(4, "tools/call", json!({"name": "add"}))).await;
    assert_eq!(alone["id"], 4, "{alone}");
}

#[tokio::test]
async fn a_batch_with_a_stateless_subscription_is_refused_as_a_whole() {
    let batching = Revision::ALL.into_iter().find(|revision| revision.facts().batches);
    let batching = batching.expect("there is one");
    let router = router();
    let (_server, mut client) = serve(&router);
    let params = json!({
        "protocolVersion": batching.as_str(), "capabilities": {}, "clientInfo": {"name": "batches", "version": "1"},
    });
    let begun = client
        .ask(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
        .await;
    assert_eq!(begun["result"]["protocolVersion"], batching.as_str());
    let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let refused = client.ask(json!([ping(1), listen(json!(2), all())])).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(1), &json!(-32600)),
        "{refused}"
    );
    // Without a revision, the request belongs to the session, whose revision lacks the method.
    let bare = json!({"jsonrpc": "2.0", "id": 3, "method": "subscriptions/listen", "params": {"notifications": all()}});
    let answers = client.ask(json!([bare, ping(4)])).await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2), "{answers}");
    let code = |id: i64| {
        let mut answers = answers.as_array().expect("an array").iter();
        let answer = answers.find(|answer| answer["id"] == id).expect("each is answered");
        answer["error"]["code"].clone()
    };
    assert_eq!((code(3), code(4)), (json!(-32601), Value::Null));
    // Nothing was subscribed to, and a separate subscription still works next to the session.
    assert_eq!(
        acknowledged(&mut client, json!(5), json!({"toolsListChanged": true})).await,
        json!({"toolsListChanged": true})
    );
}
