//! Requests and notifications that the declared capabilities permit.

use std::time::Duration;

use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{
    CallClient, CallError, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision,
    ServerHandler, ServerSession, ServerSide, connect, hub, serve,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::session_revisions;

struct Quiet;

impl ServerHandler<Context<ServerSide>> for Quiet {}

/// A client that answers sampling and elicitation requests.
struct Obliging;

impl ClientHandler<Context<ClientSide>> for Obliging {
    async fn create_message(
        &self,
        _: hub::CreateMessageRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::CreateMessageResult, ErrorObject> {
        let message = json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "hello"}});
        Ok(serde_json::from_value(message).unwrap())
    }

    async fn elicit(
        &self,
        _: hub::ElicitRequestParams,
        _: &Context<ClientSide>,
    ) -> Result<hub::ElicitResult, ErrorObject> {
        Ok(serde_json::from_value(json!({"action": "decline"})).unwrap())
    }
}

fn info() -> hub::Implementation {
    hub::Implementation::new("test", "1.0")
}

/// Both sides of a session with these capabilities.
async fn session(revision: Revision, client: Value, server: Value) -> (ServerSession, ClientSession) {
    let (server_end, client_end) = channel(16);
    let server = serde_json::from_value(server).unwrap();
    let options = Options {
        supported: session_revisions(),
        ..Options::default()
    };
    let server = serve(Quiet, info(), server, None, options, server_end);
    let options = Options {
        supported: vec![revision],
        ..Options::default()
    };
    let client = serde_json::from_value(client).unwrap();
    let client = connect(Obliging, info(), client, options, client_end).await.unwrap();
    (server, client)
}

fn sampling(more: Value) -> hub::CreateMessageRequestParams {
    let message = json!({"role": "user", "content": {"type": "text", "text": "hello"}});
    let mut params = json!({"maxTokens": 10, "messages": [message]});
    params
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    serde_json::from_value(params).unwrap()
}

fn tools() -> Value {
    json!({"tools": [{"name": "x", "inputSchema": {"type": "object"}}]})
}

fn address() -> hub::ElicitRequestParams {
    hub::ElicitRequestUrlParams::new("Look", "https://example.org/").into()
}

fn form() -> hub::ElicitRequestParams {
    let form = json!({"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}});
    serde_json::from_value(form).unwrap()
}

/// The capability that a call failed for, because the peer doesn't offer it.
fn lacks<T: std::fmt::Debug>(called: Result<T, CallError>) -> &'static str {
    match called {
        Err(CallError::NotOffered { capability, .. }) => capability,
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn a_server_sends_only_the_kinds_of_requests_that_the_client_declares() {
    let (server, _client) = session(
        Revision::V2025_11_25,
        json!({"sampling": {}, "elicitation": {}}),
        json!({}),
    )
    .await;
    let peer = server.peer();
    peer.create_message(sampling(json!({}))).await.unwrap();
    peer.elicit(form()).await.unwrap();
    assert_eq!(lacks(peer.create_message(sampling(tools())).await), "sampling.tools");
    let choice = json!({"toolChoice": {"mode": "none"}});
    assert_eq!(lacks(peer.create_message(sampling(choice)).await), "sampling.tools");
    assert_eq!(lacks(peer.elicit(address()).await), "elicitation.url");

    let all = json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}});
    let (server, _client) = session(Revision::V2025_11_25, all, json!({})).await;
    let peer = server.peer();
    peer.create_message(sampling(tools())).await.unwrap();
    peer.elicit(address()).await.unwrap();

    let urls = json!({"elicitation": {"url": {}}});
    let (server, _client) = session(Revision::V2025_11_25, urls, json!({})).await;
    let peer = server.peer();
    peer.elicit(address()).await.unwrap();
    assert_eq!(lacks(peer.elicit(form()).await), "elicitation.form");

    let (server, _client) = session(Revision::V2025_11_25, json!({}), json!({})).await;
    let peer = server.peer();
    assert_eq!(lacks(peer.create_message(sampling(tools())).await), "sampling");
    assert_eq!(lacks(peer.elicit(address()).await), "elicitation");
}

#[tokio::test]
async fn features_missing_from_an_earlier_revision_are_unrepresentable() {
    for revision in session_revisions()
        .into_iter()
        .filter(|revision| *revision < Revision::V2025_11_25)
    {
        let (server, _client) = session(revision, json!({"sampling": {}}), json!({})).await;
        server.peer().create_message(sampling(json!({}))).await.unwrap();
        let refused = server.peer().create_message(sampling(tools())).await;
        assert!(
            matches!(refused, Err(CallError::Unrepresentable(_))),
            "{revision}: {refused:?}"
        );
        if revision.method("elicitation/create").is_none() {
            let refused = server.peer().elicit(form()).await;
            let expected = format!("revision {revision} has no method elicitation/create");
            assert!(
                matches!(&refused, Err(CallError::Unrepresentable(reason)) if *reason == expected),
                "{refused:?}"
            );
        }
    }
}

#[tokio::test]
async fn notifications_without_the_declared_capability_fail() {
    for revision in session_revisions() {
        let message = || hub::LoggingMessageNotificationParams::new("info", json!("hello"));
        let (server, _client) = session(revision, json!({}), json!({"tools": {}})).await;
        let error = server.peer().notify_logging_message(message()).await.unwrap_err();
        assert!(
            matches!(
                &error,
                CallError::NotDeclared {
                    capability: "logging",
                    ..
                }
            ),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            "this side hasn't declared `logging`, which notifications/message needs"
        );
        let error = server.peer().notify_tool_list_changed(None).await.unwrap_err();
        assert!(matches!(
            error,
            CallError::NotDeclared {
                capability: "tools.listChanged",
                ..
            }
        ));

        let (server, _client) = session(revision, json!({}), json!({"logging": {}})).await;
        server.peer().notify_logging_message(message()).await.unwrap();
    }
}

