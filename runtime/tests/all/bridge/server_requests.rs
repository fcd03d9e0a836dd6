//! Requests from a server with a handshake: the stateless client that a bridge passes them on to, and the call that
//! carries them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_runtime::bridge::{Bridge, BridgeOptions, Connector};
use mcp_runtime::router::Call;
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::{self, HttpServer};
use mcp_runtime::transport::{ChannelTransport, channel};
use mcp_runtime::{Args, CallClient, CallError, Limits, Options, Revision, Router, hub, mcp_wire};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;

use crate::bridge::{PATIENCE, Raw, agree, by_hand, options, result};

/// A request of a stateless client that declares elicitation, roots and sampling.
fn request(id: u64, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {}, "sampling": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "same", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

fn call(id: u64, tool: &str, arguments: &Value) -> String {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

/// The same call with input responses: each elicitation is answered with its own message.
fn answered(id: u64, tool: &str, arguments: &Value, asked: &Value) -> String {
    let questions = asked["result"]["inputRequests"].as_object().expect("it asks");
    let answers: serde_json::Map<String, Value> = questions
        .iter()
        .map(|(name, question)| {
            let answer = match question["method"].as_str() {
                Some("roots/list") => json!({"roots": [{"uri": "file:///home"}]}),
                _ => json!({"action": "accept", "content": {"text": question["params"]["message"]}}),
            };
            (name.clone(), answer)
        })
        .collect();
    let state = &asked["result"]["requestState"];
    let params = json!({"name": tool, "arguments": arguments, "inputResponses": answers, "requestState": state});
    request(id, "tools/call", params)
}

fn is_asked(answer: &Value) -> bool {
    answer["result"]["resultType"] == "input_required"
}

/// A client on its own connection.
fn connect(bridge: &Bridge, principal: Option<&str>) -> Raw {
    let (clients, client) = channel(16);
    let (bridge, principal) = (bridge.clone(), principal.map(str::to_owned));
    tokio::spawn(async move { bridge.serve_for(principal, clients).await });
    Raw::new(client)
}

/// Connects to a router that speaks a revision with a handshake.
fn connector(router: Router) -> impl Connector<Transport = ChannelTransport> {
    move || {
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![Revision::V2025_11_25],
            limits: Limits {
                in_flight: 4096,
                ..Limits::default()
            },
            ..Options::default()
        };
        drop(router.clone().serve(options, ours));
        Ok(theirs)
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Confirm {
    account: String,
}

fn confirmation(account: &str) -> hub::ElicitRequestParams {
    let schema = r#"{"type": "object", "properties": {"text": {"type": "string"}}}"#;
    let form = mcp_wire::from_str(schema).expect("it is a form");
    hub::ElicitRequestFormParams::new(format!("Confirm transfer from {account}"), form).into()
}

/// A bank that asks for confirmation once the gate is open.
fn bank(begun: mpsc::Sender<()>, gate: &Arc<Notify>) -> Router {
    let gate = Arc::clone(gate);
    Router::new("bank", "1.0").tool(
        "transfer",
        "Transfers money",
        move |Args(confirm): Args<Confirm>, call: Call| {
            let (begun, gate) = (begun.clone(), Arc::clone(&gate));
            async move {
                let _ = begun.send(()).await;
                gate.notified().await;
                let answer = call.peer().elicit(confirmation(&confirm.account)).await?;
                Ok::<_, CallError>(format!("{}: {}", confirm.account, answer.action))
            }
        },
    )
}

#[tokio::test]
async fn an_input_request_for_one_clients_call_never_reaches_another_client() {
    for principals in [[None, None], [Some("alice"), Some("mallory")]] {
        let (begun, mut has_begun) = mpsc::channel(2);
        let gate = Arc::new(Notify::new());
        let bridge = Bridge::new(connector(bank(begun, &gate)), options().0);
        let [mut alice, mut mallory] = principals.map(|principal| connect(&bridge, principal));
        let (of_alice, of_mallory) = (json!({"account": "ALICE-1234"}), json!({"account": "MALLORY-1"}));
        alice.send(&call(1, "transfer", &of_alice)).await;
        has_begun.recv().await.expect("it begins");
        mallory.send(&call(1, "transfer", &of_mallory)).await;
        has_begun.recv().await.expect("it begins");
        gate.notify_one();
        let asked = timeout(PATIENCE, async {
            tokio::select! {
                asked = alice.next() => asked,
                asked = mallory.next() => panic!("Mallory is asked: {asked}"),
            }
        });
        let asked = asked.await.expect("a client is asked");
        assert!(
            asked.to_string().contains("Confirm transfer from ALICE-1234"),
            "{asked}"
        );
        alice.send(&answered(2, "transfer", &of_alice, &asked)).await;
        let done = alice.next().await;
        assert_eq!(done["result"]["content"][0]["text"], "ALICE-1234: accept", "{done}");
    }
}

#[tokio::test]
async fn an_input_request_on_the_stream_of_a_call_over_http_is_carried_by_that_call() {
    let (begun, mut has_begun) = mpsc::channel(2);
    let gate = Arc::new(Notify::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it listens"));
    let bank = HttpServer::new(bank(begun, &gate));
    let _serving = AbortOnDropHandle::new(tokio::spawn(server::serve(listener, bank).into_future()));
    let connector = move || Ok(HttpClient::new(&url, HttpOptions::default()).expect("the address is one"));
    let with_handshake = BridgeOptions {
        server: vec![Revision::V2025_11_25],
        ..options().0
    };
    let bridge = Bridge::new(connector, with_handshake);
    let mut client = connect(&bridge, None);
    let accounts = ["first", "second"].map(|account| json!({"account": account}));
    for (id, account) in (1..).zip(&accounts) {
        client.send(&call(id, "transfer", account)).await;
        has_begun.recv().await.expect("it begins");
    }
    for (id, account) in (1..).zip(&accounts) {
        // The gate opens for the calls in the order in which they came.
        gate.notify_one();
        let asked = client.next().await;
        assert_eq!(asked["id"], id, "{asked}");
        let name = account["account"].as_str().expect("it is a text");
        assert!(asked.to_string().contains(&format!("transfer from {name}")), "{asked}");
        client.send(&answered(id + 10, "transfer", account, &asked)).await;
        let done = client.next().await;
        assert_eq!(
            done["result"]["content"][0]["text"],
            format!("{name}: accept"),
            "{done}"
        );
    }
}

#[tokio::test]
async fn the_request_state_of_one_principal_is_refused_for_another() {
    let (begun, _has_begun) = mpsc::channel(2);
    let gate = Arc::new(Notify::new());
    gate.notify_one();
    let bridge = Bridge::new(connector(bank(begun, &gate)), options().0);
    let [mut alice, mut mallory] = ["alice", "mallory"].map(|principal| connect(&bridge, Some(principal)));
    let account = json!({"account": "ALICE-1234"});
    alice.send(&call(1, "transfer", &account)).await;
    let asked = alice.next().await;
    assert!(is_asked(&asked), "{asked}");
    mallory.send(&answered(2, "transfer", &account, &asked)).await;
    let refused = mallory.next().await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    alice.send(&answered(2, "transfer", &account, &asked)).await;
    let done = alice.next().await;
    assert_eq!(done["result"]["content"][0]["text"], "ALICE-1234: accept", "{done}");
}

#[tokio::test]
async fn clients_with_concurrent_input_requests_all_get_their_results() {
    for principal in [None, Some("ann")] {
        let (begun, mut has_begun) = mpsc::channel(8);
        let gate = Arc::new(Notify::new());
        let bridge = Bridge::new(connector(bank(begun, &gate)), options().0);
        let mut clients: Vec<Raw> = (0..8).map(|_| connect(&bridge, principal)).collect();
        let account = |number: usize| json!({"account": number.to_string()});
        for (number, client) in clients.iter().enumerate() {
            client.send(&call(1, "transfer", &account(number))).await;
            has_begun.recv().await.expect("it begins");
        }
        gate.notify_waiters();
        let all = clients.iter_mut().enumerate().map(|(number, client)| async move {
            let mut answer = client.next().await;
            for id in 2.. {
                if !is_asked(&answer) {
                    break;
                }
                client.send(&answered(id, "transfer", &account(number), &answer)).await;
                answer = client.next().await;
            }
            answer["result"]["content"][0]["text"].clone()
        });
        let all = timeout(PATIENCE, futures_util::future::join_all(all)).await;
        let all = all.expect("no client waits forever");
        let expected: Vec<Value> = (0..8).map(|number| json!(format!("{number}: accept"))).collect();
        assert_eq!(all, expected, "{principal:?}");
    }
}

/// The only client of a server whose messages the test writes, this server, and the bridge between them.
async fn begun(options: BridgeOptions, asks_first: bool) -> (Raw, Raw, impl Sized) {
    let server = vec![Revision::V2025_11_25];
    let (bridge, [mut server]) = by_hand(BridgeOptions { server, ..options });
    let client = connect(&bridge, None);
    client.send(&request(1, "tools/list", json!({}))).await;
    let handshake = server.next().await;
    assert_eq!(handshake["method"], "initialize", "{handshake}");
    if asks_first {
        server.send(ROOTS).await;
        let refused = server.next().await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!("q"), &json!(-32600))
        );
    }
    agree(&mut server, &handshake, json!({"tools": {}})).await;
    (client, server, bridge)
}

const ROOTS: &str = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;

async fn lists_and_is_asked_later(mut client: Raw, mut server: Raw) {
    let list = server.next().await;
    assert_eq!(list["method"], "tools/list", "{list}");
    let tools = json!({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]});
    server.send(&result(&list, &tools)).await;
    let listed = client.next().await;
    assert_eq!(
        listed["result"]["tools"][0]["name"], "t",
        "a list response carries no input request: {listed}"
    );
    client.send(&call(2, "t", &json!({}))).await;
    let called = server.next().await;
    assert_eq!(called["method"], "tools/call", "{called}");
    let asked = client.next().await;
    assert!(is_asked(&asked) && asked.to_string().contains("roots/list"), "{asked}");
    client.send(&answered(3, "t", &json!({}), &asked)).await;
    let roots = server.next().await;
    assert_eq!(
        (&roots["id"], &roots["result"]["roots"][0]["uri"]),
        (&json!("q"), &json!("file:///home"))
    );
    server.send(&result(&called, &json!({"content": []}))).await;
    let done = client.next().await;
    assert_eq!(done["result"]["content"], json!([]), "{done}");
}

#[tokio::test]
async fn a_server_request_during_a_list_waits_for_the_next_call() {
    let (client, server, _bridge) = begun(options().0, false).await;
    server.send(ROOTS).await;
    lists_and_is_asked_later(client, server).await;
}

#[tokio::test]
async fn a_server_request_before_the_handshake_ends_is_refused_and_can_be_repeated() {
    let (client, server, _bridge) = begun(options().0, true).await;
    server.send(ROOTS).await;
    lists_and_is_asked_later(client, server).await;
}

#[tokio::test]
async fn a_server_request_without_a_call_to_carry_it_is_refused_and_reported_as_loss() {
    let (options, losses) = options();
    let options = BridgeOptions {
        suspension_timeout: Duration::from_millis(100),
        ..options
    };
    let (_client, mut server, _bridge) = begun(options, false).await;
    assert_eq!(server.next().await["method"], "tools/list");
    server.send(ROOTS).await;
    let refused = server.next().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!("q"), &json!(-32603)),
        "{refused}"
    );
    let losses = losses.lock().expect("nobody panics").clone();
    assert!(losses.contains(&"roots/list (root) dropped".to_owned()), "{losses:?}");
}

