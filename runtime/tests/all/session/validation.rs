//! Messages that can be decoded but violate the schema of their revision.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::TryStreamExt;
use mcp_runtime::transport::{ChannelReceiver, ChannelSender, Outgoing, Purpose, Sender, Transport, channel};
use mcp_runtime::{
    CallError, CallServer, ClientHandler, ClientSession, ClientSide, ConnectError, Context, ErrorObject, Options,
    Revision, ServerHandler, ServerSide, Validation, connect, hub, serve,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::session_revisions;

const BOTH: [Validation; 2] = [Validation::Lenient, Validation::Strict];

/// The messages that a handler received, or the violations that an observer was given.
type Log = Arc<Mutex<Vec<String>>>;

/// The handler of both sides, which logs the messages that it receives.
struct Listens(Log);

impl ServerHandler<Context<ServerSide>> for Listens {
    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        self.0.lock().unwrap().push(params.name);
        Ok(hub::CallToolResult::new(Vec::new()).into())
    }
}

impl ClientHandler<Context<ClientSide>> for Listens {
    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        self.0.lock().unwrap().push(params.data.to_string());
    }
}

/// A peer that sends raw JSON.
struct Raw {
    sender: ChannelSender,
    receiver: ChannelReceiver,
}

impl Raw {
    async fn send(&self, message: Value) {
        let json = message.to_string().into_bytes();
        let purpose = Purpose::Unsolicited;
        self.sender.send(Outgoing { json, purpose }).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let received = timeout(Duration::from_secs(10), self.receiver.receive_outgoing());
        serde_json::from_slice(&received.await.unwrap().unwrap().json).unwrap()
    }

    async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id);
        answer
    }
}

/// Options that log the paths of violations.
fn options(validation: Validation, revision: Revision) -> (Options, Log) {
    let violations = Log::default();
    let told = Arc::clone(&violations);
    let options = Options {
        supported: vec![revision],
        validation,
        violations: Some(Arc::new(move |method, invalid| {
            let mut told = told.lock().unwrap();
            told.extend(
                invalid
                    .violations
                    .iter()
                    .map(|fault| format!("{method} {}", fault.path)),
            );
        })),
        ..Options::default()
    };
    (options, violations)
}

/// A raw client of a server, the messages that the server's handler receives, and the violations.
fn server(validation: Validation, revision: Revision) -> (Raw, Log, Log) {
    let (server_end, client_end) = channel(16);
    let (options, violations) = options(validation, revision);
    let heard = Log::default();
    let capabilities = serde_json::from_value(json!({"tools": {}})).unwrap();
    let info = hub::Implementation::new("server", "1.0");
    serve(
        Listens(Arc::clone(&heard)),
        info,
        capabilities,
        None,
        options,
        server_end,
    );
    let (sender, receiver) = client_end.split();
    (Raw { sender, receiver }, heard, violations)
}

fn introduction(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision.as_str(), "capabilities": {}, "clientInfo": {"name": "raw", "version": "1.0"},
    })
}

