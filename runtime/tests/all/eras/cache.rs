//! Results that a client caches as long as the server declares them fresh, checked by the number of requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_runtime::mcp_wire::ErrorObject;
use mcp_runtime::router::{resource, resource_template};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CacheLimits, CallServer, ChangeFilter, ClientSession, Context, Options, Router, ServerHandler, ServerSession,
    ServerSide, hub, serve,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::common::connect_to;
use crate::eras::{PATIENCE, pipe, stateless};

/// A server whose lists have two pages, and which counts the requests that reach it.
struct Counting {
    requests: Arc<AtomicUsize>,
    ttl_ms: i64,
}

impl ServerHandler<Context<ServerSide>> for Counting {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mut result = hub::ListToolsResult::new(Vec::new()).with_ttl_ms(self.ttl_ms);
        result.next_cursor = params.cursor.is_none().then(|| "2".to_owned());
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: hub::ReadResourceRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::AnyReadResourceResult, ErrorObject> {
        self.requests.fetch_add(1, Ordering::SeqCst);
        let contents = hub::TextResourceContents::new("text", params.uri);
        let result = hub::ReadResourceResult::new(vec![contents.into()]);
        Ok(result.with_ttl_ms(self.ttl_ms).into())
    }
}

struct Pair {
    client: ClientSession,
    server: ServerSession,
    requests: Arc<AtomicUsize>,
}

fn options(cache: Option<CacheLimits>) -> Options {
    Options {
        supported: vec![stateless()],
        cache,
        ..Options::default()
    }
}

async fn connected(cache: Option<CacheLimits>, transport: impl mcp_runtime::transport::Transport) -> ClientSession {
    let connecting = connect_to(transport, options(cache));
    connecting.await.expect("there is a session")
}

async fn pair(ttl_ms: i64, cache: Option<CacheLimits>) -> Pair {
    let requests = Arc::new(AtomicUsize::new(0));
    let counting = Counting {
        requests: Arc::clone(&requests),
        ttl_ms,
    };
    let (server, client) = channel(16);
    let info = hub::Implementation::new("counting", "1.0");
    let resources = hub::ServerCapabilitiesResources::default().with_subscribe(true);
    let tools = hub::ServerCapabilitiesTools::default().with_list_changed(true);
    let capabilities = hub::ServerCapabilities::default()
        .with_tools(tools)
        .with_resources(resources);
    let server = serve(counting, info, capabilities, None, options(None), server);
    let client = connected(cache, client).await;
    Pair {
        client,
        server,
        requests,
    }
}

impl Pair {
    /// The number of requests that listing a page needs.
    async fn list(&self, cursor: Option<&str>) -> usize {
        let before = self.requests.load(Ordering::SeqCst);
        let params = hub::PaginatedRequestParams {
            cursor: cursor.map(str::to_owned),
            ..hub::PaginatedRequestParams::default()
        };
        let listed = self.client.peer().list_tools(params).await.expect("there is a list");
        assert_eq!(listed.next_cursor.is_some(), cursor.is_none());
        self.requests.load(Ordering::SeqCst) - before
    }

    /// The number of requests that reading a resource needs.
    async fn read(&self, params: hub::ReadResourceRequestParams) -> usize {
        let before = self.requests.load(Ordering::SeqCst);
        let read = self.client.peer().read_resource(params).await;
        read.expect("there are contents");
        self.requests.load(Ordering::SeqCst) - before
    }
}

fn uri(uri: &str) -> hub::ReadResourceRequestParams {
    hub::ReadResourceRequestParams::new(uri)
}

#[tokio::test]
async fn nothing_is_cached_by_default_or_without_a_positive_ttl() {
    for (ttl_ms, cache) in [
        (60_000, None),
        (0, Some(CacheLimits::default())),
        (-1, Some(CacheLimits::default())),
    ] {
        let pair = pair(ttl_ms, cache).await;
        assert_eq!((pair.list(None).await, pair.list(None).await), (1, 1), "{ttl_ms}");
    }
}

#[tokio::test]
async fn fresh_results_of_each_page_and_resource_are_not_requested_again() {
    for ttl_ms in [60_000, i64::MAX] {
        let pair = pair(ttl_ms, Some(CacheLimits::default())).await;
        assert_eq!((pair.list(None).await, pair.list(None).await), (1, 0));
        assert_eq!((pair.list(Some("2")).await, pair.list(Some("2")).await), (1, 0));
        assert_eq!(
            (pair.read(uri("test://a")).await, pair.read(uri("test://a")).await),
            (1, 0)
        );
        assert_eq!(pair.read(uri("test://b")).await, 1);
        assert_eq!(pair.list(None).await, 0);
    }
}

#[tokio::test]
async fn cached_results_expire_after_the_ttl_or_the_limit_of_the_client() {
    let short = CacheLimits {
        fresh: Duration::from_millis(20),
        ..CacheLimits::default()
    };
    for (ttl_ms, limits) in [(20, CacheLimits::default()), (60_000, short)] {
        let pair = pair(ttl_ms, Some(limits)).await;
        assert_eq!(pair.list(None).await, 1);
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(pair.list(None).await, 1);
    }
}

