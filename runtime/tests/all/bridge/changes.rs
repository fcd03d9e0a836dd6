//! Change notifications from a stateless server to a client with a handshake, while subscriptions end, are refused or
//! wait.

use std::sync::{Arc, Mutex};

use mcp_runtime::Revision;
use mcp_runtime::bridge::{Bridge, BridgeOptions};
use mcp_runtime::transport::{
    ChannelReceiver, ChannelSender, ChannelTransport, Incoming, Receiver, Transport, TransportError, channel,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::bridge::{Raw, agree, by_hand, discover, options, result, serve};

/// A client with a handshake, stateless servers whose messages the test writes, and the task of the bridge between
/// them.
async fn begun<const N: usize>() -> (Raw, [Raw; N], impl Sized) {
    let (bridge, mut servers) = by_hand(BridgeOptions {
        server: vec![Revision::HUB],
        restart: N > 1,
        ..options().0
    });
    let (transport, serving) = serve(bridge);
    let mut client = Raw::new(transport);
    let info = json!({"name": "c", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    client
        .send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string())
        .await;
    discover(&mut servers[0], json!({"resources": {"subscribe": true}})).await;
    let agreed = client.next().await;
    assert!(agreed["result"].is_object(), "{agreed}");
    client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    (client, servers, serving)
}

/// Subscribes the client to a resource, and returns the id of the `subscriptions/listen` request that the server gets.
async fn subscribe(client: &mut Raw, server: &mut Raw, uri: &str) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": uri, "method": "resources/subscribe", "params": {"uri": uri}});
    client.send(&request.to_string()).await;
    assert_eq!(client.next().await["id"], uri);
    listened(server).await
}

/// Returns the id of the next `subscriptions/listen` request.
async fn listened(server: &mut Raw) -> Value {
    loop {
        let message = server.next().await;
        // The previous one is cancelled.
        if message["method"] != "notifications/cancelled" {
            assert_eq!(message["method"], "subscriptions/listen", "{message}");
            return message["id"].clone();
        }
    }
}

async fn notify(server: &Raw, subscription: &Value, method: &str, mut params: Value) {
    params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": subscription});
    let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    server.send(&message.to_string()).await;
}

async fn acknowledge(server: &Raw, subscription: &Value, uris: &[&str]) {
    let params = json!({"notifications": {"resourceSubscriptions": uris}});
    notify(server, subscription, "notifications/subscriptions/acknowledged", params).await;
}

async fn update(server: &Raw, subscription: &Value, uri: &str) {
    notify(
        server,
        subscription,
        "notifications/resources/updated",
        json!({"uri": uri}),
    )
    .await;
}

async fn fail(server: &Raw, subscription: &Value) {
    let error = json!({"code": -32603, "message": "no"});
    let message = json!({"jsonrpc": "2.0", "id": subscription, "error": error});
    server.send(&message.to_string()).await;
}

async fn is_told(client: &mut Raw, uri: &str) {
    let told = client.next().await;
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri, "{told}");
}

#[tokio::test]
async fn a_restarted_server_gets_the_subscriptions_and_its_resources_count_as_changed() {
    let (mut client, [mut first, mut restarted], _serving) = begun().await;
    let subscription = subscribe(&mut client, &mut first, "a:b").await;
    acknowledge(&first, &subscription, &["a:b"]).await;
    drop(first);
    discover(&mut restarted, json!({"resources": {"subscribe": true}})).await;
    let subscription = listened(&mut restarted).await;
    acknowledge(&restarted, &subscription, &["a:b"]).await;
    is_told(&mut client, "a:b").await;
    update(&restarted, &subscription, "a:b").await;
    is_told(&mut client, "a:b").await;
}

#[tokio::test]
async fn an_ended_subscription_is_renewed_and_its_resources_count_as_changed() {
    let (mut client, [mut server], _serving) = begun().await;
    let mut subscription = subscribe(&mut client, &mut server, "a:b").await;
    acknowledge(&server, &subscription, &["a:b"]).await;
    for _ in 0..2 {
        update(&server, &subscription, "a:b").await;
        is_told(&mut client, "a:b").await;
        for _ in 0..2 {
            fail(&server, &subscription).await;
            subscription = listened(&mut server).await;
        }
        acknowledge(&server, &subscription, &["a:b"]).await;
        is_told(&mut client, "a:b").await;
    }
}

