//! Clients and servers of a bridge that fail, hang, flood, are slow, or end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_runtime::bridge::{Bridge, BridgeError, BridgeOptions, Connector};
use mcp_runtime::router::Call;
use mcp_runtime::transport::stdio::{LineLimits, LineTransport, SpawnOptions, spawn};
use mcp_runtime::transport::{ChannelTransport, Sender, TransportError, channel};
use mcp_runtime::{CallClient, CallError, ConnectError, Options, Revision, Router};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use crate::bridge::{PATIENCE, Raw, Serving, agree, bridged, by_hand, discover, options, result, serve};

fn initialize(revision: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"},
    }})
    .to_string()
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: u64, tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}}).to_string()
}

/// Starts a session as a client.
async fn begin(transport: ChannelTransport, revision: &str) -> Raw {
    let mut client = Raw::new(transport);
    client.send(&initialize(revision)).await;
    let agreed = client.next().await;
    assert!(agreed["result"].is_object(), "{agreed}");
    client.send(INITIALIZED).await;
    client
}

/// A shell script that answers `initialize`, and then runs `then`.
fn script(then: &str) -> impl Fn() -> Result<mcp_runtime::transport::stdio::ChildTransport, TransportError> + use<> {
    let agreed = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
    let text = format!("read line; echo '{agreed}'; read line; {then}");
    move || {
        let mut command = Command::new("sh");
        command.arg("-c").arg(&text);
        let grace = Duration::from_millis(300);
        let spawned = spawn(command, SpawnOptions::default().grace(grace));
        spawned.map_err(|error| TransportError::Other(Box::new(error)))
    }
}

async fn ends(serving: Serving) -> Result<(), BridgeError> {
    let ended = timeout(PATIENCE, serving).await;
    ended.expect("the bridge ends").expect("it doesn't panic")
}

#[tokio::test]
async fn pending_calls_fail_with_the_exit_status_when_the_server_dies() {
    let (transport, serving) = serve(Bridge::new(script("read line; echo oops >&2; exit 3"), options().0));
    let mut client = begin(transport, "2025-11-25").await;
    for id in [1, 2] {
        client.send(&call(id, "t")).await;
    }
    let mut told = [client.next().await, client.next().await];
    told.sort_by_key(|answer| answer["id"].as_u64());
    for (answer, id) in told.iter().zip([1, 2]) {
        assert_eq!(answer["id"], id);
        let reason = answer["error"]["message"].as_str().expect("it has a reason");
        // Its standard error may contain data of other clients.
        assert!(
            reason.contains("exit status: 3") && !reason.contains("oops"),
            "{reason}"
        );
    }
    assert!(matches!(
        ends(serving).await,
        Err(BridgeError::Server(CallError::Exited(_)))
    ));
}

#[tokio::test]
async fn input_before_the_first_message_that_is_no_message_is_answered() {
    let (bridge, []) = by_hand(options().0);
    let (transport, _serving) = serve(bridge);
    let mut client = Raw::new(transport);
    for (input, code) in [
        ("garbage", -32700),
        ("[1]", -32600),
        ("{}", -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"initialize"}"#, -32602),
    ] {
        client.send(input).await;
        let answer = client.next().await;
        assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(code), None));
    }
    client.send(r#"{"jsonrpc":"2.0","method":"initialize"}"#).await;
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    assert_eq!(client.next().await["id"], 1, "notifications get no answer");
}

