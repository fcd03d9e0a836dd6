//! Clients that reconnect, and clients of many servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_adapters::PeerTypes;
use mcp_runtime::clients::{Backoff, Clients, ReconnectingClient};
use mcp_runtime::router::{resource, tool};
use mcp_runtime::transport::{channel, inspect};
use mcp_runtime::{Change, ChangeFilter, Discovery, Options, Revision, Router, hub};
use serde_json::json;
use tokio::time::timeout;

use crate::many_servers::{Local, PATIENCE, REVISIONS, client, speaking};

fn quick() -> Backoff {
    Backoff::default().delay(Duration::from_millis(1), Duration::from_millis(20))
}

fn clock() -> Router {
    Router::new("clock", "1.0").tool("time", "Tells the time", || "noon")
}

#[tokio::test]
async fn a_lost_session_is_replaced_at_the_next_call() {
    for revision in REVISIONS {
        let server = Local::new(revision, clock());
        let client = ReconnectingClient::with_backoff(client(), server.clone(), quick());
        assert!(!client.is_connected());
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
        let before = client.peer().await.unwrap();
        assert!(client.is_connected());
        server.end(false);
        before.state().ended.cancelled().await;
        assert_eq!(client.list_tools().await.unwrap().len(), 1, "{revision}");
        assert_eq!(server.started.load(Ordering::SeqCst), 2);
        client.close().await;
        client.closed().await;
        assert!(client.is_closed() && client.list_tools().await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_fails_as_its_session_ends_is_repeated_in_the_next_one() {
    let server = Local::new("2025-11-25", clock());
    let client = ReconnectingClient::with_backoff(client(), server.clone(), quick());
    for _ in 0..50 {
        client.list_tools().await.unwrap();
        server.close().await;
        client.list_tools().await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_is_no_longer_polled_while_it_connects_holds_up_no_other() {
    let client = ReconnectingClient::with_backoff(client(), Local::new("2025-11-25", clock()), quick());
    let [mut first, mut second] = [(); 2].map(|()| Box::pin(client.list_tools()));
    for call in [&mut first, &mut second] {
        tokio::select! {
            biased;
            _ = call => panic!("it is connecting"),
            () = std::future::ready(()) => {}
        }
    }
    let third = timeout(PATIENCE, client.list_tools()).await;
    assert_eq!(third.expect("nothing holds it up").unwrap().len(), 1);
}

#[tokio::test]
async fn calls_can_be_made_in_a_spawned_task() {
    let server = Local::new("2025-11-25", clock());
    let one = ReconnectingClient::with_backoff(client(), server.clone(), quick());
    let many = Clients::new(client(), [("clock".to_owned(), server)]).unwrap();
    let called = tokio::spawn(async move {
        let called = [one.call_tool("time", ()).await, many.call_tool("clock_time", ()).await];
        let got = [one.get_prompt("none", ()).await, many.get_prompt("none", ()).await];
        let read = [one.read_resource("a:b").await, many.read_resource("a:b").await];
        (
            called.map(|it| it.is_ok()),
            got.map(|it| it.is_ok()),
            read.map(|it| it.is_ok()),
        )
    });
    assert_eq!(called.await.unwrap(), ([true; 2], [false; 2], [false; 2]));
}

#[tokio::test(start_paused = true)]
async fn only_calls_of_read_only_tools_are_repeated() {
    let reads = hub::ToolAnnotations::default().with_read_only_hint(true);
    let called = Arc::new(AtomicUsize::new(0));
    let server = Local::new("2025-11-25", Router::new("files", "1.0"));
    // The server ends when a tool is called for the first time.
    let dying = |server: &Local, called: &Arc<AtomicUsize>| {
        let (server, called) = (server.clone(), Arc::clone(called));
        move || {
            let (server, called) = (server.clone(), Arc::clone(&called));
            async move {
                if called.fetch_add(1, Ordering::SeqCst) == 0 {
                    server.end(false);
                    std::future::pending::<()>().await;
                }
                "done"
            }
        }
    };
    let read = tool("read", "Reads", dying(&server, &called)).annotations(reads);
    server.router.insert(read).unwrap();
    server
        .router
        .insert(tool("write", "Writes", dying(&server, &called)))
        .unwrap();
    for (name, is_repeated) in [("read", true), ("write", false)] {
        called.store(0, Ordering::SeqCst);
        let options = Options {
            limits: mcp_runtime::Limits {
                close_timeout: Duration::from_millis(10),
                ..Default::default()
            },
            ..Options::default()
        };
        let client = ReconnectingClient::with_backoff(client().options(options), server.clone(), quick());
        client.list_tools().await.unwrap();
        let result = timeout(PATIENCE, client.call_tool(name, ())).await.unwrap();
        assert_eq!(result.is_ok(), is_repeated, "{name}: {result:?}");
        assert_eq!(called.load(Ordering::SeqCst), 1 + usize::from(is_repeated));
        client.close().await;
    }
}

#[tokio::test]
async fn a_call_to_an_unreachable_server_fails_after_all_attempts() {
    let server = Local::new("2025-11-25", clock());
    server.end(true);
    let client = ReconnectingClient::with_backoff(client(), server.clone(), quick().attempts(3));
    let error = timeout(PATIENCE, client.list_tools()).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the session has ended");
    server.end(false);
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_change_stream_continues_in_the_next_session_and_reports_changes() {
    for revision in REVISIONS {
        let server = Local::new(revision, clock());
        let client = ReconnectingClient::with_backoff(client(), server.clone(), quick());
        let mut changes = client.changes(ChangeFilter::lists());
        client.list_tools().await.unwrap();
        // The subscription may take a moment.
        let told = async {
            loop {
                server.router.tools_changed();
                let change = timeout(Duration::from_millis(20), changes.next()).await;
                if let Ok(Some(change)) = change {
                    break change.unwrap();
                }
            }
        };
        assert_eq!(timeout(PATIENCE, told).await.unwrap(), Change::ToolList, "{revision}");
        server.end(false);
        let again = async {
            while server.started.load(Ordering::SeqCst) < 2 {
                changes.next().await.unwrap().unwrap();
            }
        };
        timeout(PATIENCE, again).await.expect("it reports a change");
        client.close().await;
        let ended = async { while changes.next().await.is_some() {} };
        timeout(PATIENCE, ended).await.expect("it ends with the client");
    }
}

#[tokio::test(start_paused = true)]
async fn clients_combine_many_servers_and_report_failures() {
    let away = Local::new("2025-06-18", clock());
    away.end(true);
    let notes = Router::new("notes", "1.0")
        .tool("time", "Tells when a note was written", || "yesterday")
        .with(resource(hub::Resource::new("Today", "notes://today"), || "Buy bread"));
    let servers = [
        ("away", away),
        ("clock", Local::new("2025-11-25", clock())),
        ("notes", Local::new("2026-07-28", notes)),
    ];
    let servers = servers.map(|(name, server)| (name.to_owned(), server));
    let clients = Clients::new(client(), servers.clone()).unwrap();
    let failed = clients.connect().await;
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].to_string(), r#"server "away": the session has ended"#);

    let tools = clients.list_tools().await;
    let names: Vec<_> = tools.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["clock_time", "notes_time"]);
    assert_eq!(tools.failures.len(), 1);
    let result = clients.call_tool("notes_time", json!({})).await.unwrap();
    assert_eq!(json!(result.content)[0]["text"], "yesterday");
    let contents = clients.read_resource("notes://today").await.unwrap();
    assert_eq!(json!(contents.contents)[0]["text"], "Buy bread");
    let unknown = clients.call_tool("time", json!({})).await.unwrap_err().to_string();
    assert!(unknown.contains(r#"no server has the tool "time""#), "{unknown}");

    let mut answered = Vec::new();
    for (name, client) in clients.servers() {
        answered.push((name, client.list_tools().await.is_ok()));
    }
    assert_eq!(answered, [("away", false), ("clock", true), ("notes", true)]);

    let flat = Clients::new(client(), servers).unwrap().flat().unwrap();
    let names: Vec<_> = flat
        .list_tools()
        .await
        .items
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["time"]);
    let result = flat.call_tool("time", json!({})).await.unwrap();
    assert_eq!(json!(result.content)[0]["text"], "noon");
    clients.close().await;
    flat.close().await;
}

#[tokio::test]
async fn equal_resource_uris_of_two_servers_are_distinguished() {
    let notes = |name: &'static str| {
        let today = hub::Resource::new("Today", "notes://today");
        let router = Router::new(name, "1.0").with(resource(today, move || name));
        Local::new("2025-11-25", router)
    };
    let (home, work) = (notes("home"), notes("work"));
    let servers = [("home".to_owned(), home.clone()), ("work".to_owned(), work.clone())];
    for (prefixes_all, first) in [(false, "notes://today"), (true, "notes://home/today")] {
        let mut clients = Clients::new(client(), servers.clone()).unwrap();
        if prefixes_all {
            clients = clients.prefix_uris();
        }
        let listed: Vec<_> = clients.list_resources().await.items;
        let uris: Vec<_> = listed.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, [first, "notes://work/today"]);
        for (uri, expected) in uris.iter().zip(["home", "work"]) {
            let contents = json!(clients.read_resource(uri).await.unwrap().contents);
            assert_eq!(
                (&contents[0]["text"], &contents[0]["uri"]),
                (&json!(expected), &json!(uri))
            );
        }
        let mut changes = clients.changes(&ChangeFilter::default().with_resource("notes://work/today"));
        let told = async {
            loop {
                home.router.resource_updated("notes://today");
                work.router.resource_updated("notes://today");
                if let Ok(change) = timeout(Duration::from_millis(20), changes.recv()).await {
                    break change.unwrap();
                }
            }
        };
        let (server, change) = timeout(PATIENCE, told).await.unwrap();
        assert_eq!(server, "work");
        assert_eq!(change.unwrap(), Change::Resource("notes://work/today".into()));
        clients.close().await;
    }
}

#[tokio::test]
async fn connecting_with_a_stored_discovery_saves_messages() {
    for revision in REVISIONS {
        let connect = async |discovery: Option<Discovery>| {
            let (server, transport) = channel(16);
            drop(clock().serve(speaking(revision), server));
            let sent = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&sent);
            let transport = inspect(transport, move |way, _| {
                let is_sent = way == mcp_runtime::transport::MessageDirection::Sent;
                count.fetch_add(usize::from(is_sent), Ordering::SeqCst);
            });
            let options = Options {
                discovery,
                ..Options::default()
            };
            let session = client().options(options).connect(transport).await.unwrap();
            let messages = sent.load(Ordering::SeqCst);
            assert_eq!(session.list_tools().await.unwrap().len(), 1);
            (session.discovery(), messages)
        };
        let (discovery, asked) = connect(None).await;
        let kept: Discovery = serde_json::from_str(&json!(discovery).to_string()).unwrap();
        assert_eq!(kept, discovery);
        let (again, known) = connect(Some(kept)).await;
        assert_eq!(again, discovery);
        // A handshake takes a request and a notification; only the probe for the server's era is saved. Without a
        // stored discovery, a server that lacks the client's revision is probed again.
        let spoken = crate::many_servers::revision(revision);
        let expected = match spoken.has_handshake() {
            true => (3, 2),
            false => (1 + usize::from(spoken != Revision::HUB), 0),
        };
        assert_eq!((asked, known), expected, "{revision}");
    }
}