#[tokio::test]
async fn a_change_evicts_only_the_results_that_have_changed() {
    let pair = pair(60_000, Some(CacheLimits::default())).await;
    let filter = ChangeFilter::lists().with_resource("test://a");
    let mut changes = pair.client.peer().changes(filter).await.expect("there are changes");
    for uris in ["test://a", "test://b"] {
        assert_eq!(pair.read(uri(uris)).await, 1);
    }
    assert_eq!((pair.list(None).await, pair.list(Some("2")).await), (1, 1));

    let params = hub::ResourceUpdatedNotificationParams::new("test://a");
    let updated = hub::ResourceUpdatedNotification::new(params);
    let notified = pair.server.peer().notify(updated.into()).await;
    notified.expect("it is sent");
    let change = timeout(PATIENCE, changes.next()).await.expect("it comes");
    assert!(matches!(change, Some(Ok(_))));
    assert_eq!(
        (pair.read(uri("test://a")).await, pair.read(uri("test://b")).await),
        (1, 0)
    );
    assert_eq!(pair.list(None).await, 0);

    let changed = hub::ToolListChangedNotification::default();
    pair.server.peer().notify(changed.into()).await.expect("it is sent");
    let change = timeout(PATIENCE, changes.next()).await.expect("it comes");
    assert!(matches!(change, Some(Ok(_))));
    assert_eq!((pair.list(None).await, pair.list(Some("2")).await), (1, 1));
    assert_eq!(pair.read(uri("test://b")).await, 0);
}

#[tokio::test]
async fn a_result_that_took_several_rounds_is_not_cached() {
    let (transport, mut server) = pipe();
    let connecting = tokio::spawn(connected(Some(CacheLimits::default()), transport));
    let respond = |asked: &Value, result: Value| json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    let asked = server.receive().await;
    let discovered = json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "supportedVersions": [stateless().as_str()],
        "capabilities": {"resources": {}},
    });
    server.send(respond(&asked, discovered)).await;
    let client = connecting.await.expect("no panic");
    let contents = json!([{"uri": "test://a", "text": "text"}]);
    for _ in 0..2 {
        let peer = client.peer().clone();
        let reading = tokio::spawn(async move { peer.read_resource(uri("test://a")).await });
        let asked = server.receive().await;
        assert_eq!(asked["params"]["requestState"], Value::Null, "it is the first round");
        let more = json!({"resultType": "input_required", "requestState": "sealed"});
        server.send(respond(&asked, more)).await;
        let asked = server.receive().await;
        assert_eq!(asked["params"]["requestState"], "sealed");
        let read = json!({
            "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public", "contents": contents,
        });
        server.send(respond(&asked, read)).await;
        reading.await.expect("no panic").expect("there are contents");
    }
}

#[tokio::test]
async fn cached_results_are_limited_in_number_and_in_bytes() {
    let one = CacheLimits {
        entries: 1,
        ..CacheLimits::default()
    };
    let small = CacheLimits {
        bytes: 64,
        ..CacheLimits::default()
    };
    let none = CacheLimits {
        entries: 0,
        ..CacheLimits::default()
    };
    for (limits, kept) in [(one, true), (small, false), (none, false)] {
        let pair = pair(60_000, Some(limits)).await;
        assert_eq!(pair.read(uri("test://a")).await, 1);
        assert_eq!(pair.read(uri("test://a")).await, usize::from(!kept));
        assert_eq!(pair.read(uri("test://b")).await, 1);
        assert_eq!(pair.read(uri("test://a")).await, 1, "another result has replaced it");
    }
}

#[tokio::test]
async fn a_router_declares_how_long_lists_and_resources_are_fresh() {
    let minute = Duration::from_secs(60);
    let kept = resource(hub::Resource::new("kept", "test://kept"), || "kept");
    let template = hub::ResourceTemplate::new("each", "test://each/{name}");
    let template = resource_template(template, || "each").expect("it is one");
    let router = Router::new("cached", "1.0")
        .cache(minute, hub::CacheScope::Public)
        .tool("add", "Adds a note", || "added")
        .with(kept.cache(Duration::MAX, hub::CacheScope::Private))
        .with(template.cache(minute, hub::CacheScope::Public))
        .with(resource(hub::Resource::new("other", "test://other"), || "other"));
    let (server, client) = channel(16);
    let _server = router.serve(options(None), server);
    let client = connected(None, client).await;
    let peer = client.peer();
    let listed = peer.list_tools(hub::PaginatedRequestParams::default()).await;
    let listed = listed.expect("there is a list");
    assert_eq!((listed.ttl_ms, listed.cache_scope), (60_000, hub::CacheScope::Public));
    for (name, ttl_ms, scope) in [
        ("test://kept", (1_i64 << 53) - 1, "private"),
        ("test://each/one", 60_000, "public"),
        ("test://other", 0, "private"),
    ] {
        let read = peer.read_resource(uri(name)).await.expect("there are contents");
        let read = serde_json::to_value(&read).expect("it is JSON");
        assert_eq!(
            (&read["ttlMs"], &read["cacheScope"]),
            (&json!(ttl_ms), &json!(scope)),
            "{name}"
        );
    }
}