#[tokio::test]
async fn the_error_of_a_server_that_dies_at_the_start_lacks_its_standard_error() {
    let connector = || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo oops >&2; exit 3"]);
        spawn(command, SpawnOptions::default()).map_err(|error| TransportError::Other(Box::new(error)))
    };
    let (transport, _serving) = serve(Bridge::new(connector, options().0));
    let mut client = Raw::new(transport);
    client.send(&initialize("2025-11-25")).await;
    let answer = client.next().await;
    let reason = answer["error"]["message"].as_str().expect("it has a reason");
    assert!(
        reason.contains("exit status: 3") && !reason.contains("oops"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_server_that_dies_is_restarted_if_the_option_is_set() {
    let started = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&started);
    let start = script(r#"read line; echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'; exit 1"#);
    let connector = move || {
        count.fetch_add(1, Ordering::SeqCst);
        start()
    };
    let options = BridgeOptions {
        restart: true,
        ..options().0
    };
    let (transport, serving) = serve(Bridge::new(connector, options));
    let mut client = begin(transport, "2025-11-25").await;
    let mut answered = 0;
    for id in 1..100 {
        client.send(&call(id, "t")).await;
        let answer = client.next().await;
        assert_eq!(answer["id"], id);
        // While there is no server, calls get errors.
        answered += usize::from(answer["result"].is_object());
        if answered == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(answered, 3);
    assert!(started.load(Ordering::SeqCst) >= 3);
    client.sender.close().await;
    ends(serving).await.expect("the client has ended it");
}

#[tokio::test]
async fn a_restarted_server_does_not_count_as_an_additional_one() {
    let options = BridgeOptions {
        restart: true,
        server_sessions: 1,
        ..options().0
    };
    let start = script(r#"read line; echo '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'; exit 1"#);
    let (transport, _serving) = serve(Bridge::new(start, options));
    let mut client = begin(transport, "2025-11-25").await;
    let twice = async {
        let mut answered = 0;
        for id in 1.. {
            client.send(&call(id, "t")).await;
            answered += usize::from(client.next().await["result"].is_object());
            if answered == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, twice).await.expect("the second server answers too");
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_bridge_even_if_the_server_ignores_sigterm() {
    let script = script("trap '' TERM; while true; do sleep 1; done");
    let (transport, serving) = serve(Bridge::new(
        script,
        BridgeOptions {
            close_timeout: Duration::from_millis(200),
            ..options().0
        },
    ));
    let client = begin(transport, "2025-11-25").await;
    client.send(&call(1, "t")).await;
    let begun = Instant::now();
    client.sender.close().await;
    drop(client);
    ends(serving).await.expect("the client has ended it");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_flood_of_log_messages_to_a_slow_client_is_bounded_and_hides_no_response() {
    let (ours, theirs) = channel(1);
    let connection = Mutex::new(Some(theirs));
    let (transport, serving) = serve(Bridge::new(
        move || Ok(connection.lock().expect("nobody panics").take().expect("there is one")),
        options().0,
    ));
    let mut client = Raw::new(transport);
    let mut server = Raw::new(ours);
    client.send(&initialize("2025-11-25")).await;
    let asked = server.next().await;
    agree(&mut server, &asked, json!({})).await;
    client.next().await;
    client.send(INITIALIZED).await;
    client.send(&call(1, "t")).await;
    let asked = server.next().await;
    // 50 MB of log, of which the client reads nothing. The server can send all of it.
    let line = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x".repeat(100_000)}});
    let line = line.to_string();
    let flood = async {
        for _ in 0..500 {
            server.send(&line).await;
        }
        server.send(&result(&asked, &json!({}))).await;
    };
    timeout(PATIENCE, flood).await.expect("the bridge continues reading");
    let mut logged = 0;
    let answer = loop {
        let message = client.next().await;
        if message["id"] == 1 {
            break message;
        }
        logged += 1;
    };
    assert!(answer["result"].is_object());
    assert!(
        (100..400).contains(&logged),
        "{logged} of 500 were kept, and the limit is 335"
    );
    drop(client);
    let _ = ends(serving).await;
}

fn slow(gate: &Arc<Notify>) -> Router {
    let gate = Arc::clone(gate);
    Router::new("slow", "1.0").tool("wait", "Waits", move |(): (), _: Call| {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            "done"
        }
    })
}

#[tokio::test]
async fn calls_in_flight_get_their_responses_when_the_bridge_closes() {
    for server in Revision::ALL {
        let gate = Arc::new(Notify::new());
        let router = slow(&gate);
        let connector = move || {
            let (ours, theirs) = channel(16);
            let options = Options {
                supported: vec![server],
                ..Options::default()
            };
            drop(router.clone().serve(options, ours));
            Ok(theirs)
        };
        // Waiting without a limit doesn't overflow.
        let options = BridgeOptions {
            close_timeout: Duration::MAX,
            ..options().0
        };
        let bridge = Bridge::new(connector, options);
        let (transport, serving) = serve(bridge.clone());
        let mut client = begin(transport, "2025-06-18").await;
        client.send(&call(1, "wait")).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let closing = tokio::spawn(async move { bridge.close().await });
        tokio::time::sleep(Duration::from_millis(20)).await;
        gate.notify_one();
        let answer = client.next().await;
        assert_eq!(answer["result"]["content"][0]["text"], "done", "{server}: {answer}");
        timeout(PATIENCE, closing)
            .await
            .expect("it closes")
            .expect("it doesn't panic");
        ends(serving).await.expect("it was closed");
    }
}

fn stateless(id: u64, tool: &str, more: &Value) -> String {
    let mut params = json!({"name": tool, "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }});
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

fn asking(dropped: &Arc<AtomicUsize>) -> Router {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::clone(dropped);
    Router::new("asks", "1.0").tool("asks", "Asks for roots", move |(): (), call: Call| {
        let guard = Dropped(Arc::clone(&dropped));
        async move {
            let roots = call.list_roots(None).await?;
            drop(guard);
            Ok::<_, CallError>(roots.roots[0].uri.clone())
        }
    })
}

#[tokio::test]
async fn a_suspended_call_continues_once_and_only_with_its_own_request_state() {
    let dropped = Arc::default();
    let (transport, _serving) = bridged(&asking(&dropped), Revision::V2025_06_18, options().0);
    let mut client = Raw::new(transport);
    client.send(&stateless(1, "asks", &json!({}))).await;
    let asked = client.next().await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let questions = asked["result"]["inputRequests"].as_object().expect("it asks").clone();
    let (name, question) = questions.iter().next().expect("it asks one thing");
    assert_eq!(question["method"], "roots/list");
    let state = asked["result"]["requestState"].clone();
    // A state that was tampered with is refused.
    let forged = format!("{}A", state.as_str().expect("it is text"));
    client
        .send(&stateless(2, "asks", &json!({"requestState": forged})))
        .await;
    assert_eq!(client.next().await["error"]["code"], -32602);
    let roots = json!({name: {"roots": [{"uri": "file:///home"}]}});
    let answer = json!({"requestState": state, "inputResponses": roots});
    client.send(&stateless(3, "asks", &answer)).await;
    let done = client.next().await;
    assert_eq!(done["result"]["content"][0]["text"], "file:///home", "{done}");
    // The call has ended, so its state is no longer valid.
    client.send(&stateless(4, "asks", &answer)).await;
    assert_eq!(client.next().await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_suspended_call_that_continues_leaves_no_task_behind() {
    let (transport, _serving) = bridged(&asking(&Arc::default()), Revision::V2025_06_18, options().0);
    let mut client = Raw::new(transport);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let mut before = None;
    for id in 0..20 {
        client.send(&stateless(2 * id, "asks", &json!({}))).await;
        let asked = client.next().await;
        let (name, _) = asked["result"]["inputRequests"]
            .as_object()
            .and_then(|asked| asked.iter().next())
            .expect("it asks");
        let answer = json!({
            "requestState": asked["result"]["requestState"],
            "inputResponses": {name: {"roots": [{"uri": "file:///home"}]}},
        });
        client.send(&stateless(2 * id + 1, "asks", &answer)).await;
        assert!(client.next().await["result"]["content"].is_array());
        before = before.or(Some(tasks()));
    }
    let few = before.expect("there were calls") + 5;
    let gone = async {
        while tasks() > few {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), gone).await.expect("the tasks end");
}

#[tokio::test]
async fn suspended_calls_are_limited_per_client_and_expire() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let options = BridgeOptions {
        // One client may have an eighth.
        suspended_calls: 16,
        suspension_timeout: Duration::from_millis(300),
        ..options().0
    };
    let (transport, _serving) = bridged(&asking(&dropped), Revision::V2025_06_18, options);
    let mut client = Raw::new(transport);
    for id in [1, 2] {
        client.send(&stateless(id, "asks", &json!({}))).await;
        assert_eq!(client.next().await["result"]["resultType"], "input_required");
    }
    client.send(&stateless(3, "asks", &json!({}))).await;
    let refused = client.next().await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|it| it.contains("too many")),
        "{refused}"
    );
    let expired = async {
        while dropped.load(Ordering::SeqCst) < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, expired)
        .await
        .expect("the server's calls are cancelled");
}

/// Connects a client of each of these principals, in this order, to a bridge that allows two sessions with its server.
/// Returns the response to the last client, and whether each client is still served.
async fn begin_in_turn(principals: &[&str]) -> (Value, Vec<bool>) {
    let router = slow(&Arc::default());
    let connector = move || {
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![Revision::V2025_06_18],
            ..Options::default()
        };
        drop(router.clone().serve(options, ours));
        Ok(theirs)
    };
    let options = BridgeOptions {
        server_sessions: 2,
        ..options().0
    };
    let bridge = Bridge::new(connector, options);
    let (mut clients, mut answer) = (Vec::new(), Value::Null);
    for principal in principals {
        let (transport, client) = channel(16);
        let (bridge, principal) = (bridge.clone(), (*principal).to_owned());
        let serving = tokio::spawn(async move { bridge.serve_for(Some(principal), transport).await });
        let mut client = Raw::new(client);
        client.send(&initialize("2025-06-18")).await;
        answer = client.next().await;
        client.send(INITIALIZED).await;
        clients.push((client, serving));
    }
    let served = clients.iter().map(|(_, serving)| !serving.is_finished()).collect();
    (answer, served)
}

#[tokio::test]
async fn a_new_client_evicts_the_one_that_has_been_idle_longest() {
    let (answer, served) = begin_in_turn(&["ann", "bob", "eve"]).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(served, [false, true, true]);
}

#[tokio::test]
async fn sessions_of_the_principal_with_the_most_are_evicted_first() {
    let (answer, served) = begin_in_turn(&["ann", "eve", "eve", "eve"]).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(served, [true, false, false, true]);
}

#[tokio::test]
async fn a_client_that_leaves_during_a_hanging_handshake_frees_its_session() {
    let (started, mut servers) = mpsc::unbounded_channel();
    let connector = move || {
        let (ours, theirs) = channel(16);
        let _ = started.send(Raw::new(ours));
        Ok(theirs)
    };
    let options = BridgeOptions {
        server_sessions: 1,
        ..options().0
    };
    let bridge = Bridge::new(connector, options);
    for _ in 0..2 {
        let (transport, serving) = serve(bridge.clone());
        let client = Raw::new(transport);
        client.send(&initialize("2025-11-25")).await;
        let mut server = servers.recv().await.expect("the bridge continues");
        assert_eq!(server.next().await["method"], "initialize");
        drop(client);
        ends(serving).await.expect("the client has ended it");
        let ended = async { while server.receiver.receive_outgoing().await.is_some() {} };
        timeout(PATIENCE, ended)
            .await
            .expect("the session with the server ends");
    }
}

/// Connects a client of a principal.
fn connect(bridge: &Bridge) -> (Raw, Serving) {
    let (transport, client) = channel(16);
    let bridge = bridge.clone();
    let serving = tokio::spawn(async move { bridge.serve_for(Some("ann".to_owned()), transport).await });
    (Raw::new(client), serving)
}

#[tokio::test]
async fn connecting_to_a_server_that_never_answers_times_out() {
    let servers = Mutex::new(Vec::new());
    let connector = move || {
        let (ours, theirs) = channel(16);
        servers.lock().expect("nobody panics").push(ours);
        Ok(theirs)
    };
    let options = BridgeOptions {
        connect_timeout: Duration::from_millis(100),
        ..options().0
    };
    let bridge = Bridge::new(connector, options);
    // The stateless clients wait for the same session.
    let begins = [
        initialize("2025-11-25"),
        stateless(0, "t", &json!({})),
        stateless(0, "t", &json!({})),
    ];
    let clients: Vec<_> = begins.iter().map(|_| connect(&bridge)).collect();
    for ((client, _), begins) in clients.iter().zip(begins) {
        client.send(&begins).await;
    }
    for (mut client, serving) in clients {
        let refused = client.next().await;
        let reason = refused["error"]["message"].as_str().expect("it has a reason");
        assert!(reason.contains("100ms"), "{reason}");
        let ended = ends(serving).await;
        assert!(
            matches!(
                ended,
                Err(BridgeError::Connect(ConnectError::Call(CallError::TimedOut(_))))
            ),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn a_client_that_stops_writing_still_gets_its_response_from_a_slow_server() {
    let slow = Slow {
        connections: Arc::default(),
        first_hangs: false,
    };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move {
        let transport = LineTransport::new(reader, writer, LineLimits::default());
        Bridge::new(slow, options().0).serve(transport).await
    });
    let (mut reader, mut writer) = tokio::io::split(ours);
    let piped = format!("{}\n{INITIALIZED}\n{}\n", initialize("2025-11-25"), call(1, "t"));
    writer.write_all(piped.as_bytes()).await.expect("it is open");
    writer.shutdown().await.expect("it is open");
    let mut answers = String::new();
    let answered = timeout(PATIENCE, reader.read_to_string(&mut answers)).await;
    answered.expect("it ends").expect("it is text");
    assert!(answers.contains("\"done\""), "{answers}");
    ends(serving).await.expect("the client has ended it");
}

#[tokio::test]
async fn a_subscription_ends_with_its_result_when_the_client_stops_writing() {
    let (bridge, [mut server]) = by_hand(options().0);
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move {
        let transport = LineTransport::new(reader, writer, LineLimits::default());
        bridge.serve(transport).await
    });
    let (mut reader, mut writer) = tokio::io::split(ours);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let listen = json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen", "params": params});
    let line = format!("{listen}\n");
    writer.write_all(line.as_bytes()).await.expect("it is open");
    discover(&mut server, json!({"tools": {"listChanged": true}})).await;
    assert_eq!(server.next().await["method"], "subscriptions/listen");
    writer.shutdown().await.expect("it is open");
    let mut answers = String::new();
    let answered = timeout(Duration::from_secs(2), reader.read_to_string(&mut answers)).await;
    answered.expect("it ends").expect("it is text");
    let result: Value = serde_json::from_str(&answers).expect("it is one message");
    assert_eq!(result["id"], "l", "{result}");
    assert_eq!(
        result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l",
        "{result}"
    );
    assert_eq!(server.next().await["method"], "notifications/cancelled");
    ends(serving).await.expect("the client has ended it");
}

#[tokio::test]
async fn a_new_client_is_refused_while_all_allowed_sessions_are_busy() {
    let gate = Arc::new(Notify::new());
    let router = slow(&gate);
    let connector = move || {
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![Revision::V2025_06_18],
            ..Options::default()
        };
        drop(router.clone().serve(options, ours));
        Ok(theirs)
    };
    let bridge = Bridge::new(
        connector,
        BridgeOptions {
            server_sessions: 1,
            ..options().0
        },
    );
    let (first, first_serving) = serve(bridge.clone());
    let mut first = begin(first, "2025-06-18").await;
    first.send(&call(1, "wait")).await;
    // Once the second call is answered, the bridge has passed the first one on.
    first.send(&call(2, "none")).await;
    assert_eq!(first.next().await["id"], 2);
    let (second, second_serving) = serve(bridge.clone());
    let mut second = Raw::new(second);
    second.send(&initialize("2025-06-18")).await;
    assert!(
        second.next().await["error"]["message"]
            .as_str()
            .is_some_and(|it| it.contains('1'))
    );
    assert!(matches!(
        ends(second_serving).await,
        Err(BridgeError::TooManyServers(1))
    ));
    first.sender.close().await;
    drop(first);
    ends(first_serving).await.expect("the client has ended it");
    let (third, _serving) = serve(bridge);
    begin(third, "2025-06-18").await;
}

/// Connects to a server of 2025-11-25 after some time. If `first_hangs`, the first connection is never made.
struct Slow {
    connections: Arc<AtomicUsize>,
    first_hangs: bool,
}

impl Connector for Slow {
    type Transport = ChannelTransport;

    async fn connect(&self) -> Result<ChannelTransport, TransportError> {
        let before = self.connections.fetch_add(1, Ordering::SeqCst);
        if self.first_hangs && before == 0 {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        let (ours, theirs) = channel(16);
        let options = Options {
            supported: vec![Revision::V2025_11_25],
            ..Options::default()
        };
        drop(Router::new("s", "1").tool("t", "", || "done").serve(options, ours));
        Ok(theirs)
    }
}

/// A stateless client of this name that calls a tool.
async fn stateless_call(bridge: &Bridge, name: &str) -> (Raw, Serving) {
    let (clients, client) = channel(16);
    let bridge = bridge.clone();
    let serving = tokio::spawn(async move { bridge.serve(clients).await });
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"},
    });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "_meta": meta}});
    let client = Raw::new(client);
    client.send(&call.to_string()).await;
    (client, serving)
}

#[tokio::test]
async fn a_slow_server_delays_only_the_clients_that_share_it() {
    let connections = Arc::new(AtomicUsize::new(0));
    let slow = |first_hangs| Slow {
        connections: Arc::clone(&connections),
        first_hangs,
    };
    let bridge = Bridge::new(slow(true), options().0);
    let (_waits, _) = stateless_call(&bridge, "first").await;
    while connections.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let (mut other, _) = stateless_call(&bridge, "second").await;
    assert_eq!(other.next().await["result"]["content"][0]["text"], "done");

    connections.store(0, Ordering::SeqCst);
    let bridge = Bridge::new(slow(false), options().0);
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(stateless_call(&bridge, "same").await);
    }
    for (client, _) in &mut clients {
        assert_eq!(client.next().await["result"]["content"][0]["text"], "done");
    }
    assert_eq!(
        connections.load(Ordering::SeqCst),
        1,
        "one session is started for all of them"
    );
}

#[tokio::test]
async fn a_request_from_a_stateless_server_is_refused_and_reaches_no_client() {
    let (bridge, [mut server]) = by_hand(options().0);
    let (transport, _serving) = serve(bridge);
    let mut client = Raw::new(transport);
    client.send(&stateless(1, "t", &json!({}))).await;
    discover(&mut server, json!({"tools": {}})).await;
    let called = server.next().await;
    assert_eq!(called["method"], "tools/call");
    let asks = json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
    server.send(&asks.to_string()).await;
    let refused = server.next().await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!("q"), &json!(-32601))
    );
    let done = json!({"resultType": "complete", "content": []});
    server.send(&result(&called, &done)).await;
    let answered = client.next().await;
    assert_eq!(answered["id"], 1, "the client was asked nothing: {answered}");
}

