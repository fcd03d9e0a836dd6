//! Servers of a gateway that hang, are slow, end their subscriptions, or change while they are listed. In most tests
//! the clock is paused: it advances only while all tasks wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_runtime::bridge::Connector;
use mcp_runtime::clients::Clients;
use mcp_runtime::gateway::Gateway;
use mcp_runtime::mcp_wire::UnknownMethod;
use mcp_runtime::router::{Call, resource_template};
use mcp_runtime::transport::{
    ChannelTransport, Incoming, Outgoing, Purpose, Receiver, Sender, Transport, TransportError, channel,
};
use mcp_runtime::{
    Args, CallClient, CallError, CallServer, Change, ChangeFilter, Client, ClientSession, Limits, Options, Router, hub,
    mcp_wire,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::common::{stateless, subscribe};
use crate::many_servers::{Local, REVISIONS, speaking};
use crate::session::stray_input::Warnings;

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(100);

fn named(name: &'static str) -> Router {
    Router::new(name, "1.0").tool("name", "Gets the name of the server", move || name)
}

async fn connect(gateway: &Gateway, options: Options) -> ClientSession {
    let (server, transport) = channel(16);
    gateway.serve(server);
    let client = Client::new("app", "1.0").options(options);
    client.connect(transport).await.expect("the gateway serves")
}

async fn tools(session: &ClientSession) -> Vec<String> {
    let tools = session.list_tools().await.expect("tools are listed");
    tools.into_iter().map(|tool| tool.name).collect()
}

/// A server that answers each message with the messages that a function returns.
fn scripted(answer: impl Fn(&Value) -> Vec<Value> + Clone + Send + Sync + 'static) -> impl Connector {
    move || {
        let (server, client) = channel(16);
        let (sender, mut receiver) = server.split();
        let answer = answer.clone();
        tokio::spawn(async move {
            while let Ok(Some(Incoming::Message { json, .. })) = receiver.receive().await {
                let message = serde_json::from_slice(&json).expect("it is JSON");
                for reply in answer(&message) {
                    let json = reply.to_string().into_bytes();
                    let purpose = Purpose::Unsolicited;
                    let _ = sender.send(Outgoing { json, purpose }).await;
                }
            }
        });
        Ok(client)
    }
}

fn silent() -> impl Connector {
    scripted(|_| Vec::new())
}

/// A server that gets each message after a delay, which can change meanwhile.
fn delayed(router: Router, delay: &watch::Sender<Duration>) -> impl Connector + use<> {
    async fn pass(mut from: impl Receiver, to: impl Sender, mut delay: watch::Receiver<Duration>) {
        while let Ok(Some(Incoming::Message { json, .. })) = from.receive().await {
            let passes = *delay.borrow_and_update();
            let _ = timeout(passes, delay.changed()).await;
            let purpose = Purpose::Unsolicited;
            let _ = to.send(Outgoing { json, purpose }).await;
        }
    }
    let delay = delay.clone();
    move || {
        let ((server, near), (far, client)) = (channel(16), channel(16));
        router.clone().serve(speaking("2025-11-25"), server);
        let ((to_server, from_server), (to_client, from_client)) = (near.split(), far.split());
        tokio::spawn(pass(from_client, to_server, delay.subscribe()));
        tokio::spawn(pass(from_server, to_client, watch::Sender::default().subscribe()));
        Ok(client)
    }
}

fn result(message: &Value, result: Value) -> Vec<Value> {
    vec![json!({"jsonrpc": "2.0", "id": message["id"], "result": result})]
}

/// A server that can be reached once its gate is open.
struct Gated {
    gate: Arc<Semaphore>,
    local: Local,
    /// The number of connection attempts that were dropped at the gate.
    given_up: Arc<AtomicUsize>,
}

impl Gated {
    fn new(local: Local) -> Self {
        Self {
            gate: Arc::new(Semaphore::new(0)),
            local,
            given_up: Arc::default(),
        }
    }
}

struct GivenUp<'c>(&'c AtomicUsize);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Connector for Gated {
    type Transport = ChannelTransport;