/// A client's session with a raw server, the messages that the client's handler receives, and the violations.
async fn client(
    validation: Validation,
    revision: Revision,
    nothing: Value,
) -> (Result<ClientSession, ConnectError>, Raw, Log, Log) {
    let (server_end, client_end) = channel(16);
    let (options, violations) = options(validation, revision);
    let heard = Log::default();
    let (sender, receiver) = server_end.split();
    let mut raw = Raw { sender, receiver };
    let info = hub::Implementation::new("client", "1.0");
    let handler = Listens(Arc::clone(&heard));
    let session = connect(handler, info, hub::ClientCapabilities::default(), options, client_end);
    let (session, ()) = tokio::join!(session, async {
        let id = raw.receive().await["id"].take();
        let mut result = introduction(revision);
        result["serverInfo"] = result["clientInfo"].take();
        result.as_object_mut().unwrap().remove("clientInfo");
        result["capabilities"] = json!({"tools": {}, "logging": {}});
        result["instructions"] = nothing;
        raw.send(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
    });
    (session, raw, heard, violations)
}

#[tokio::test]
async fn strict_validation_refuses_a_request_with_violations() {
    for revision in session_revisions() {
        for validation in BOTH {
            let (mut peer, heard, violations) = server(validation, revision);
            peer.ask(1, "initialize", introduction(revision)).await;
            let answer = peer.ask(2, "tools/call", json!({"name": "x", "arguments": null})).await;
            match validation {
                Validation::Lenient => assert_eq!(answer["result"]["content"], json!([])),
                Validation::Strict => {
                    assert_eq!(answer["error"]["code"], -32602);
                    assert_eq!(answer["error"]["data"]["violations"][0]["path"], "params.arguments");
                    assert!(
                        answer["error"]["message"]
                            .as_str()
                            .unwrap()
                            .contains("params.arguments")
                    );
                }
            }
            assert_eq!(
                heard.lock().unwrap().len(),
                usize::from(validation == Validation::Lenient)
            );
            assert_eq!(
                *violations.lock().unwrap(),
                ["tools/call params.arguments"],
                "{revision}"
            );

            let answer = peer
                .ask(
                    3,
                    "tools/call",
                    json!({"name": "x", "more": null, "arguments": {"of": null}}),
                )
                .await;
            assert_eq!(
                answer["result"]["content"],
                json!([]),
                "undeclared members are not violations"
            );
            let answer = peer.ask(4, "ours/own", json!(null)).await;
            assert_eq!(
                answer["error"]["code"], -32601,
                "an undeclared method is not a violation"
            );
            assert_eq!(violations.lock().unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn strict_validation_refuses_an_initialize_request_with_violations() {
    for revision in session_revisions() {
        let (mut peer, _, _) = server(Validation::Strict, revision);
        let mut params = introduction(revision);
        params["clientInfo"]["name"] = Value::Null;
        assert_eq!(peer.ask(1, "initialize", params).await["error"]["code"], -32602);
        let mut params = introduction(revision);
        params["capabilities"]["roots"] = json!({"listChanged": null});
        let answer = peer.ask(2, "initialize", params).await;
        assert_eq!(
            answer["error"]["data"]["violations"][0]["path"],
            "params.capabilities.roots.listChanged"
        );
        let answer = peer.ask(3, "initialize", introduction(revision)).await;
        assert_eq!(answer["result"]["protocolVersion"], revision.as_str());
    }
}

#[tokio::test]
async fn strict_validation_drops_a_notification_with_violations() {
    for revision in session_revisions() {
        for validation in BOTH {
            let (session, mut peer, heard, violations) = client(validation, revision, json!("be kind")).await;
            let session = session.unwrap();
            let bad = json!({"level": "info", "data": 1, "logger": null});
            let good = json!({"level": "info", "data": 2});
            for params in [bad, good] {
                let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                peer.send(message).await;
            }
            peer.receive().await;
            assert_eq!(peer.ask(1, "ping", json!({})).await["result"], json!({}));
            session.close().await;
            let expected: &[&str] = if validation == Validation::Strict {
                &["2"]
            } else {
                &["1", "2"]
            };
            assert_eq!(*heard.lock().unwrap(), expected);
            assert_eq!(
                *violations.lock().unwrap(),
                ["notifications/message params.logger"],
                "{revision}"
            );
        }
    }
}

#[tokio::test]
async fn strict_validation_fails_a_call_whose_result_has_violations() {
    for revision in session_revisions() {
        for validation in BOTH {
            let (session, mut peer, _, violations) = client(validation, revision, json!("be kind")).await;
            let session = session.unwrap();
            peer.receive().await;
            let (result, ()) = tokio::join!(
                session.peer().list_tools(hub::PaginatedRequestParams::default()),
                async {
                    let id = peer.receive().await["id"].take();
                    let tool = json!({"name": "x", "description": null, "inputSchema": {"type": "object"}});
                    let result = json!({"tools": [tool]});
                    peer.send(json!({"jsonrpc": "2.0", "id": id, "result": result})).await;
                }
            );
            match (validation, result) {
                (Validation::Lenient, Ok(result)) => assert_eq!(result.tools[0].name, "x"),
                (Validation::Strict, Err(CallError::InvalidResult(reason))) => {
                    assert!(reason.contains("tools[0].description"), "{reason}");
                }
                (_, other) => panic!("{validation:?} at {revision}: {other:?}"),
            }
            assert_eq!(*violations.lock().unwrap(), ["tools/list tools[0].description"]);
        }
    }
}

#[tokio::test]
async fn strict_validation_fails_the_handshake_if_the_initialize_result_has_violations() {
    for revision in session_revisions() {
        let (session, ..) = client(Validation::Lenient, revision, Value::Null).await;
        session.unwrap().close().await;
        let (session, .., violations) = client(Validation::Strict, revision, Value::Null).await;
        assert!(matches!(session, Err(ConnectError::Call(CallError::InvalidResult(_)))));
        assert_eq!(*violations.lock().unwrap(), ["initialize instructions"]);
    }
}

#[tokio::test]
async fn each_message_of_a_batch_is_validated_separately() {
    for revision in session_revisions()
        .into_iter()
        .filter(|revision| revision.facts().batches)
    {
        let (mut peer, heard, _) = server(Validation::Strict, revision);
        peer.ask(1, "initialize", introduction(revision)).await;
        let call = |id: i64, arguments: Value| {
            let params = json!({"name": format!("{id}"), "arguments": arguments});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        };
        peer.send(json!([call(2, json!({})), call(3, Value::Null), call(4, json!({}))]))
            .await;
        let answers = peer.receive().await;
        let refused = answers
            .as_array()
            .unwrap()
            .iter()
            .filter(|answer| answer.get("error").is_some());
        assert_eq!(refused.map(|answer| &answer["id"]).collect::<Vec<_>>(), [&json!(3)]);
        assert_eq!(heard.lock().unwrap().len(), 2);
    }
}

/// Calls a tool, which the server answers with the response that `answer` builds from the request's id.
async fn called(
    validation: Validation,
    revision: Revision,
    answer: impl FnOnce(&Value) -> Value,
) -> (Result<hub::CallToolResult, CallError>, Vec<String>) {
    let (session, mut raw, _, violations) = client(validation, revision, json!("")).await;
    let peer = session.unwrap().peer().clone();
    let (called, ()) = tokio::join!(
        timeout(
            Duration::from_secs(10),
            peer.call_tool(hub::CallToolRequestParams::new("x"))
        ),
        async {
            assert_eq!(raw.receive().await["method"], "notifications/initialized");
            let id = raw.receive().await["id"].take();
            raw.send(answer(&id)).await;
        }
    );
    let violations = violations.lock().unwrap().clone();
    (called.expect("the call doesn't wait forever"), violations)
}

#[tokio::test]
async fn a_response_whose_id_is_a_string_belongs_to_the_request_with_that_number() {
    for revision in session_revisions() {
        for validation in BOTH {
            let (called, violations) = called(
                validation,
                revision,
                |id| json!({"jsonrpc": "2.0", "id": id.to_string(), "result": {"content": []}}),
            )
            .await;
            assert_eq!(violations, ["tools/call id"], "{revision}");
            match validation {
                Validation::Lenient => assert_eq!(called.unwrap().content, []),
                Validation::Strict => {
                    assert!(matches!(called, Err(CallError::InvalidResult(why)) if why.contains("`id`")))
                }
            }
        }
    }
}

#[tokio::test]
async fn lenient_validation_ignores_a_null_error_or_result_next_to_the_other() {
    for revision in session_revisions() {
        for validation in BOTH {
            let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"content": []}, "error": null});
            let (succeeded, violations) = called(validation, revision, answer).await;
            assert_eq!(violations, ["tools/call error"], "{revision}");
            let error = json!({"code": -32000, "message": "no such tool"});
            let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": null, "error": error});
            let (failed, violations) = called(validation, revision, answer).await;
            assert_eq!(violations, ["tools/call result"], "{revision}");
            match validation {
                Validation::Lenient => {
                    assert_eq!(succeeded.unwrap().content, []);
                    assert!(matches!(failed, Err(CallError::Peer(error)) if error.message == "no such tool"));
                }
                Validation::Strict => {
                    assert!(matches!(succeeded, Err(CallError::InvalidResult(why)) if why.contains("`error`")));
                    assert!(matches!(failed, Err(CallError::InvalidResult(why)) if why.contains("`result`")));
                }
            }
        }
        let both = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {}, "error": {"code": 1, "message": ""}});
        let (called, _) = called(Validation::Lenient, revision, both).await;
        assert!(
            matches!(called, Err(CallError::InvalidResult(_))),
            "a response with both is invalid"
        );
    }
}

