//! Our client and our server over real sockets, at every revision.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_runtime::router::{Call, ProgressReporter, resource};
use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
use mcp_runtime::transport::http::server::{HttpServer, MemoryStore, SessionRecord, SessionStore, StoreFuture, serve};
use mcp_runtime::{
    Args, CallClient, CallError, CallServer, Change, ChangeFilter, Changes, ClientHandler, ClientSession, ClientSide,
    Context, Era, ErrorObject, Options, Peer, Revision, Router, ServerSide, Structured, ToolError, connect, hub,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::common::{connect_to, session_revisions};

#[derive(Deserialize, JsonSchema)]
struct Place {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

fn weather() -> Router {
    let weather = |Args(place): Args<Place>, progress: ProgressReporter| async move {
        progress.report(1.0, None, None).await?;
        match place.city.as_str() {
            "Bern" => Ok(Structured(Weather { celsius: 21.5 })),
            city => Err(ToolError::tool(format!("no measurement for {city}"))),
        }
    };
    Router::new("weather", "1.0").tool("weather", "Get the current weather of a city", weather)
}

#[tokio::test]
async fn a_session_over_http_works_at_every_revision() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = HttpServer::from_fn(|transport, _| {
        let options = Options {
            supported: session_revisions(),
            ..Options::default()
        };
        weather().serve(options, transport);
    })
    .revisions(session_revisions());
    let server = tokio::spawn(serve(listener, app).into_future());
    for revision in session_revisions() {
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let session = connect_to(transport, options);
        let session = session.await.unwrap();
        assert_eq!(session.peer().revision(), Some(revision));
        let (progress, mut made) = tokio::sync::mpsc::channel(4);
        let peer = session.peer().clone().with_progress(progress);
        assert_eq!(
            peer.list_tools(hub::PaginatedRequestParams::default())
                .await
                .unwrap()
                .tools
                .len(),
            1
        );
        let params = hub::CallToolRequestParams::new("weather").with_arguments(json!({"city": "Bern"}));
        let result = peer.call_tool(params).await.unwrap();
        assert!(
            serde_json::to_string(&result.content).unwrap().contains("21.5"),
            "{result:?}"
        );
        assert!(made.try_recv().is_ok(), "progress at {revision}");
        let params = hub::CallToolRequestParams::new("weather").with_arguments(json!({"city": "Rome"}));
        assert_eq!(peer.call_tool(params).await.unwrap().is_error, Some(true));
        session.close().await;
    }
    server.abort();
}

#[tokio::test]
async fn changes_are_delivered_at_every_revision() {
    for revision in Revision::ALL {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = weather();
        let server = tokio::spawn(serve(listener, HttpServer::new(router.clone())).into_future());
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let session = connect_to(transport, options).await.unwrap();
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        assert!(changes.acknowledged().tool_list, "{revision}");
        router.remove_tool("weather");
        let change = tokio::time::timeout(Duration::from_secs(10), changes.next()).await;
        let change = change.unwrap_or_else(|_| panic!("no change in {revision}"));
        assert_eq!(change.unwrap().unwrap(), Change::ToolList);
        session.close().await;
        server.abort();
    }
}

/// A store that only finds the sessions that started since `known` was cleared.
#[derive(Clone, Default)]
struct Forgetful {
    memory: Arc<MemoryStore>,
    known: Arc<Mutex<HashSet<String>>>,
    /// Whether it finds no session at all.
    knows_none: Arc<AtomicBool>,
    begun: Arc<AtomicU32>,
}

impl SessionStore for Forgetful {
    fn create<'a>(&'a self, id: &'a str, record: SessionRecord, expiry: Duration) -> StoreFuture<'a, ()> {
        self.known.lock().unwrap().insert(id.to_owned());
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.memory.create(id, record, expiry)
    }

    fn touch<'a>(&'a self, id: &'a str, expiry: Duration) -> StoreFuture<'a, Option<SessionRecord>> {
        if !self.known.lock().unwrap().contains(id) || self.knows_none.load(Ordering::Relaxed) {
            return Box::pin(async { Ok(None) });
        }
        self.memory.touch(id, expiry)
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.memory.remove(id)
    }
}

/// A client that never finishes listing its roots, and records when the request is dropped.
struct Ponders(Arc<AtomicBool>);

struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl ClientHandler<Context<ClientSide>> for Ponders {
    async fn list_roots(
        &self,
        _: Option<hub::ListRootsRequestParams>,
        _: &Context<ClientSide>,
    ) -> Result<hub::ListRootsResult, ErrorObject> {
        let _ends = Ends(Arc::clone(&self.0));
        std::future::pending().await
    }
}

/// A client of a server with such a store, and the number of times that its session was renewed.
async fn of_forgetful(
    store: Forgetful,
    handler: impl ClientHandler<Context<ClientSide>> + 'static,
) -> (ClientSession, Arc<AtomicU32>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = HttpServer::from_fn(|transport, _| {
        let slow = || async {
            tokio::time::sleep(Duration::from_secs(600)).await;
            "done"
        };
        let ask = |client: Peer<ServerSide>| async move {
            let roots = client.list_roots(None).await?;
            Ok::<_, CallError>(format!("{} roots", roots.roots.len()))
        };
        let log = |call: Call| async move {
            for level in [hub::LoggingLevel::Info, hub::LoggingLevel::Error] {
                call.log(level, json!("logged")).await?;
            }
            call.router().resource_updated("test://news");
            Ok::<_, CallError>("logged")
        };
        let news = resource(hub::Resource::new("news", "test://news"), || "nothing");
        weather()
            .with(news)
            .tool("log", "Logs, and changes a resource", log)
            .tool("ask", "Asks for the roots", ask)
            .tool("slow", "Takes its time", slow)
            .serve(Options::default(), transport);
    })
    .store(store);
    tokio::spawn(serve(listener, app).into_future());
    let renewed = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&renewed);
    let options = HttpOptions::default().renewed(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let transport = HttpClient::new(&url, options).unwrap();
    let info = hub::Implementation::new("client", "1.0");
    let session = connect(
        handler,
        info,
        serde_json::from_value(json!({"roots": {}})).unwrap(),
        Options {
            era: Some(Era::Handshake),
            log_level: Some(hub::LoggingLevel::Error),
            ..Options::default()
        },
        transport,
    );
    (session.await.unwrap(), renewed)
}

fn tool(name: &str) -> hub::CallToolRequestParams {
    hub::CallToolRequestParams::new(name).with_arguments(json!({"city": "Bern"}))
}

#[tokio::test]
async fn calls_continue_in_a_renewed_session_after_the_old_one_has_expired() {
    let store = Forgetful::default();
    let (session, renewed) = of_forgetful(store.clone(), ()).await;
    for round in 1..=3 {
        let peer = session.peer().clone();
        let pending = tokio::spawn(async move { peer.call_tool(tool("slow")).await });
        // Long enough for it to be in flight.
        tokio::time::sleep(Duration::from_millis(100)).await;
        store.known.lock().unwrap().clear();
        let calls = (0..20).map(|_| {
            let peer = session.peer().clone();
            tokio::spawn(async move { peer.call_tool(tool("weather")).await })
        });
        for call in calls.collect::<Vec<_>>() {
            assert_eq!(call.await.unwrap().unwrap().is_error, None);
        }
        assert_eq!(renewed.load(Ordering::Relaxed), round);
        assert_eq!(store.begun.load(Ordering::Relaxed), round + 1);
        let failed = tokio::time::timeout(Duration::from_secs(5), pending)
            .await
            .expect("it fails at once");
        assert!(matches!(failed.unwrap(), Err(CallError::Peer(_))));
    }
    session.close().await;
}

#[tokio::test]
async fn a_session_ends_if_each_renewed_session_expires_at_once() {
    let store = Forgetful::default();
    let (session, _) = of_forgetful(store.clone(), ()).await;
    store.knows_none.store(true, Ordering::Relaxed);
    let calls = (0..20).map(|_| {
        let peer = session.peer().clone();
        tokio::spawn(async move { peer.call_tool(tool("weather")).await })
    });
    for call in calls.collect::<Vec<_>>() {
        let failed = tokio::time::timeout(Duration::from_secs(5), call)
            .await
            .expect("it ends");
        assert!(failed.unwrap().is_err());
    }
    tokio::time::timeout(Duration::from_secs(5), session.ended())
        .await
        .expect("the session ends");
    assert!(store.begun.load(Ordering::Relaxed) <= 2);
}

#[tokio::test]
async fn requests_of_the_server_in_an_expired_session_are_cancelled() {
    let (store, ended) = (Forgetful::default(), Arc::new(AtomicBool::new(false)));
    let (session, _) = of_forgetful(store.clone(), Ponders(Arc::clone(&ended))).await;
    let peer = session.peer().clone();
    let asking = tokio::spawn(async move { peer.call_tool(tool("ask")).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!ended.load(Ordering::Relaxed));
    store.known.lock().unwrap().clear();
    session.peer().call_tool(tool("weather")).await.unwrap();
    assert!(asking.await.unwrap().is_err());
    tokio::time::timeout(Duration::from_secs(5), async {
        while !ended.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the request for the roots is dropped");
}

/// A client that records the levels of log messages.
struct Listens(Arc<Mutex<Vec<hub::LoggingLevel>>>);

impl ClientHandler<Context<ClientSide>> for Listens {
    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        self.0.lock().unwrap().push(params.level);
    }
}

async fn next(changes: &mut Changes) -> Change {
    let next = tokio::time::timeout(Duration::from_secs(20), changes.next()).await;
    next.expect("it comes").expect("the stream continues").unwrap()
}

#[tokio::test]
async fn a_renewed_session_keeps_the_log_level_and_the_subscriptions() {
    let (store, levels) = (Forgetful::default(), Arc::new(Mutex::new(Vec::new())));
    let (session, renewed) = of_forgetful(store.clone(), Listens(Arc::clone(&levels))).await;
    let filter = ChangeFilter::default().with_resource("test://news");
    let mut changes = session.peer().changes(filter).await.unwrap();
    for round in 0..3 {
        session.peer().call_tool(tool("log")).await.unwrap();
        assert_eq!(next(&mut changes).await, Change::Resource("test://news".into()));
        assert_eq!(renewed.load(Ordering::Relaxed), round);
        store.known.lock().unwrap().clear();
        session.peer().call_tool(tool("weather")).await.unwrap();
        // A change before the subscription is renewed is lost, so this waits for the subscription and the log level.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    session.close().await;
    let levels = std::mem::take(&mut *levels.lock().unwrap());
    assert_eq!(levels, vec![hub::LoggingLevel::Error; 3]);
}

#[tokio::test]
async fn the_stream_of_changes_is_the_same_over_http_at_every_revision_that_has_one() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let news = resource(hub::Resource::new("news", "test://news"), || "nothing");
    let notes = Router::new("notes", "1.0").with(news);
    let served = notes.clone();
    let app = HttpServer::from_fn(move |transport, _| {
        let options = Options {
            supported: Revision::ALL.to_vec(),
            ..Options::default()
        };
        served.clone().serve(options, transport);
    })
    .revisions(Revision::ALL);
    let server = tokio::spawn(serve(listener, app).into_future());
    // Sessions of a revision without a standalone stream get changes only over HTTP with SSE, not here.
    let listening = |revision: &Revision| revision.facts().listening || !revision.facts().initializes;
    for revision in Revision::ALL.into_iter().filter(listening) {
        notes
            .insert(mcp_runtime::router::tool("add", "Adds a note", || "added"))
            .unwrap();
        let options = Options {
            supported: vec![revision],
            ..Options::default()
        };
        let transport = HttpClient::new(&url, HttpOptions::default()).unwrap();
        let session = connect_to(transport, options);
        let session = session.await.unwrap();
        let filter = ChangeFilter::lists()
            .with_resource("test://news")
            .with_resource("test://olds");
        let mut changes = session.peer().changes(filter).await.unwrap();
        let agreed = changes.acknowledged();
        assert!(
            agreed.tool_list && agreed.resource_list && !agreed.prompt_list,
            "{revision}"
        );
        assert_eq!(agreed.resources, ["test://news"], "{revision}");
        notes.resource_updated("test://news");
        assert_eq!(
            next(&mut changes).await,
            Change::Resource("test://news".into()),
            "{revision}"
        );
        notes.remove_tool("add");
        assert_eq!(next(&mut changes).await, Change::ToolList, "{revision}");
        session.close().await;
        assert!(
            !matches!(changes.next().await, Some(Ok(_))),
            "{revision}: the stream ends"
        );
    }
    server.abort();
}