    async fn connect(&self) -> Result<ChannelTransport, TransportError> {
        let given_up = GivenUp(&self.given_up);
        let permit = self.gate.acquire().await;
        std::mem::forget(given_up);
        drop(permit);
        self.local.connect().await
    }
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    day: String,
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_does_not_block_the_others() {
    for revision in REVISIONS {
        for is_flat in [false, true] {
            let template = hub::ResourceTemplate::new("Notes", "notes://{day}");
            let template = resource_template(template, |Args(Note { day })| format!("Nothing on {day}"));
            let notes = named("notes").with(template.expect("it is a template"));
            let mut gateway = Gateway::new("tools", "1.0")
                .server("silent", silent())
                .server("notes", Local::new("2025-11-25", notes));
            if is_flat {
                gateway = gateway.flat();
            }
            let session = connect(&gateway, speaking(revision)).await;
            let name = if is_flat { "name" } else { "notes_name" };
            assert_eq!(tools(&session).await, [name], "{revision}");
            let contents = session.read_resource("notes://monday").await.unwrap().contents;
            assert_eq!(json!(contents)[0]["text"], "Nothing on monday", "{revision}");
            let unknown = session.call_tool("other", json!({})).await.unwrap_err().to_string();
            assert!(unknown.contains("Unknown tool: other"), "{unknown}");
        }
    }
}

/// Options of a client that waits for a response as long as the gateway does.
fn patient(revision: &str) -> Options {
    Options {
        limits: Limits {
            call_timeout: Duration::MAX,
            ..Limits::default()
        },
        ..speaking(revision)
    }
}

/// A server that lists its resources, and never answers when one is read.
fn never_reads() -> impl Connector {
    scripted(|message| match message["method"].as_str() {
        Some("initialize") => {
            let info = json!({"name": "server", "version": "1"});
            let agreed =
                json!({"protocolVersion": "2025-11-25", "capabilities": {"resources": {}}, "serverInfo": info});
            result(message, agreed)
        }
        Some("resources/list") => result(message, json!({"resources": []})),
        _ => Vec::new(),
    })
}

#[tokio::test(start_paused = true)]
async fn reading_an_unlisted_resource_skips_a_server_that_never_answers() {
    for revision in REVISIONS {
        let template = hub::ResourceTemplate::new("Notes", "notes://{day}");
        let template = resource_template(template, |Args(Note { day })| format!("Nothing on {day}"));
        let notes = named("notes").with(template.expect("it is a template"));
        let gateway = Gateway::new("tools", "1.0")
            .server("hangs", never_reads())
            .server("notes", Local::new("2025-11-25", notes));
        let session = connect(&gateway, patient(revision)).await;
        let read = timeout(PATIENCE, session.read_resource("notes://monday")).await;
        let contents = read.expect("a server answers in time").unwrap().contents;
        assert_eq!(json!(contents)[0]["text"], "Nothing on monday", "{revision}");
        let read = timeout(PATIENCE, session.read_resource("other://x")).await;
        read.expect("it is refused in time").unwrap_err();
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lists_but_never_reads_costs_the_time_limit_once() {
    for revision in REVISIONS {
        let gateway = Gateway::new("tools", "1.0")
            .server("hangs", never_reads())
            .server("other", Local::new("2025-11-25", named("other")));
        let session = connect(&gateway, patient(revision)).await;
        session.read_resource("other://first").await.unwrap_err();
        let begun = Instant::now();
        for uri in ["other://second", "other://third"] {
            session.list_resources().await.expect("the lists are answered");
            session.read_resource(uri).await.unwrap_err();
        }
        assert!(begun.elapsed() < Duration::from_secs(2), "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_custom_method_skips_a_server_that_never_answers_it() {
    async fn vote() -> Value {
        json!({"votes": 3})
    }
    for revision in REVISIONS {
        let votes = named("votes").custom_method("example/vote", vote);
        let gateway = Gateway::new("tools", "1.0")
            .server("hangs", never_reads())
            .server("votes", Local::new("2025-11-25", votes));
        let session = connect(&gateway, patient(revision)).await;
        for limit in [PATIENCE, Duration::from_secs(2)] {
            let called = session.peer().call_unknown(UnknownMethod::new("example/vote"));
            let called = timeout(limit, called).await.expect("a server answers in time");
            assert_eq!(json!(called.unwrap())["votes"], 3, "{revision}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_read_does_not_count_while_the_user_answers() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let template = hub::ResourceTemplate::new("Notes", "notes://{day}");
        let template = resource_template(template, |Args(Note { day }), call: Call| async move {
            let form = r#"{"type":"object","properties":{}}"#;
            let form = mcp_wire::from_str(form).expect("it is a form");
            let form = hub::ElicitRequestFormParams::new(format!("Read {day}?"), form);
            let answer = call.peer().elicit(form.into()).await?;
            Ok::<_, CallError>(answer.action.to_string())
        });
        let notes = Router::new("notes", "1.0").with(template.expect("it is a template"));
        let gateway = Gateway::new("tools", "1.0").server("notes", Local::new("2025-11-25", notes));
        let (server, transport) = channel(16);
        gateway.serve(server);
        let client = Client::new("app", "1.0").options(patient(revision));
        let client = client.elicit_form(|_| async {
            sleep(Duration::from_secs(45)).await;
            Ok(hub::ElicitResult::new(hub::ElicitResultAction::Accept))
        });
        let session = client.connect(transport).await.expect("the gateway serves");
        let contents = session.read_resource("notes://monday").await.unwrap().contents;
        assert_eq!(json!(contents)[0]["text"], "accept", "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn lists_wait_once_for_a_server_that_hangs_and_contain_it_when_it_answers_again() {
    const NEVER: Duration = Duration::from_secs(1_000_000);
    for revision in REVISIONS {
        let delay = watch::Sender::new(Duration::ZERO);
        let gateway = Gateway::new("tools", "1.0")
            .server("hangs", delayed(named("hangs"), &delay))
            .server("notes", Local::new("2025-11-25", named("notes")));
        let session = connect(&gateway, speaking(revision)).await;
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        assert_eq!(tools(&session).await, ["hangs_name", "notes_name"], "{revision}");

        delay.send_replace(NEVER);
        let begun = Instant::now();
        assert_eq!(tools(&session).await, ["notes_name"], "{revision}");
        assert!(begun.elapsed() >= Duration::from_secs(20), "{revision}");
        let begun = Instant::now();
        for _ in 0..4 {
            assert_eq!(tools(&session).await, ["notes_name"], "{revision}");
            assert!(session.list_prompts().await.unwrap().is_empty());
        }
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{revision}: {:?}",
            begun.elapsed()
        );

        // It answers again, but slower than the lists wait for it.
        delay.send_replace(Duration::from_secs(2));
        assert_eq!(tools(&session).await, ["notes_name"], "{revision}");
        let change = timeout(PATIENCE, changes.next()).await.expect("a change is reported");
        assert_eq!(change.unwrap().unwrap(), Change::ToolList);
        assert_eq!(tools(&session).await, ["hangs_name", "notes_name"], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn stateless_clients_wait_once_together_for_a_server_that_hangs() {
    let gateway = Gateway::new("tools", "1.0")
        .server("silent", silent())
        .server("hangs", never_reads())
        .server("notes", Local::new("2025-11-25", named("notes")));
    let begun = Instant::now();
    // Over HTTP, each request of a stateless client is in a session of its own, which ends with it.
    for _ in 0..5 {
        let session = connect(&gateway, patient(stateless().as_str())).await;
        assert_eq!(tools(&session).await, ["notes_name"]);
        session.close().await;
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    let begun = Instant::now();
    for _ in 0..5 {
        let session = connect(&gateway, patient(stateless().as_str())).await;
        session.read_resource("other://x").await.unwrap_err();
        session.close().await;
    }
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn many_subscriptions_wait_for_a_silent_server_only_once() {
    for revision in REVISIONS {
        let notes = Local::new("2025-11-25", named("notes"));
        let gateway = Gateway::new("tools", "1.0")
            .server("notes", notes.clone())
            .server("silent", silent());
        let session = connect(&gateway, speaking(revision)).await;
        let mut filter = ChangeFilter::lists();
        for day in 0..100 {
            filter = filter.with_resource(format!("notes://{day}"));
        }
        let mut changes = session.peer().changes(filter).await.unwrap();
        let told = async {
            loop {
                notes.router.tools_changed();
                if let Ok(change) = timeout(Duration::from_secs(1), changes.next()).await {
                    break change.expect("the subscription continues").unwrap();
                }
            }
        };
        let told = timeout(Duration::from_secs(30), told).await;
        assert_eq!(told.expect("a change is reported"), Change::ToolList, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_is_started_once_and_announced_when_it_is_ready() {
    for revision in REVISIONS {
        let local = Local::new("2025-11-25", named("slow"));
        let (slow, started) = (Gated::new(local.clone()), Arc::clone(&local.started));
        let (gate, given_up) = (Arc::clone(&slow.gate), Arc::clone(&slow.given_up));
        let gateway = Gateway::new("tools", "1.0")
            .time_limit(Duration::from_secs(2))
            .server("slow", slow)
            .server("steady", Local::new("2025-11-25", named("steady")));
        let session = connect(&gateway, speaking(revision)).await;
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        for _ in 0..3 {
            assert_eq!(tools(&session).await, ["steady_name"], "{revision}");
        }
        gate.add_permits(1);
        let change = timeout(PATIENCE, changes.next()).await.expect("a change is reported");
        assert_eq!(change.unwrap().unwrap(), Change::ToolList);
        assert_eq!(tools(&session).await, ["slow_name", "steady_name"], "{revision}");
        // The session that handles the requests also notifies of changes.
        assert_eq!(started.load(Ordering::SeqCst), 1, "{revision}");
        assert_eq!(given_up.load(Ordering::SeqCst), 0, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn clients_report_which_servers_exceed_the_time_limit() {
    let gated = |name: &'static str, permits: usize| {
        let gated = Gated::new(Local::new("2025-11-25", named(name)));
        gated.gate.add_permits(permits);
        (name.to_owned(), gated)
    };
    let servers = [gated("never", 0), gated("open", 1)];
    let clients = Clients::new(Client::new("app", "1.0"), servers).unwrap();
    let clients = clients.time_limit(Duration::from_secs(2));
    let tools = clients.list_tools().await;
    assert_eq!(tools.items[0].name, "open_name");
    for failures in [tools.failures, clients.connect().await] {
        let failures: Vec<_> = failures.iter().map(ToString::to_string).collect();
        assert_eq!(failures, [r#"server "never": no answer came within 2s"#]);
    }
    timeout(PATIENCE, clients.close()).await.expect("they are closed");
}

#[tokio::test(start_paused = true)]
async fn a_client_is_not_connected_while_it_connects() {
    let never = Gated::new(Local::new("2025-11-25", named("never")));
    let clients = Clients::new(Client::new("app", "1.0"), [("never".to_owned(), never)]).unwrap();
    let clients = clients.time_limit(Duration::from_secs(2));
    assert_eq!(clients.connect().await.len(), 1);
    // It keeps connecting.
    assert!(!clients.server("never").unwrap().is_connected());
}

#[tokio::test(start_paused = true)]
async fn a_connection_attempt_that_hangs_is_retried() {
    for revision in REVISIONS {
        let hanging = Gated::new(Local::new("2025-11-25", named("hanging")));
        let (gate, given_up) = (Arc::clone(&hanging.gate), Arc::clone(&hanging.given_up));
        let gateway = Gateway::new("tools", "1.0").server("hanging", hanging);
        let session = connect(&gateway, speaking(revision)).await;
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        sleep(Duration::from_secs(90)).await;
        assert_eq!(given_up.load(Ordering::SeqCst), 1, "{revision}");
        gate.add_permits(1);
        let change = timeout(PATIENCE, changes.next()).await.expect("a change is reported");
        assert_eq!(change.unwrap().unwrap(), Change::ToolList);
        assert_eq!(tools(&session).await, ["hanging_name"], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pending_connection_attempt_is_dropped_when_its_client_leaves() {
    for revision in REVISIONS {
        let never = Gated::new(Local::new("2025-11-25", named("never")));
        let given_up = Arc::clone(&never.given_up);
        let gateway = Gateway::new("tools", "1.0").server("never", never);
        let session = connect(&gateway, speaking(revision)).await;
        assert!(tools(&session).await.is_empty());
        session.close().await;
        let ended = async {
            while given_up.load(Ordering::SeqCst) == 0 {
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(PATIENCE, ended).await.expect("it is given up");
    }
}

#[tokio::test(start_paused = true)]
async fn resubscribing_to_a_server_that_ends_each_subscription_backs_off() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => {
            let result_of = json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": [stateless().as_str()], "capabilities": {"tools": {"listChanged": true}},
            });
            result(message, result_of)
        }
        Some("subscriptions/listen") => {
            count.fetch_add(1, Ordering::SeqCst);
            let meta = json!({"io.modelcontextprotocol/subscriptionId": message["id"]});
            let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
            let method = "notifications/subscriptions/acknowledged";
            let mut replies = vec![json!({"jsonrpc": "2.0", "method": method, "params": params})];
            replies.extend(result(message, json!({"resultType": "complete", "_meta": meta})));
            replies
        }
        _ => Vec::new(),
    });
    let gateway = Gateway::new("tools", "1.0").server("a", server);
    let session = connect(&gateway, speaking(stateless().as_str())).await;
    let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
    let told = async { while changes.next().await.is_some() {} };
    assert!(
        timeout(Duration::from_secs(60), told).await.is_err(),
        "the subscription continues"
    );
    // After 0.1, 0.2, 0.4, … seconds.
    let asked = asked.load(Ordering::SeqCst);
    assert!((5..=12).contains(&asked), "{asked}");
}

#[tokio::test]
async fn a_log_level_that_a_server_refuses_is_set_again_at_the_next_call() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let server = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => {
            let info = json!({"name": "server", "version": "1"});
            let capabilities = json!({"tools": {}, "logging": {}});
            result(
                message,
                json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}),
            )
        }
        Some("logging/setLevel") if count.fetch_add(1, Ordering::SeqCst) == 0 => {
            let error = json!({"code": -32603, "message": "not now"});
            vec![json!({"jsonrpc": "2.0", "id": message["id"], "error": error})]
        }
        Some("logging/setLevel") => result(message, json!({})),
        Some("tools/call") => result(message, json!({"content": []})),
        _ => Vec::new(),
    });
    let gateway = Gateway::new("tools", "1.0").server("a", server);
    let options = Options {
        log_level: Some(hub::LoggingLevel::Info),
        ..speaking("2025-11-25")
    };
    let session = connect(&gateway, options).await;
    for expected in [1, 2, 2] {
        session.call_tool("a_run", json!({})).await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), expected);
    }
}

#[tokio::test]
async fn paging_continues_correctly_when_listed_items_are_removed() {
    for revision in REVISIONS {
        let mut router = Router::new("letters", "1.0");
        for name in ["a", "b", "c", "d"] {
            router = router.tool(name, "A letter", move || name);
        }
        let server = Local::new(revision, router.clone());
        let gateway = Gateway::new("tools", "1.0").page_size(2).server("x", server);
        let session = connect(&gateway, speaking(revision)).await;
        let page = async |cursor: Option<String>| {
            let params = hub::PaginatedRequestParams {
                cursor,
                ..Default::default()
            };
            let page = session.peer().list_tools(params).await.unwrap();
            let names: Vec<_> = page.tools.into_iter().map(|tool| tool.name).collect();
            (names, page.next_cursor)
        };
        let (first, next) = page(None).await;
        assert_eq!(first, ["x_a", "x_b"]);
        router.remove_tool("a");
        router.remove_tool("b");
        let (second, next) = page(next).await;
        assert_eq!(
            (second, next),
            (vec!["x_c".to_owned(), "x_d".to_owned()], None),
            "{revision}"
        );
        let params = hub::PaginatedRequestParams::default().with_cursor("2");
        let refused = session.peer().list_tools(params).await.unwrap_err().to_string();
        assert!(refused.contains("Invalid cursor"), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_schema_hides_no_other_tool_of_its_server() {
    let server = scripted(|message| match message["method"].as_str() {
        Some("initialize") => {
            let info = json!({"name": "server", "version": "1"});
            let agreed = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info});
            result(message, agreed)
        }
        Some("tools/list") => {
            let tool = json!({"name": "good", "inputSchema": {"type": "object"}});
            result(message, json!({"tools": [{"name": "bad"}, tool]}))
        }
        _ => Vec::new(),
    });
    let gateway = Gateway::new("tools", "1.0").server("one", server);
    for revision in REVISIONS {
        let warnings = Warnings::default();
        let _guards = subscribe(warnings.clone());
        let session = connect(&gateway, speaking(revision)).await;
        assert_eq!(tools(&session).await, ["one_good"], "{revision}");
        let warnings = warnings.0.lock().unwrap().join("\n");
        assert!(warnings.contains(r#"peer="server""#), "{warnings}");
        assert!(
            warnings.contains("bad") && warnings.contains("tools[0].inputSchema"),
            "{warnings}"
        );
    }
}