#[tokio::test]
async fn lenient_validation_tolerates_structured_content_without_content() {
    for revision in session_revisions() {
        let tolerates = !revision.tolerances("tools/call").is_empty();
        for validation in BOTH {
            let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"structuredContent": {"n": 5}}});
            let (called, violations) = called(validation, revision, answer).await;
            assert_eq!(
                violations,
                ["tools/call (root)"],
                "{revision}: an absent member is a violation of its object"
            );
            match called {
                Ok(called) => {
                    assert!(tolerates && validation == Validation::Lenient, "{revision}");
                    assert_eq!(called.content, []);
                    assert_eq!(called.structured_content.unwrap().get("n").unwrap().text(), "5");
                }
                Err(error) => {
                    assert!(!tolerates || validation == Validation::Strict, "{revision}");
                    assert!(matches!(error, CallError::InvalidResult(why) if why.contains("content")));
                }
            }
        }
        let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {}});
        let (called, _) = called(Validation::Lenient, revision, answer).await;
        assert!(
            matches!(called, Err(CallError::InvalidResult(_))),
            "an empty object isn't a result"
        );
    }
    assert!(!Revision::V2025_11_25.tolerances("tools/call").is_empty());
}

/// Lists the tools of a server that answers with this result. Also returns the places of the violations.
async fn list_tools(
    validation: Validation,
    revision: Revision,
    listed: Value,
) -> (Result<Vec<hub::Tool>, CallError>, Vec<String>) {
    let (session, mut raw, _, violations) = client(validation, revision, json!("")).await;
    let peer = session.unwrap().peer().clone();
    let tools = peer.list::<hub::Tool>().try_collect();
    let (tools, ()) = tokio::join!(timeout(Duration::from_secs(10), tools), async {
        assert_eq!(raw.receive().await["method"], "notifications/initialized");
        let id = raw.receive().await["id"].take();
        raw.send(json!({"jsonrpc": "2.0", "id": id, "result": listed})).await;
    });
    let violations = violations.lock().unwrap().clone();
    (tools.expect("no other page is requested"), violations)
}