#[tokio::test]
async fn a_subscription_that_is_never_acknowledged_leaves_no_tasks_behind() {
    let (bridge, [mut server]) = by_hand(options().0);
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let mut before = None;
    for subscribes in [false, true] {
        let (transport, serving) = serve(bridge.clone());
        let mut client = Raw::new(transport);
        client.send(&initialize("2025-11-25")).await;
        if before.is_none() {
            let handshake = server.next().await;
            let error = json!({"code": -32601, "message": "Method not found"});
            let refused = json!({"jsonrpc": "2.0", "id": handshake["id"], "error": error});
            server.send(&refused.to_string()).await;
            discover(&mut server, json!({"resources": {"subscribe": true}})).await;
        }
        let agreed = client.next().await;
        assert!(agreed["result"].is_object(), "{agreed}");
        client.send(INITIALIZED).await;
        if subscribes {
            client
                .send(r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}}"#)
                .await;
            assert_eq!(server.next().await["method"], "subscriptions/listen");
        }
        client.sender.close().await;
        drop(client);
        ends(serving).await.expect("the client has ended it");
        let is_gone = async {
            while before.is_some_and(|before| tasks() > before) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(Duration::from_secs(5), is_gone).await.expect("its tasks end");
        if before.is_none() {
            // By then, the tasks that end on their own have ended.
            tokio::time::sleep(Duration::from_millis(100)).await;
            before = Some(tasks());
        }
    }
}