#[tokio::test]
async fn the_session_of_a_client_without_a_principal_ends_with_its_connection() {
    let (client, mut server, _bridge) = begun(options().0, false).await;
    let list = server.next().await;
    server.send(&result(&list, &json!({"tools": []}))).await;
    drop(client);
    let ended = async { while server.receiver.receive_outgoing().await.is_some() {} };
    timeout(PATIENCE, ended).await.expect("nobody else can use the session");
}

#[tokio::test]
async fn a_client_with_too_many_open_input_requests_gets_an_error_and_blocks_no_other() {
    let router = Router::new("asks", "1.0").tool("asks", "Asks", |(): (), call: Call| async move {
        let answer = call.peer().elicit(confirmation("nobody")).await?;
        Ok::<_, CallError>(answer.action.to_string())
    });
    let bridge = Bridge::new(connector(router), options().0);
    let mut greedy = connect(&bridge, Some("greedy"));
    let mut refused = None;
    for id in 0..1100 {
        greedy.send(&call(id, "asks", &json!({}))).await;
        let answer = greedy.next().await;
        if !is_asked(&answer) {
            refused = answer["error"]["message"].as_str().map(str::to_owned);
            break;
        }
    }
    let refused = refused.expect("the share of a client is limited");
    assert!(refused.contains("too many calls wait"), "{refused}");
    for principal in [Some("other"), None] {
        let mut other = connect(&bridge, principal);
        other.send(&call(1, "asks", &json!({}))).await;
        let asked = other.next().await;
        assert!(is_asked(&asked), "{principal:?}: {asked}");
    }
}

