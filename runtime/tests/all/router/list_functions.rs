//! Tools, prompts and resources that functions list.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_runtime::mcp_wire::{RawObject, from_str};
use mcp_runtime::router::{ListEntry, Name, resource_template};
use mcp_runtime::{Args, CallServer, ClientSession, ErrorObject, Router, State, hub};
use serde_json::{Map, Value, json};

use super::{call, client_in, client_of, next, refused, text};
use mcp_adapters::Revision;

/// The queries that the server offers, which the tests change.
#[derive(Clone, Default)]
struct Queries(Arc<Mutex<BTreeMap<&'static str, &'static str>>>);

impl Queries {
    fn names(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().keys().copied().collect()
    }
}

fn list_tools(State(queries): State<Queries>) -> Vec<hub::Tool> {
    let schema = r#"{"type":"object","properties":{"limit":{"type":"integer"}},"required":["limit"]}"#;
    let schema: RawObject = from_str(schema).unwrap();
    let names = queries.names().into_iter();
    names.map(|name| hub::Tool::new(name, schema.clone())).collect()
}

async fn run(
    State(queries): State<Queries>,
    Name(name): Name,
    Args(arguments): Args<Map<String, Value>>,
) -> Result<String, String> {
    let query = queries.0.lock().unwrap().get(&*name).copied();
    let query = query.ok_or_else(|| format!("{name} is gone"))?;
    Ok(format!("{query} limit {}", arguments["limit"]))
}

fn list_prompts(State(queries): State<Queries>) -> Vec<hub::Prompt> {
    queries.names().into_iter().map(hub::Prompt::new).collect()
}

fn explain(Name(name): Name) -> String {
    format!("Explain {name}")
}

fn list_resources(State(queries): State<Queries>) -> Result<Vec<hub::Resource>, ErrorObject> {
    let names = queries.names().into_iter();
    if names.len() == 0 {
        return Err(ErrorObject::new(-32050, "no queries"));
    }
    Ok(names
        .map(|name| hub::Resource::new(name, format!("query://{name}")))
        .collect())
}