/// A server that sends raw JSON, in a session with a client that declares `capabilities`.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
    _client: Option<ClientSession>,
}

impl Raw {
    async fn new(capabilities: Value) -> Self {
        let (server_end, client_end) = channel(16);
        let (sender, receiver) = server_end.split();
        let _client = None;
        let mut raw = Self {
            sender,
            receiver,
            _client,
        };
        let capabilities = serde_json::from_value(capabilities).unwrap();
        let client = connect(
            Obliging,
            info(),
            capabilities,
            crate::common::with_handshake(),
            client_end,
        );
        let (client, ()) = tokio::join!(client, async {
            let id = raw.receive().await["id"].take();
            let revision = Revision::V2025_11_25.as_str();
            let info = json!({"name": "raw", "version": "1.0"});
            let result = json!({"protocolVersion": revision, "capabilities": {}, "serverInfo": info});
            raw.send(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
        });
        assert_eq!(raw.receive().await["method"], "notifications/initialized");
        Self {
            _client: Some(client.unwrap()),
            ..raw
        }
    }

    async fn send(&self, message: Value) {
        self.send_text(message.to_string()).await;
    }

    async fn send_text(&self, message: String) {
        let (json, purpose) = (message.into_bytes(), Purpose::Unsolicited);
        self.sender.send(Outgoing { json, purpose }).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let received = timeout(Duration::from_secs(10), self.receiver.receive_outgoing());
        serde_json::from_slice(&received.await.unwrap().unwrap().json).unwrap()
    }

    /// Sends a request, and returns the error code of the response.
    async fn refusal(&mut self, method: &str, params: Value) -> Option<i64> {
        self.send(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}))
            .await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], 7);
        answer["error"]["code"].as_i64()
    }
}

#[tokio::test]
async fn a_client_refuses_requests_that_it_has_not_declared() {
    let plain = serde_json::to_value(sampling(json!({}))).unwrap();
    let with_tools = serde_json::to_value(sampling(tools())).unwrap();
    let (form, mut address) = (
        serde_json::to_value(form()).unwrap(),
        serde_json::to_value(address()).unwrap(),
    );
    address["elicitationId"] = json!("1");
    let some = json!({"sampling": {}, "elicitation": {}});
    let all = json!({"sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}});
    for (capabilities, refusals) in [
        (json!({}), [Some(-32601); 4]),
        (some, [None, Some(-32602), None, Some(-32602)]),
        (
            json!({"elicitation": {"url": {}}}),
            [Some(-32601), Some(-32601), Some(-32602), None],
        ),
        (all, [None, None, None, None]),
    ] {
        let mut raw = Raw::new(capabilities.clone()).await;
        let asked = [
            raw.refusal("sampling/createMessage", plain.clone()).await,
            raw.refusal("sampling/createMessage", with_tools.clone()).await,
            raw.refusal("elicitation/create", form.clone()).await,
            raw.refusal("elicitation/create", address.clone()).await,
        ];
        assert_eq!(asked, refusals, "{capabilities}");
    }
}

#[tokio::test]
async fn a_client_that_declares_only_forms_refuses_disguised_url_elicitations() {
    let mut raw = Raw::new(json!({"elicitation": {"form": {}}})).await;
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    for beside in [
        r#""x":1e999"#,
        r#""x":"\ud800""#,
        r#""\ud800":1"#,
        r#""x":{"$serde_json::private::RawValue":"5"}"#,
        r#""$serde_json::private::RawValue":{}"#,
        &format!(r#""x":{deep}"#),
        r#""mode":"form""#,
        r#""m\u006fde":null"#,
        r#""x":{"a":1,"a":2}"#,
    ] {
        for params in [
            format!(r#"{{"mode":"url","elicitationId":"1","message":"m","url":"https://example.org/",{beside}}}"#),
            format!(r#"{{{beside},"mode":"url","elicitationId":"1","message":"m","url":"https://example.org/"}}"#),
            format!(
                r#"{{"m\u006fde":"\u0075rl","elicitationId":"1","message":"m","url":"https://example.org/",{beside}}}"#
            ),
        ] {
            let request = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{params}}}"#);
            raw.send_text(request).await;
            let answer = raw.receive().await;
            assert!(answer["error"]["code"].is_i64(), "{params}: {answer}");
        }
    }
    let form = serde_json::to_value(form()).unwrap();
    assert_eq!(raw.refusal("elicitation/create", form).await, None);
}

#[tokio::test]
async fn a_server_does_not_know_the_requests_that_servers_send() {
    let elicitation = json!({"message": "m", "requestedSchema": {"type": "object", "properties": {}}});
    for revision in session_revisions() {
        let (server_end, client_end) = channel(16);
        let server = serde_json::from_value(json!({})).unwrap();
        let options = Options {
            supported: session_revisions(),
            ..Options::default()
        };
        let _server = serve(Quiet, info(), server, None, options, server_end);
        let (sender, receiver) = client_end.split();
        let _client = None;
        let mut raw = Raw {
            sender,
            receiver,
            _client,
        };
        let client = json!({"name": "raw", "version": "1.0"});
        let params = json!({"protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": client});
        assert_eq!(raw.refusal("initialize", params).await, None);
        for (method, params) in [
            ("elicitation/create", elicitation.clone()),
            ("elicitation/create", json!({})),
            ("sampling/createMessage", json!({"tools": []})),
            ("roots/list", json!({})),
        ] {
            assert_eq!(raw.refusal(method, params).await, Some(-32601), "{revision} {method}");
        }
    }
}