#[tokio::test]
async fn an_error_that_requires_input_becomes_a_result_that_requests_it_until_the_client_declines() {
    let (mut client, mut server, _bridge) = begun(options().0, false).await;
    let list = server.next().await;
    server.send(&result(&list, &json!({"tools": []}))).await;
    client.next().await;
    let elicitation = json!({"mode": "url", "elicitationId": "e", "url": "https://example.org/", "message": "Log in"});
    let error = json!({"code": -32042, "message": "Log in first", "data": {"elicitations": [elicitation]}});
    let refusal = |call: &Value| json!({"jsonrpc": "2.0", "id": call["id"], "error": error}).to_string();
    client.send(&call(2, "t", &json!({}))).await;
    let called = server.next().await;
    server.send(&refusal(&called)).await;
    let asked = client.next().await;
    assert!(is_asked(&asked), "{asked}");
    let question = &asked["result"]["inputRequests"]["0"];
    assert_eq!(
        (&question["method"], &question["params"]["url"]),
        (&json!("elicitation/create"), &elicitation["url"]),
        "{asked}"
    );
    for (id, action) in [(3, "accept"), (4, "decline")] {
        let answers = json!({"0": {"action": action}});
        let params = json!({"name": "t", "arguments": {}, "inputResponses": answers});
        client.send(&request(id, "tools/call", params)).await;
        let called = server.next().await;
        assert_eq!(called["method"], "tools/call", "{called}");
        server.send(&refusal(&called)).await;
        let answer = client.next().await;
        assert_eq!(is_asked(&answer), action == "accept", "{answer}");
        assert_eq!(answer["error"]["code"] == -32042, action == "decline", "{answer}");
    }
}

