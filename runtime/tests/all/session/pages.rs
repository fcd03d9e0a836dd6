//! Lists of a peer as streams.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_core::Stream;
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallError, ClientSession, Context, ErrorObject, Limits, Options, Revision, ServerHandler, ServerSide, connect,
    error_code, hub, serve,
};
use serde_json::json;

use crate::common::session_revisions;

/// A server whose lists have pages, each with two tools; the cursor is the number of the page.
struct Pages {
    /// Returns the number of the page after this one, if there is one.
    next: fn(usize) -> Option<usize>,
    asked: Arc<AtomicUsize>,
}

impl ServerHandler<Context<ServerSide>> for Pages {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let cursor = params.cursor;
        let page: usize = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        if page == 13 {
            return Err(ErrorObject::new(error_code::INVALID_PARAMS, "unlucky"));
        }
        let tool = |half| hub::Tool::new(format!("{page}{half}"), json!({"type": "object"}));
        let mut result = hub::ListToolsResult::new(vec![tool("a"), tool("b")]);
        result.next_cursor = (self.next)(page).map(|next| next.to_string());
        Ok(result)
    }

    async fn list_resources(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourcesResult, ErrorObject> {
        Ok(hub::ListResourcesResult::new(vec![hub::Resource::new(
            "one",
            "test://one",
        )]))
    }

    async fn list_resource_templates(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListResourceTemplatesResult, ErrorObject> {
        let template = hub::ResourceTemplate::new("any", "test://{id}");
        Ok(hub::ListResourceTemplatesResult::new(vec![template]))
    }

    async fn list_prompts(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListPromptsResult, ErrorObject> {
        Ok(hub::ListPromptsResult::new(vec![hub::Prompt::new("greet")]))
    }
}

/// A client of such a server, and the number of pages that were requested.
async fn client(revision: Revision, next: fn(usize) -> Option<usize>) -> (ClientSession, Arc<AtomicUsize>) {
    client_of(revision, next, json!({"tools": {}, "resources": {}, "prompts": {}})).await
}

async fn client_of(
    revision: Revision,
    next: fn(usize) -> Option<usize>,
    capabilities: serde_json::Value,
) -> (ClientSession, Arc<AtomicUsize>) {
    let (server_end, client_end) = channel(16);
    let capabilities = serde_json::from_value(capabilities).unwrap();
    let info = hub::Implementation::new("pages", "1.0");
    let asked = Arc::new(AtomicUsize::new(0));
    let handler = Pages {
        next,
        asked: Arc::clone(&asked),
    };
    let options = Options {
        supported: session_revisions(),
        ..Options::default()
    };
    serve(handler, info.clone(), capabilities, None, options, server_end);
    let options = Options {
        supported: vec![revision],
        limits: Limits {
            pages: 20,
            ..Limits::default()
        },
        ..Options::default()
    };
    let session = connect((), info, hub::ClientCapabilities::default(), options, client_end);
    (session.await.unwrap(), asked)
}

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

/// Collects the items and the error of a stream, and checks that it stays ended.
async fn all<T>(mut stream: impl Stream<Item = Result<T, CallError>> + Unpin) -> (Vec<T>, Option<CallError>) {
    let (mut items, mut error) = (Vec::new(), None);
    while let Some(item) = next(&mut stream).await {
        assert!(error.is_none(), "nothing comes after an error");
        match item {
            Ok(item) => items.push(item),
            Err(failed) => error = Some(failed),
        }
    }
    assert!(next(&mut stream).await.is_none());
    (items, error)
}

#[tokio::test]
async fn a_list_is_a_stream_over_its_pages_at_every_revision() {
    for revision in session_revisions() {
        let (client, asked) = client(revision, |page| (page < 2).then_some(page + 1)).await;
        let (tools, error) = all(client.peer().list::<hub::Tool>()).await;
        assert!(error.is_none(), "{error:?}");
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["0a", "0b", "1a", "1b", "2a", "2b"]);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert_eq!(all(client.peer().list::<hub::Resource>()).await.0[0].uri, "test://one");
        let templates = all(client.peer().list::<hub::ResourceTemplate>()).await.0;
        assert_eq!(templates[0].uri_template, "test://{id}");
        assert_eq!(all(client.peer().list::<hub::Prompt>()).await.0[0].name, "greet");
    }
}

#[tokio::test]
async fn a_page_is_requested_only_after_the_previous_one_has_been_read() {
    let (client, asked) = client(Revision::V2025_11_25, |page| Some(page + 1)).await;
    let mut tools = client.peer().list::<hub::Tool>();
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    for (items, pages) in [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)] {
        assert!(matches!(next(&mut tools).await, Some(Ok(_))));
        assert_eq!(asked.load(Ordering::Relaxed), pages, "after {items}");
    }
}

#[tokio::test]
async fn an_endless_list_ends_with_an_error() {
    let circle = |page: usize| Some((page + 1) % 4);
    let endless = |page: usize| Some(page + if page == 12 { 2 } else { 1 });
    for (list, pages, why) in [
        (circle as fn(usize) -> _, 5, "repeats the cursor"),
        (endless, 20, "too many"),
    ] {
        let (client, asked) = client(Revision::V2025_11_25, list).await;
        let (tools, error) = all(client.peer().list::<hub::Tool>()).await;
        assert!(matches!(error, Some(CallError::InvalidResult(reason)) if reason.contains(why)));
        assert_eq!(asked.load(Ordering::Relaxed), pages);
        assert_eq!(tools.len(), 2 * pages, "the items that came before are there");
    }
}

#[tokio::test]
async fn a_page_that_fails_ends_the_list() {
    let (client, _) = client(Revision::V2025_11_25, |page| Some(page + 1)).await;
    let (tools, error) = all(client.peer().list::<hub::Tool>()).await;
    assert_eq!(tools.len(), 26);
    assert!(matches!(error, Some(CallError::Peer(error)) if error.message == "unlucky"));
}

#[tokio::test]
async fn a_list_that_the_peer_does_not_offer_is_an_error() {
    let (client, _) = client_of(Revision::V2025_11_25, |_| None, json!({"tools": {}})).await;
    let (resources, error) = all(client.peer().list::<hub::Resource>()).await;
    assert!(resources.is_empty());
    assert!(matches!(error, Some(CallError::NotOffered { .. })), "{error:?}");
}
