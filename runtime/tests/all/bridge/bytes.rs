//! Bytes, ids and order of the messages that a bridge passes on.

use mcp_runtime::Revision;

use crate::bridge::{Raw, Serving, by_hand, options, serve};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"REVISION","capabilities":{"sampling":{},"x":{ "y":1.50}},"clientInfo":{"name":"c","version":"1"},"more":[ ]}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A raw client and a raw server with a bridge between them, after the handshake.
async fn both(client: &str, server: &str) -> (Raw, Raw, Serving, crate::bridge::Losses) {
    let (options, losses) = options();
    let (bridge, [mut back]) = by_hand(options);
    let (transport, serving) = serve(bridge);
    let mut front = Raw::new(transport);
    front.send(&INITIALIZE.replace("REVISION", client)).await;
    let asked = back.next().await;
    assert_eq!(
        asked["params"]["protocolVersion"], client,
        "the server is asked for the client's revision"
    );
    assert_eq!(
        asked["params"]["capabilities"].to_string(),
        r#"{"sampling":{},"x":{"y":1.5}}"#
    );
    let agreed = r#"{"protocolVersion":"REVISION","capabilities":{"tools":{},"tasks":{}},"serverInfo":{"name":"s","version":"2"},"note":[ ]}"#;
    let agreed = agreed.replace("REVISION", server);
    back.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{agreed}}}"#,
        asked["id"]
    ))
    .await;
    assert_eq!(back.next().await["method"], "notifications/initialized");
    let answer = front.next().await;
    assert_eq!(answer["id"], "first");
    assert_eq!(answer["result"]["protocolVersion"], client);
    assert_eq!(answer["result"]["note"], serde_json::json!([]));
    front.send(INITIALIZED).await;
    (front, back, serving, losses)
}

/// Returns the tools that a client gets if the server lists these.
async fn list_tools(front: &mut Raw, back: &mut Raw, tools: &str) -> serde_json::Value {
    front.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let asked = back.next().await;
    back.send(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":{tools}}}}}"#,
        asked["id"]
    ))
    .await;
    front.next().await["result"]["tools"].take()
}

#[tokio::test]
async fn between_equal_revisions_parameters_and_results_keep_their_bytes() {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| revision.facts().initializes)
    {
        let (mut front, mut back, _serving, losses) = both(revision.as_str(), revision.as_str()).await;
        for (id, method) in [("7", "tools/call"), (r#""eight""#, "tasks/get"), ("-9", "vendor/does")] {
            let params = r#"{"name":"a", "arguments":{"n":1.50,"big":1e400},"_meta":{"x":[ ]}}"#;
            front
                .send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","extra":1,"params":{params}}}"#
                ))
                .await;
            let text = back.text().await;
            let asked: serde_json::Value = serde_json::from_str(&text.replace("1e400", "0")).expect("it is JSON");
            assert!(text.ends_with(&format!(r#""params":{params}}}"#)), "{text}");
            assert_eq!(asked["extra"], 1);
            let result = r#"{"content":[ ],"n":2.50,"task":{"taskId":"t"}}"#;
            back.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
                asked["id"]
            ))
            .await;
            assert_eq!(
                front.text().await,
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
            );
        }
        assert!(losses.lock().expect("nobody panics").is_empty());
    }
}

#[tokio::test]
async fn a_message_with_two_progress_tokens_is_not_passed_on() {
    let (mut front, mut back, _serving, _) = both("2025-11-25", "2025-11-25").await;
    for method in ["tools/call", "vendor/does"] {
        for meta in [
            r#"{"progressToken":1,"progressToken":2}"#,
            r#"{"progressToken":1},"_meta":{}"#,
        ] {
            front
                .send(&format!(
                    r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"a","_meta":{meta}}}}}"#
                ))
                .await;
            // The server would report progress with a token that can be the one of another call.
            assert_eq!(front.next().await["error"]["code"], -32602, "{method} {meta}");
        }
    }
    front
        .send(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progressToken":2,"progress":1}}"#)
        .await;
    front.send(r#"{"jsonrpc":"2.0","id":2,"method":"vendor/next"}"#).await;
    assert_eq!(back.next().await["method"], "vendor/next");
}

#[tokio::test]
async fn requests_and_notifications_of_both_sides_pass_with_their_own_ids_and_tokens() {
    let (mut front, mut back, _serving, _) = both("2025-11-25", "2025-11-25").await;
    // A call with progress, during which the server sends the client a request with progress.
    front
        .send(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"mine"}}}"#,
        )
        .await;
    let asked = back.next().await;
    let token = &asked["params"]["_meta"]["progressToken"];
    back.send(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":0.50,"_meta":{{"z":[ ]}}}}}}"#
    ))
    .await;
    assert_eq!(
        front.text().await,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":0.50,"_meta":{"z":[ ]}}}"#
    );
    back.send(r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":5}}}"#)
        .await;
    let question = front.next().await;
    let token = &question["params"]["_meta"]["progressToken"];
    front
        .send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        ))
        .await;
    assert_eq!(back.next().await["params"]["progressToken"], 5);
    front
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-1,"message":"no","data":[ ]}}}}"#,
            question["id"]
        ))
        .await;
    assert_eq!(
        back.text().await,
        r#"{"jsonrpc":"2.0","id":"q","error":{"code":-1,"message":"no","data":[ ]}}"#
    );
    // Notifications that belong to no call pass unchanged, even undeclared ones.
    for (from_client, notification) in [
        (
            true,
            r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{"a":1.0}}"#,
        ),
        (true, r#"{"jsonrpc":"2.0","method":"vendor/tells"}"#),
        (
            false,
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        ),
        (
            false,
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.50}}"#,
        ),
    ] {
        let (from, to) = if from_client {
            (&mut front, &mut back)
        } else {
            (&mut back, &mut front)
        };
        from.send(notification).await;
        assert_eq!(to.text().await, notification);
    }
    // A ping is passed on to the other side, and a cancellation ends the call there.
    front.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(back.next().await["method"], "ping");
    front
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    let cancelled = back.next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
}