#[tokio::test]
async fn a_subscription_lasts_until_the_server_acknowledges_its_replacement() {
    for is_refused in [false, true] {
        let (mut client, [mut server], _serving) = begun().await;
        let first = subscribe(&mut client, &mut server, "a:b").await;
        acknowledge(&server, &first, &["a:b"]).await;
        update(&server, &first, "a:b").await;
        is_told(&mut client, "a:b").await;
        let second = subscribe(&mut client, &mut server, "c:d").await;
        if is_refused {
            fail(&server, &second).await;
        }
        for _ in 0..2 {
            update(&server, &first, "a:b").await;
            is_told(&mut client, "a:b").await;
        }
        if !is_refused {
            acknowledge(&server, &second, &["a:b", "c:d"]).await;
            update(&server, &second, "c:d").await;
            is_told(&mut client, "c:d").await;
        }
    }
}

/// A transport that renews its session when it is notified.
struct Renewing(ChannelTransport, Arc<Notify>);

struct RenewingReceiver(ChannelReceiver, Arc<Notify>);

impl Transport for Renewing {
    type Sender = ChannelSender;
    type Receiver = RenewingReceiver;

    fn split(self) -> (ChannelSender, RenewingReceiver) {
        let (sender, receiver) = self.0.split();
        (sender, RenewingReceiver(receiver, self.1))
    }
}

impl Receiver for RenewingReceiver {
    async fn receive(&mut self) -> Result<Option<Incoming>, TransportError> {
        tokio::select! {
            received = self.0.receive() => received,
            () = self.1.notified() => Ok(Some(Incoming::Renewed)),
        }
    }
}

/// Answers a request for a setting as a server, and returns its method and parameters.
async fn set(server: &mut Raw) -> (Value, Value) {
    let request = server.next().await;
    server.send(&result(&request, &json!({}))).await;
    (request["method"].clone(), request["params"].clone())
}

#[tokio::test]
async fn a_new_session_with_a_server_of_the_same_era_gets_the_settings_of_the_client() {
    let capabilities = json!({"logging": {}, "resources": {"subscribe": true}, "tools": {"listChanged": true}});
    for is_restarted in [true, false] {
        let (first, theirs) = channel(16);
        let (second, next) = channel(16);
        let renewal = Arc::new(Notify::new());
        let connections = [theirs, next].map(|transport| Renewing(transport, Arc::clone(&renewal)));
        let connections = Mutex::new(connections.into_iter());
        let connector = move || Ok(connections.lock().unwrap().next().expect("there is one"));
        let restart = is_restarted;
        let (transport, _serving) = serve(Bridge::new(connector, BridgeOptions { restart, ..options().0 }));
        let (mut client, mut server) = (Raw::new(transport), Raw::new(first));
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
        });
        let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        client.send(&begin.to_string()).await;
        let handshake = server.next().await;
        let agreed = async {
            assert!(client.next().await["result"].is_object());
            client
                .send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
                .await;
        };
        tokio::join!(agree(&mut server, &handshake, capabilities.clone()), agreed);
        let settings = [
            ("resources/subscribe", json!({"uri": "a:b"})),
            ("resources/subscribe", json!({"uri": "c:d"})),
            ("resources/unsubscribe", json!({"uri": "c:d"})),
            ("logging/setLevel", json!({"level": "error"})),
        ];
        for (method, params) in &settings {
            let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
            client.send(&request.to_string()).await;
            set(&mut server).await;
            assert!(client.next().await["result"].is_object());
        }

        if is_restarted {
            server = Raw::new(second);
            let handshake = server.next().await;
            agree(&mut server, &handshake, capabilities.clone()).await;
        } else {
            renewal.notify_one();
        }
        for (method, params) in [&settings[3], &settings[0]] {
            assert_eq!(set(&mut server).await, (json!(method), params.clone()));
        }
        assert_eq!(client.next().await["method"], "notifications/tools/list_changed");
        is_told(&mut client, "a:b").await;
    }
}