#[tokio::test]
async fn lenient_validation_ends_a_list_at_an_empty_cursor() {
    for revision in session_revisions() {
        for validation in BOTH {
            let tool = json!({"name": "x", "inputSchema": {"type": "object"}});
            let result = json!({"nextCursor": "", "tools": [tool]});
            let (listed, violations) = list_tools(validation, revision, result).await;
            assert_eq!(violations, ["tools/list nextCursor"], "{revision}");
            match validation {
                Validation::Lenient => assert_eq!(listed.unwrap().len(), 1),
                Validation::Strict => {
                    assert!(matches!(listed, Err(CallError::InvalidResult(why)) if why.contains("`nextCursor`")));
                }
            }
        }
    }
}

#[tokio::test]
async fn lenient_validation_leaves_out_the_entries_of_a_list_that_cannot_be_read() {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools = json!([{"name": "bare"}, tool("a"), 5, {"name": 1}, tool("b"), tool("c"), {"name": "last"}]);
    for revision in session_revisions() {
        for validation in BOTH {
            let (listed, violations) = list_tools(validation, revision, json!({"tools": tools})).await;
            assert!(!violations.is_empty(), "{revision}");
            match validation {
                Validation::Lenient => {
                    let names: Vec<String> = listed.unwrap().into_iter().map(|tool| tool.name).collect();
                    assert_eq!(names, ["a", "b", "c"], "{revision}");
                }
                Validation::Strict => {
                    assert!(matches!(listed, Err(CallError::InvalidResult(why)) if why.contains("tools[0]")));
                }
            }
        }
    }
}

#[tokio::test]
async fn few_entries_of_a_long_list_are_left_out() {
    let revision = session_revisions()[0];
    let description = "x".repeat(14 << 20);
    for unreadable in [4, 5] {
        let mut tools = vec![json!({"name": "long", "description": description, "inputSchema": {"type": "object"}})];
        tools.resize(1 + unreadable, json!({}));
        let (listed, _) = list_tools(Validation::Lenient, revision, json!({"tools": tools})).await;
        match unreadable {
            4 => assert_eq!(listed.unwrap().len(), 1),
            _ => assert!(matches!(listed, Err(CallError::InvalidResult(why)) if why.contains("tools[1]"))),
        }
    }
}

#[tokio::test]
async fn an_unreadable_element_of_a_result_other_than_a_list_is_not_left_out() {
    for revision in session_revisions() {
        let content = json!([{"type": "text", "text": "a"}, {"type": "text"}]);
        let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
        let (called, _) = called(Validation::Lenient, revision, answer).await;
        assert!(matches!(called, Err(CallError::InvalidResult(why)) if why.contains("content[1]")));
    }
}
