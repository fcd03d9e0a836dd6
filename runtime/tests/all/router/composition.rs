//! Routers composed of other routers, filters that hide routes, and fallback handlers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_adapters::v2025_11_25::{ListTasksRequest, ListTasksResult};
use mcp_runtime::mcp_wire::{RawJson, Request};
use mcp_runtime::router::{CompletionRequest, ListEntry, prompt, resource, resource_template};
use mcp_runtime::{
    Args, CallError, CallServer, ClientSession, Context, ErrorObject, HandlerResult, Middleware, Next, Router,
    ServerHandler, ServerSide, State, UnknownMethod, error_code, hub,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{call, client_of, refused, text};

#[derive(Clone)]
struct Name(&'static str);

#[derive(Deserialize, JsonSchema)]
struct Day {
    day: String,
}

/// A router with a route of each kind.
fn routes(name: &'static str) -> Router {
    let days = hub::ResourceTemplate::new("Days", format!("{name}://{{day}}"));
    Router::new(name, "1.0")
        .with_state(Name(name))
        .tool("name", "Says its name", |State(name): State<Name>| name.0)
        .with(resource(hub::Resource::new("News", format!("{name}:news")), || "news"))
        .with(
            resource_template(days, |Args(Day { day }), State(name): State<Name>| {
                format!("{day} of {}", name.0)
            })
            .unwrap()
            .complete("day", |typed: CompletionRequest| vec![typed.value]),
        )
        .with(prompt(hub::Prompt::new("name"), |State(name): State<Name>| name.0))
}

async fn said(client: &ClientSession, tool: &str) -> Result<String, CallError> {
    let result = client.peer().call_tool(call(tool, json!({}))).await;
    result.map(|result| text(&result).to_owned())
}

async fn read(client: &ClientSession, uri: &str) -> Result<RawJson, CallError> {
    let result = client
        .peer()
        .read_resource(hub::ReadResourceRequestParams::new(uri))
        .await;
    result.map(|result| RawJson::from_serialize(&result.contents).unwrap())
}

/// The names of all tools.
async fn tools(client: &ClientSession) -> Vec<String> {
    let tools = client.peer().list_all::<hub::Tool>().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn merged_and_nested_routes_keep_the_state_of_their_router() {
    let router = Router::new("all", "1.0")
        .with_state(Name("all"))
        .tool("own", "Says its name", |State(name): State<Name>| name.0)
        .merge(&routes("a"))
        .nest("b/", &routes("b"));
    let (client, _heard) = client_of(&router).await;
    assert_eq!(tools(&client).await, ["b/name", "name", "own"]);
    for (tool, name) in [("own", "all"), ("name", "a"), ("b/name", "b")] {
        assert_eq!(said(&client, tool).await.unwrap(), name);
    }
    assert!(
        read(&client, "b://monday")
            .await
            .unwrap()
            .text()
            .contains("monday of b")
    );
    let got = client
        .peer()
        .get_prompt(hub::GetPromptRequestParams::new("b/name"))
        .await
        .unwrap();
    assert_eq!(json!(got.messages[0].content), json!({"type": "text", "text": "b"}));

    let twice = router.try_merge(&routes("a")).unwrap_err().to_string();
    assert!(twice.starts_with("the router has a tool `name` already"), "{twice}");
    let own = routes("a");
    let twice = own.clone().try_merge(&own).unwrap_err().to_string();
    assert!(twice.starts_with("the router has a tool `name` already"), "{twice}");
    let nested = own.clone().nest("own_", &Router::new("empty", "1.0"));
    assert_eq!(nested.capabilities(), own.capabilities());
}

#[tokio::test]
async fn a_route_that_a_filter_hides_is_unknown_to_the_client() {
    let shown = Arc::new(AtomicBool::new(false));
    let decides = Arc::clone(&shown);
    let hidden = routes("hidden").filter(move |_, context| {
        assert!(context.revision().is_some());
        decides.load(Ordering::Relaxed)
    });
    let router = Router::new("all", "1.0")
        .page_size(1)
        .tool("a", "Is seen", || "a")
        .tool("b", "Is not seen", || "b")
        .tool("c", "Is seen", || "c")
        .merge(&hidden)
        .filter(|route, _| !matches!(route, ListEntry::Tool(tool) if tool.name == "b"));
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    assert_eq!(tools(&client).await, ["a", "c"]);
    for tool in ["b", "name"] {
        let error = refused(said(&client, tool).await);
        assert_eq!(error.message, format!("Unknown tool: {tool}"));
    }
    for uri in ["hidden:news", "hidden://monday"] {
        assert_eq!(
            refused(read(&client, uri).await).code,
            hub::error_code::RESOURCE_NOT_FOUND
        );
    }
    let error = refused(peer.get_prompt(hub::GetPromptRequestParams::new("name")).await);
    assert_eq!(error.message, "Unknown prompt: name");
    let complete = async |uri: &str| {
        let argument = hub::CompleteRequestParamsArgument::new("day", "mon");
        let params = hub::CompleteRequestParams::new(argument, hub::ResourceTemplateReference::new(uri));
        peer.complete(params).await.map(|result| result.completion.values)
    };
    for uri in ["hidden://{day}", "hidden:news", "hidden://monday"] {
        assert_eq!(refused(complete(uri).await).code, hub::error_code::RESOURCE_NOT_FOUND);
    }

    shown.store(true, Ordering::Relaxed);
    assert_eq!(tools(&client).await, ["a", "c", "name"]);
    assert_eq!(said(&client, "name").await.unwrap(), "hidden");
    assert!(read(&client, "hidden:news").await.unwrap().text().contains("news"));
    assert_eq!(complete("hidden://{day}").await.unwrap(), ["mon"]);
    assert!(complete("hidden:news").await.unwrap().is_empty());
}

/// Records the methods that pass through it.
#[derive(Clone)]
struct Notebook {
    name: &'static str,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Middleware<ServerSide> for Notebook {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let note = format!("{} {}", self.name, request.method());
        self.notes.lock().unwrap().push(note);
        next.request(request, context).await
    }
}

/// Replaces every request with `tools/list`.
struct Replaces;

impl Middleware<ServerSide> for Replaces {
    async fn request(
        &self,
        _: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        next.request(hub::ListToolsRequest::default().into(), context).await
    }
}

#[tokio::test]
async fn middleware_of_a_nested_router_wraps_only_its_own_routes() {
    let notes = Arc::<Mutex<Vec<String>>>::default();
    let notebook = |name| Notebook {
        name,
        notes: Arc::clone(&notes),
    };
    let inner = routes("inner")
        .method(|_: ListTasksRequest| Ok::<_, String>(ListTasksResult::new(Vec::new())))
        .layer(notebook("inner"));
    let middle = Router::new("middle", "1.0")
        .nest("a/", &inner)
        .layer(notebook("middle"));
    let router = Router::new("outer", "1.0")
        .tool("own", "Is its own", || "own")
        .nest("b/", &middle)
        .merge(
            &Router::new("replacing", "1.0")
                .tool("replaced", "Is not called", || "called")
                .layer(Replaces),
        );
    let (client, _heard) = client_of(&router).await;
    let noted = |method: &str| {
        let expected = ["middle", "inner"].map(|name| format!("{name} {method}"));
        assert_eq!(std::mem::take(&mut *notes.lock().unwrap()), expected);
    };
    assert_eq!(said(&client, "own").await.unwrap(), "own");
    assert_eq!(tools(&client).await, ["b/a/name", "own", "replaced"]);
    assert!(notes.lock().unwrap().is_empty());
    assert_eq!(said(&client, "b/a/name").await.unwrap(), "inner");
    noted("tools/call");
    for uri in ["inner:news", "inner://monday"] {
        read(&client, uri).await.unwrap();
        noted("resources/read");
    }
    let prompt = hub::GetPromptRequestParams::new("b/a/name");
    client.peer().get_prompt(prompt).await.unwrap();
    noted("prompts/get");
    let argument = hub::CompleteRequestParamsArgument::new("day", "mon");
    let params = hub::CompleteRequestParams::new(argument, hub::ResourceTemplateReference::new("inner://{day}"));
    client.peer().complete(params).await.unwrap();
    noted("completion/complete");
    let error = refused(said(&client, "replaced").await);
    assert_eq!(error.code, error_code::INTERNAL_ERROR);

    let tasks = UnknownMethod::new(ListTasksRequest::METHOD);
    client.peer().call_unknown(tasks).await.unwrap();
    noted(ListTasksRequest::METHOD);
}

#[tokio::test]
async fn the_filter_of_a_nested_router_gets_names_without_the_prefix() {
    let hides = |hidden: &'static str| {
        move |entry: &ListEntry<'_>, _: &Context<ServerSide>| match entry {
            ListEntry::Tool(tool) => tool.name != hidden,
            ListEntry::Prompt(prompt) => prompt.name != hidden,
            _ => true,
        }
    };
    let inner = routes("inner")
        .tool("erase", "Erases", || "erased")
        .tools(|| vec![hub::Tool::new("drop", json!({"type": "object"}))], || "dropped")
        .filter(hides("erase"))
        .filter(hides("drop"));
    let middle = Router::new("middle", "1.0").nest("a/", &inner).filter(hides("a/name"));
    let router = Router::new("outer", "1.0").nest("b/", &middle).filter(hides("erase"));
    let (client, _heard) = client_of(&router).await;
    assert_eq!(tools(&client).await, [""; 0]);
    for tool in ["b/a/erase", "b/a/drop", "b/a/name"] {
        refused(said(&client, tool).await);
    }
    assert_eq!(client.peer().list_all::<hub::Prompt>().await.unwrap().len(), 0);
}