#[tokio::test]
async fn a_server_request_left_open_by_a_completed_call_moves_to_another_call() {
    let (mut client, mut server, _bridge) = begun(options().0, false).await;
    let list = server.next().await;
    server.send(&result(&list, &json!({"tools": []}))).await;
    client.next().await;
    let question = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}).to_string();
    client.send(&call(2, "t", &json!({}))).await;
    let first = server.next().await;
    client.send(&call(3, "t", &json!({}))).await;
    let second = server.next().await;
    // The second call carries the request, and its result comes before its client continues the call.
    server.send(&question("a")).await;
    let asked = client.next().await;
    assert_eq!((&asked["id"], is_asked(&asked)), (&json!(3), true), "{asked}");
    server.send(&question("b")).await;
    server.send(&result(&second, &json!({"content": []}))).await;
    client.send(&answered(4, "t", &json!({}), &asked)).await;
    let mut done = Vec::new();
    let rounds = async {
        let mut id = 5;
        while done.len() < 2 {
            tokio::select! {
                message = server.next() => {
                    assert!(message["result"].is_object(), "{message}");
                    if message["id"] == "b" {
                        server.send(&result(&first, &json!({"content": []}))).await;
                    }
                }
                answer = client.next() => match is_asked(&answer) {
                    true => {
                        client.send(&answered(id, "t", &json!({}), &answer)).await;
                        id += 1;
                    }
                    false => done.push(answer),
                }
            }
        }
    };
    timeout(PATIENCE, rounds).await.expect("both calls have their results");
    assert!(
        done.iter().all(|answer| answer["result"]["content"] == json!([])),
        "{done:?}"
    );
}

#[tokio::test]
async fn start_connects_to_the_server_before_its_first_client() {
    let (started, mut has_started) = mpsc::unbounded_channel();
    let router = Router::new("s", "1").tool("t", "Does nothing", || "done");
    let inner = connector(router);
    let connector = move || {
        started.send(()).expect("the test counts");
        futures_util::FutureExt::now_or_never(inner.connect()).expect("it connects at once")
    };
    let bridge = Bridge::new(connector, options().0);
    bridge.start().await.expect("it starts");
    has_started.try_recv().expect("it has been started");
    let mut client = connect(&bridge, None);
    client.send(&call(1, "t", &json!({}))).await;
    let answer = client.next().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
    assert!(
        has_started.try_recv().is_err(),
        "the first client uses the server that was started"
    );
}

#[tokio::test]
async fn a_server_that_dies_before_its_first_client_is_restarted() {
    let connections = Mutex::new(0);
    let router = Router::new("s", "1").tool("t", "Does nothing", || "done");
    let inner = connector(router);
    let connector = move || {
        let mut connections = connections.lock().expect("nobody panics");
        *connections += 1;
        match *connections {
            // Its other end is dropped.
            1 => Ok(channel(16).0),
            _ => futures_util::FutureExt::now_or_never(inner.connect()).expect("it connects at once"),
        }
    };
    let bridge = Bridge::new(connector, options().0);
    bridge.start().await.expect("it starts");
    let mut client = connect(&bridge, None);
    client.send(&call(1, "t", &json!({}))).await;
    let answer = client.next().await;
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer}");
}