#[tokio::test]
async fn messages_are_not_reordered() {
    let (mut front, mut back, _serving, _) = both("2025-06-18", "2025-06-18").await;
    for round in 0..20 {
        for step in 0..10 {
            let id = round * 10 + step;
            front
                .send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"vendor/ask","params":{{"n":{id}}}}}"#
                ))
                .await;
            front
                .send(&format!(
                    r#"{{"jsonrpc":"2.0","method":"vendor/tell","params":{{"n":{id}}}}}"#
                ))
                .await;
        }
        for step in 0..10 {
            let n = round * 10 + step;
            let asked = back.next().await;
            assert_eq!(
                (&asked["method"], &asked["params"]["n"]),
                (&"vendor/ask".into(), &n.into())
            );
            assert_eq!(back.next().await["params"]["n"], n);
            back.send(&format!(
                r#"{{"jsonrpc":"2.0","method":"vendor/before","params":{{"n":{n}}}}}"#
            ))
            .await;
            back.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"n":{n}}}}}"#,
                asked["id"]
            ))
            .await;
            back.send(&format!(
                r#"{{"jsonrpc":"2.0","method":"vendor/after","params":{{"n":{n}}}}}"#
            ))
            .await;
        }
        for step in 0..10 {
            let n = round * 10 + step;
            assert_eq!(front.next().await["params"]["n"], n);
            assert_eq!(front.next().await["result"]["n"], n);
            assert_eq!(front.next().await["method"], "vendor/after");
        }
    }
}

#[tokio::test]
async fn a_batch_is_passed_on_message_by_message_and_answered_in_one_array() {
    let (mut front, mut back, _serving, _) = both("2025-03-26", "2025-03-26").await;
    front
        .send(r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":2,"method":"b"}]"#)
        .await;
    let (first, _, second) = (back.next().await, back.next().await, back.next().await);
    back.send(&format!(
        r#"[{{"jsonrpc":"2.0","id":{},"result":{{}}}},{{"jsonrpc":"2.0","id":{},"result":{{}}}}]"#,
        second["id"], first["id"]
    ))
    .await;
    assert_eq!(
        front.next().await,
        serde_json::json!([{"jsonrpc": "2.0", "id": 1, "result": {}}, {"jsonrpc": "2.0", "id": 2, "result": {}}])
    );
}

#[tokio::test]
async fn messages_between_revisions_of_one_era_are_translated_and_losses_reported() {
    let (mut front, mut back, _serving, losses) = both("2024-11-05", "2025-11-25").await;
    let tool = r#"{"name":"t","title":"T","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}"#;
    assert_eq!(
        list_tools(&mut front, &mut back, &format!("[{tool}]")).await,
        serde_json::json!([{"name": "t", "inputSchema": {"type": "object"}}])
    );
    let told = losses.lock().expect("nobody panics").join("; ");
    assert!(told.contains("tools/list tools[0].title dropped"), "{told}");
    // The client's revision has neither the method `tasks/list` nor elicitation.
    front.send(r#"{"jsonrpc":"2.0","id":2,"method":"tasks/list"}"#).await;
    assert_eq!(front.next().await["error"]["code"], -32601);
    back.send(r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#)
        .await;
    let refused = back.next().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&9.into(), &(-32601).into()),
        "{refused}"
    );
}

#[tokio::test]
async fn a_cancellation_is_passed_on_before_the_next_request() {
    let (mut front, mut back, _serving, _) = both("2025-06-18", "2025-06-18").await;
    for id in 0..20 {
        front
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"vendor/listen"}}"#))
            .await;
        let cancelled = back.next().await["id"].clone();
        let cancel = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
        front.send(&cancel).await;
        let id = id + 1000;
        front
            .send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"vendor/listen"}}"#))
            .await;
        let told = back.next().await;
        assert_eq!(
            (&told["method"], &told["params"]["requestId"]),
            (&"notifications/cancelled".into(), &cancelled)
        );
        let asked = back.next().await;
        assert_eq!(asked["method"], "vendor/listen");
        back.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked["id"]))
            .await;
        assert_eq!(front.next().await["id"], id);
    }
}

#[tokio::test]
async fn a_tool_that_cannot_be_translated_is_left_out_of_the_list() {
    let (mut front, mut back, _serving, _) = both("2025-06-18", "2025-11-25").await;
    let tools = r#"[{"name":"bad"},{"name":"good","inputSchema":{"type":"object"}}]"#;
    assert_eq!(
        list_tools(&mut front, &mut back, tools).await,
        serde_json::json!([{"name": "good", "inputSchema": {"type": "object"}}])
    );
}