/// A handler with two tools, one on each page of its list, which answers every undeclared method.
struct Upstream;

impl ServerHandler<Context<ServerSide>> for Upstream {
    async fn list_tools(
        &self,
        params: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        let (name, next) = match params.cursor.as_deref() {
            None => ("first", Some("second".to_owned())),
            Some("second") => ("second", None),
            Some(_) => return Err(ErrorObject::new(error_code::INVALID_PARAMS, "Invalid cursor")),
        };
        let mut page = hub::ListToolsResult::new(vec![hub::Tool::new(name, json!({"type": "object"}))]);
        page.next_cursor = next;
        Ok(page)
    }

    async fn call_tool(
        &self,
        params: hub::CallToolRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::AnyCallToolResult, ErrorObject> {
        let content = hub::TextContent::new(format!("upstream {}", params.name));
        Ok(hub::CallToolResult::new(vec![content.into()]).into())
    }

    async fn unknown_request(&self, request: UnknownMethod, _: &Context<ServerSide>) -> Result<RawJson, ErrorObject> {
        Ok(json!({"method": request.method}).into())
    }
}

#[tokio::test]
async fn a_fallback_answers_requests_that_the_router_has_no_route_for() {
    let tools_capability = json!({"tools": {}, "experimental": {"example": {}}});
    let tools_capability = RawJson::from(tools_capability).decode_as().unwrap();
    let router = Router::new("front", "1.0")
        .page_size(1)
        .fallback(tools_capability, Upstream);
    let (client, _heard) = client_of(&router).await;
    assert_eq!(tools(&client).await, ["first", "second"]);

    let router = router
        .tool("own", "Is its own", || "own")
        .tool("too", "Is its own", || "own too");
    assert_eq!(tools(&client).await, ["own", "too", "first", "second"]);
    let capabilities = json!({"tools": {"listChanged": true}, "experimental": {"example": {}}});
    assert_eq!(json!(router.capabilities()), capabilities);
    assert_eq!(said(&client, "own").await.unwrap(), "own");
    assert_eq!(said(&client, "first").await.unwrap(), "upstream first");
    let custom = client
        .peer()
        .call_unknown(UnknownMethod::new("example/custom"))
        .await
        .unwrap();
    assert_eq!(custom, json!({"method": "example/custom"}).into());
    // The fallback has no prompts.
    let router = router.with(prompt(hub::Prompt::new("own"), || "own"));
    let (client, _heard) = client_of(&router).await;
    let error = refused(
        client
            .peer()
            .get_prompt(hub::GetPromptRequestParams::new("first"))
            .await,
    );
    assert_eq!(error.message, "Unknown prompt: first");
}

#[tokio::test]
async fn lists_of_the_router_are_unchanged_if_the_fallback_has_no_such_list() {
    let tools = RawJson::from(json!({"tools": {}})).decode_as().unwrap();
    // This fallback declares resources, but answers "method not found" to requests for their lists.
    let resources = RawJson::from(json!({"resources": {}})).decode_as().unwrap();
    let params = hub::PaginatedRequestParams::default;
    for capabilities in [tools, resources] {
        let router = routes("own").fallback(capabilities, Upstream);
        let (client, _heard) = client_of(&router).await;
        let peer = client.peer();
        let prompts = peer.list_prompts(params()).await.unwrap();
        assert_eq!((prompts.prompts.len(), prompts.next_cursor), (1, None));
        let resources = peer.list_resources(params()).await.unwrap();
        assert_eq!((resources.resources.len(), resources.next_cursor), (1, None));
        let templates = peer.list_resource_templates(params()).await.unwrap();
        assert_eq!((templates.resource_templates.len(), templates.next_cursor), (1, None));
    }
    let resources = RawJson::from(json!({"resources": {}})).decode_as().unwrap();
    let router = routes("own").page_size(1).fallback(resources, Upstream);
    let (client, _heard) = client_of(&router).await;
    assert_eq!(client.peer().list_all::<hub::Resource>().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_last_page_of_a_router_is_filled_with_items_of_its_fallback() {
    let capabilities = RawJson::from(json!({"tools": {}})).decode_as().unwrap();
    let router = routes("own")
        .page_size(2)
        .cache(Duration::from_secs(60), hub::CacheScope::Public)
        .fallback(capabilities, Upstream);
    let (client, _heard) = client_of(&router).await;
    let page = client
        .peer()
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap();
    let names: Vec<_> = page.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["name", "first"]);
    // The page can be cached no longer than the fallback's part of it.
    assert_eq!((page.ttl_ms, page.cache_scope), (0, hub::CacheScope::Private));
    let params = hub::PaginatedRequestParams::default().with_cursor(page.next_cursor.unwrap());
    let page = client.peer().list_tools(params).await.unwrap();
    let names: Vec<_> = page.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!((names, page.next_cursor), (vec!["second"], None));
}

/// A handler whose list of tools is an error.
struct Broken;

impl ServerHandler<Context<ServerSide>> for Broken {
    async fn list_tools(
        &self,
        _: hub::PaginatedRequestParams,
        _: &Context<ServerSide>,
    ) -> Result<hub::ListToolsResult, ErrorObject> {
        Err(ErrorObject::new(error_code::INTERNAL_ERROR, "upstream is down"))
    }
}

#[tokio::test]
async fn an_error_of_the_fallback_comes_on_the_page_after_the_routers_items() {
    let capabilities = RawJson::from(json!({"tools": {}})).decode_as().unwrap();
    let router = routes("own").fallback(capabilities, Broken);
    let (client, _heard) = client_of(&router).await;
    let page = client
        .peer()
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap();
    assert_eq!(page.tools[0].name, "name");
    let params = hub::PaginatedRequestParams::default().with_cursor(page.next_cursor.unwrap());
    let error = refused(client.peer().list_tools(params).await);
    assert_eq!(error.message, "upstream is down");
}

#[tokio::test]
async fn a_router_can_be_the_fallback_of_another_router() {
    let inner = routes("inner");
    let capabilities = inner.capabilities();
    let router = Router::new("outer", "1.0")
        .tool("own", "Is its own", || "own")
        .fallback(capabilities, inner);
    let (client, _heard) = client_of(&router).await;
    assert_eq!(tools(&client).await, ["own", "name"]);
    assert_eq!(said(&client, "name").await.unwrap(), "inner");
    assert!(
        read(&client, "inner://monday")
            .await
            .unwrap()
            .text()
            .contains("monday of inner")
    );
    assert_eq!(refused(said(&client, "nobody").await).message, "Unknown tool: nobody");
}

#[tokio::test]
async fn a_route_hides_what_the_fallback_has_under_the_same_name_on_every_page() {
    let inner = Router::new("inner", "1.0")
        .tool("a", "Is the fallback's", || "fallback")
        .tool("b", "Is only the fallback's", || "fallback")
        .tool("c", "Is the fallback's", || "fallback")
        .page_size(1);
    for page_size in [1, 2, 10] {
        let router = Router::new("outer", "1.0")
            .tool("a", "Is its own", || "own")
            .tool("c", "Is its own", || "own")
            .page_size(page_size)
            .fallback(inner.capabilities(), inner.clone());
        let (client, _heard) = client_of(&router).await;
        assert_eq!(tools(&client).await, ["a", "c", "b"], "{page_size}");
        assert_eq!(said(&client, "c").await.unwrap(), "own");
    }
}