fn queries(names: &[&'static str]) -> Queries {
    let queries = names.iter().map(|name| (*name, "select"));
    Queries(Arc::new(Mutex::new(queries.collect())))
}

/// A router that lists queries as tools, prompts and resources, two on a page.
fn router(queries: &Queries) -> Router {
    let template = hub::ResourceTemplate::new("Queries", "query://{name}");
    Router::new("queries", "1.0")
        .page_size(2)
        .with_state(queries.clone())
        .tools(list_tools, run)
        .prompts(list_prompts, explain)
        .resources(list_resources)
        .with(resource_template(template, || "a query").unwrap())
}

async fn tools(client: &ClientSession) -> Vec<String> {
    let tools = client.list_tools().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn tools_listed_by_a_function_are_paged_with_the_others_and_called_by_name() {
    let queries = queries(&["a", "c", "d"]);
    let router = router(&queries)
        .tool("b", "Own", || "own")
        .tool("c", "Own", |Name(name): Name| name);
    for revision in Revision::ALL {
        let (client, _heard) = client_in(revision, &router).await;
        assert_eq!(tools(&client).await, ["a", "b", "c", "d"]);
        let first = client
            .peer()
            .list_tools(hub::PaginatedRequestParams::default())
            .await
            .unwrap();
        assert_eq!(first.tools.len(), 2, "{revision}");

        let called = async |name, arguments| client.peer().call_tool(call(name, arguments)).await;
        assert_eq!(text(&called("a", json!({"limit": 5})).await.unwrap()), "select limit 5");
        assert_eq!(
            text(&called("c", json!({})).await.unwrap()),
            "c",
            "the tool that was added takes precedence"
        );
        assert!(
            refused(called("e", json!({})).await)
                .message
                .contains("Unknown tool: e")
        );
    }
    let (client, _heard) = client_of(&router).await;
    let invalid = client
        .peer()
        .call_tool(call("a", json!({"limit": "all"})))
        .await
        .unwrap();
    assert_eq!(invalid.is_error, Some(true), "the listed schema is checked");
}

#[tokio::test]
async fn prompts_and_resources_are_listed_again_for_each_request() {
    let queries = queries(&["a"]);
    let router = router(&queries);
    let (client, mut heard) = client_of(&router).await;
    let prompt = client
        .peer()
        .get_prompt(hub::GetPromptRequestParams::new("a"))
        .await
        .unwrap();
    assert_eq!(json!(prompt.messages[0].content)["text"], "Explain a");

    queries.0.lock().unwrap().insert("b", "update");
    router.tools_changed();
    router.prompts_changed();
    router.resources_changed();
    let mut told = [next(&mut heard).await, next(&mut heard).await, next(&mut heard).await];
    told.sort();
    assert_eq!(told, ["prompts", "resources", "tools"]);
    assert_eq!(client.list_prompts().await.unwrap().len(), 2);
    assert_eq!(client.list_resources().await.unwrap().len(), 2);

    queries.0.lock().unwrap().clear();
    let error = refused(client.list_resources().await);
    assert_eq!((error.code, error.message.as_str()), (-32050, "no queries"));
    let gone = client.peer().get_prompt(hub::GetPromptRequestParams::new("a")).await;
    assert_eq!(refused(gone).message, "Unknown prompt: a");
}

#[tokio::test]
async fn nesting_a_router_prefixes_the_tools_that_its_function_lists() {
    let queries = queries(&["a", "hidden"]);
    let inner =
        router(&queries).filter(|listed, _| !matches!(listed, ListEntry::Tool(tool) if tool.name.ends_with("hidden")));
    let outer = Router::new("outer", "1.0").nest("db_", &inner);
    let (client, _heard) = client_of(&outer).await;
    assert_eq!(tools(&client).await, ["db_a"]);
    let result = client
        .peer()
        .call_tool(call("db_a", json!({"limit": 1})))
        .await
        .unwrap();
    assert_eq!(
        text(&result),
        "select limit 1",
        "the function gets the name without the prefix"
    );
    for unknown in ["db_hidden", "a"] {
        let error = refused(client.peer().call_tool(call(unknown, json!({}))).await);
        assert_eq!(error.message, format!("Unknown tool: {unknown}"));
    }
    assert_eq!(client.list_resources().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_listed_tool_with_an_invalid_schema_fails_only_its_own_calls() {
    let list = || {
        let schema = |text| from_str::<RawObject>(text).unwrap();
        vec![
            hub::Tool::new(
                "bad",
                schema(r#"{"type":"object","properties":{"a":{"type":"strange"}}}"#),
            ),
            hub::Tool::new("good", schema(r#"{"type":"object"}"#)),
        ]
    };
    let router = Router::new("test", "1.0").tools(list, || "called");
    let (client, _heard) = client_of(&router).await;
    let error = refused(client.peer().call_tool(call("bad", json!({}))).await);
    assert!(error.message.contains("the tool \"bad\" can't be called"), "{error:?}");
    assert_eq!(
        text(&client.peer().call_tool(call("good", json!({}))).await.unwrap()),
        "called"
    );
}

#[test]
fn list_functions_that_take_arguments_or_a_missing_state_are_refused() {
    let refusal = |refused: Result<Router, mcp_runtime::router::RouteError>| refused.unwrap_err().to_string();
    let empty = || Router::new("test", "1.0");
    let reason = refusal(empty().try_tools(list_tools, || ""));
    assert!(
        reason.contains("takes `State<all::router::list_functions::Queries>`"),
        "{reason}"
    );
    let arguments = |Args(_): Args<Map<String, Value>>| Vec::<hub::Resource>::new();
    let reason = refusal(empty().try_resources(arguments));
    assert!(reason.starts_with("the list of resources `*` takes `Args`"), "{reason}");
    let reason = refusal(empty().try_prompts(Vec::<hub::Prompt>::new, run).map(|_| empty()));
    assert!(reason.contains("takes `State<"), "{reason}");
}
