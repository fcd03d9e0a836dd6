//! The router: tools, resources, prompts, and notifications of their changes.

mod composition;
mod extensions;
mod extractors;
mod list_functions;
mod lists;
mod methods;
mod notifications;
mod registration;
mod shared;
mod tasks;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mcp_adapters::v2025_11_25;
use mcp_runtime::router::{
    Call, CompletionRequest, Uri, prompt, resource, resource_not_found, resource_template, tool, tool_with_schema,
};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    Args, CallError, CallServer, ClientHandler, ClientSession, ClientSide, Context, ErrorObject, Options, Revision,
    Router, Structured, connect, error_code, hub,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Place {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    celsius: f64,
}

/// A client that forwards the notifications that it gets to a channel.
struct Ear(mpsc::UnboundedSender<String>);

impl ClientHandler<Context<ClientSide>> for Ear {
    async fn on_logging_message(&self, params: hub::LoggingMessageNotificationParams, _: &Context<ClientSide>) {
        let logger = params.logger.map(|logger| format!("{logger}: ")).unwrap_or_default();
        self.hear(format!("{logger}{} {}", params.level.as_str(), params.data.text()));
    }

    async fn on_tool_list_changed(&self, _: Option<hub::NotificationParams>, _: &Context<ClientSide>) {
        self.hear("tools".to_owned());
    }

    async fn on_resource_list_changed(&self, _: Option<hub::NotificationParams>, _: &Context<ClientSide>) {
        self.hear("resources".to_owned());
    }

    async fn on_prompt_list_changed(&self, _: Option<hub::NotificationParams>, _: &Context<ClientSide>) {
        self.hear("prompts".to_owned());
    }

    async fn on_resource_updated(&self, params: hub::ResourceUpdatedNotificationParams, _: &Context<ClientSide>) {
        self.hear(params.uri);
    }
}

impl Ear {
    fn hear(&self, what: String) {
        self.0.send(what).expect("the test listens");
    }
}

type Heard = mpsc::UnboundedReceiver<String>;

async fn client_of(router: &Router) -> (ClientSession, Heard) {
    client_in(Revision::V2025_11_25, router).await
}

/// Connects a client that supports one revision.
async fn client_in(revision: Revision, router: &Router) -> (ClientSession, Heard) {
    let (ours, theirs) = channel(16);
    let served = Options {
        supported: Revision::ALL.into(),
        ..Options::default()
    };
    router.clone().serve(served, theirs);
    let (ear, heard) = mpsc::unbounded_channel();
    let info = hub::Implementation::new("test", "1.0");
    let capabilities = hub::ClientCapabilities::default();
    let options = Options {
        supported: [revision].into(),
        ..Options::default()
    };
    let session = connect(Ear(ear), info, capabilities, options, ours).await;
    (session.expect("a session begins"), heard)
}

async fn next(heard: &mut Heard) -> String {
    let heard = tokio::time::timeout(Duration::from_secs(5), heard.recv()).await;
    heard
        .expect("a notification comes in time")
        .expect("the session continues")
}

async fn nothing(heard: &mut Heard) {
    let heard = tokio::time::timeout(Duration::from_millis(100), heard.recv()).await;
    assert!(heard.is_err(), "{heard:?}");
}

fn refused<T: std::fmt::Debug>(result: Result<T, CallError>) -> ErrorObject {
    match result {
        Err(CallError::Peer(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

fn call(name: &str, arguments: Value) -> hub::CallToolRequestParams {
    let arguments = arguments.as_object().expect("arguments are an object").clone();
    hub::CallToolRequestParams::new(name).with_arguments(arguments)
}

fn text(result: &hub::CallToolResult) -> &str {
    match result.content.as_slice() {
        [hub::ContentBlock::Text(text)] => &text.text,
        other => panic!("not one text: {other:?}"),
    }
}

#[tokio::test]
async fn arguments_are_validated_before_the_tool_is_called() {
    let router = Router::new("test", "1.0").tool(
        "weather",
        "Get the current weather of a city",
        |Args(place): Args<Place>| async move { format!("sun in {}", place.city) },
    );
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();

    let result = peer.call_tool(call("weather", json!({"city": "Bern"}))).await.unwrap();
    assert_eq!(text(&result), "sun in Bern");
    for invalid in [
        call("weather", json!({"city": 5})),
        hub::CallToolRequestParams::new("weather"),
    ] {
        let result = peer.call_tool(invalid).await.unwrap();
        assert_eq!(result.is_error, Some(true));
        assert!(text(&result).starts_with("Invalid arguments: "), "{result:?}");
        assert!(text(&result).contains("city"), "{result:?}");
    }
}

#[tokio::test]
async fn integer_arguments_can_be_written_with_a_zero_fraction() {
    #[derive(Deserialize, JsonSchema)]
    struct Numbers {
        count: i64,
        list: Vec<u8>,
        float: f64,
    }
    let router = Router::new("test", "1.0").tool(
        "sum",
        "Adds numbers",
        |Args(Numbers { count, list, float }): Args<Numbers>| {
            let list: f64 = list.into_iter().map(f64::from).sum();
            format!("{count} {list} {float}")
        },
    );
    let (client, _heard) = client_of(&router).await;
    let numbers = json!({"count": -3.0, "list": [1.0, 2e0], "float": 4.0});
    let result = client.peer().call_tool(call("sum", numbers)).await.unwrap();
    assert_eq!(text(&result), "-3 3 4");
    let fraction = json!({"count": 1.5, "list": [], "float": 4.0});
    let result = client.peer().call_tool(call("sum", fraction)).await.unwrap();
    assert_eq!(result.is_error, Some(true), "{result:?}");
}

/// A type whose schema accepts more than serde does.
#[derive(Deserialize, JsonSchema)]
struct Even {
    #[serde(deserialize_with = "even")]
    number: i32,
}

fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i32, D::Error> {
    let number = i32::deserialize(deserializer)?;
    let is_even = number % 2 == 0;
    is_even
        .then_some(number)
        .ok_or_else(|| serde::de::Error::custom("the number is odd"))
}

#[tokio::test]
async fn invalid_arguments_are_a_result_or_an_error_depending_on_the_revision() {
    let router = Router::new("test", "1.0").tool("halve", "Halves", |Args(even): Args<Even>| async move {
        (even.number / 2).to_string()
    });
    let mut seen = BTreeSet::new();
    for revision in Revision::ALL {
        let (client, _heard) = client_in(revision, &router).await;
        let peer = client.peer();
        assert_eq!(peer.revision(), Some(revision));
        let as_result = revision.facts().input_errors_as_results;
        seen.insert(as_result);
        for (arguments, fault) in [
            (json!({"number": "3"}), "`number`: expected an integer"),
            (json!({"number": 3}), "the number is odd"),
        ] {
            let answer = peer.call_tool(call("halve", arguments)).await;
            let said = if as_result {
                let result = answer.unwrap();
                assert_eq!(result.is_error, Some(true));
                text(&result).to_owned()
            } else {
                let error = refused(answer);
                assert_eq!(error.code, error_code::INVALID_PARAMS);
                error.message
            };
            assert!(
                said.starts_with("Invalid arguments: ") && said.contains(fault),
                "{revision}: {said}"
            );
        }
        let error = refused(peer.call_tool(call("whether", json!({}))).await);
        assert_eq!(
            (error.code, error.message.as_str()),
            (error_code::INVALID_PARAMS, "Unknown tool: whether")
        );
    }
    assert_eq!(seen.len(), 2, "the revisions differ in this");
}

#[tokio::test]
async fn structured_content_has_an_output_schema_and_is_repeated_as_text() {
    let router = Router::new("test", "1.0").tool(
        "weather",
        "Get the current weather of a city",
        |Args(place): Args<Place>| async move {
            match place.city.as_str() {
                "Bern" => Ok(Structured(Weather { celsius: 21.5 })),
                city => Err(format!("no measurement for {city}")),
            }
        },
    );
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();

    let tools = peer
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .tools;
    let schema = json!(tools[0].output_schema);
    assert_eq!(schema["properties"]["celsius"]["type"], "number");
    let result = peer.call_tool(call("weather", json!({"city": "Bern"}))).await.unwrap();
    assert_eq!(json!(result.structured_content), json!({"celsius": 21.5}));
    assert_eq!(text(&result), r#"{"celsius":21.5}"#);
    let result = peer.call_tool(call("weather", json!({"city": "Basel"}))).await.unwrap();
    assert_eq!(
        (text(&result), result.is_error),
        ("no measurement for Basel", Some(true))
    );
}

#[tokio::test]
async fn structured_content_that_violates_the_output_schema_is_an_internal_error() {
    let schema = json!({"type": "object"});
    let promise = json!({"type": "object", "required": ["celsius"]});
    let promising = hub::Tool::new("weather", schema.clone()).with_output_schema(promise);
    let breaks = tool_with_schema(promising, |Args(arguments): Args<Value>| {
        hub::CallToolResult::new(vec![]).with_structured_content(arguments)
    });
    let router = Router::new("test", "1.0").with(breaks.unwrap());
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    peer.call_tool(call("weather", json!({"celsius": 3}))).await.unwrap();
    let error = refused(peer.call_tool(call("weather", json!({"kelvin": 276}))).await);
    assert_eq!(error.code, error_code::INTERNAL_ERROR);
    assert!(
        !error.message.contains("kelvin"),
        "internals are leaked: {}",
        error.message
    );
}

#[tokio::test]
async fn lists_are_paged_and_an_unknown_cursor_is_refused() {
    let mut router = Router::new("test", "1.0").page_size(2);
    for name in ["e", "b", "d", "a", "c"] {
        router = router.tool(name, "A tool", || "");
    }
    let (client, _heard) = client_of(&router).await;
    let mut names = Vec::new();
    let mut pages = Vec::new();
    let mut params = hub::PaginatedRequestParams::default();
    loop {
        let page = client.peer().list_tools(params.clone()).await.unwrap();
        pages.push(page.tools.len());
        names.extend(page.tools.into_iter().map(|tool| tool.name));
        match page.next_cursor {
            Some(cursor) => params.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!((names.concat().as_str(), pages), ("abcde", vec![2, 2, 1]));
    params.cursor = Some("not a cursor".to_owned());
    let error = refused(client.peer().list_tools(params).await);
    assert_eq!(error.code, error_code::INVALID_PARAMS);
}

#[derive(Deserialize, JsonSchema)]
struct File {
    user: String,
    path: String,
}

#[tokio::test]
async fn resources_are_read_by_uri_or_by_template() {
    let readme = hub::Resource::new("Readme", "file:///readme").with_mime_type("text/plain");
    let files = hub::ResourceTemplate::new("Files", "file:///{user}/{+path}");
    let files = resource_template(files, |Uri(uri): Uri, Args(file): Args<File>| async move {
        match file.user.as_str() {
            "nobody" => Err(resource_not_found(&uri)),
            user => Ok(format!("{} of {user}", file.path)),
        }
    });
    let router = Router::new("test", "1.0")
        .with(resource(readme, || "Read me"))
        .with(files.unwrap());
    let (client, _heard) = client_of(&router).await;
    let read = async |uri: &str| {
        let result = client
            .peer()
            .read_resource(hub::ReadResourceRequestParams::new(uri))
            .await;
        result.map(|result| json!(result.contents))
    };

    let readme = json!([{"uri": "file:///readme", "mimeType": "text/plain", "text": "Read me"}]);
    assert_eq!(read("file:///readme").await.unwrap(), readme);
    let file = json!([{"uri": "file:///a%20b/c/d", "text": "c/d of a b"}]);
    assert_eq!(read("file:///a%20b/c/d").await.unwrap(), file);
    for uri in ["http:///readme", "file:///nobody/x"] {
        let error = refused(read(uri).await);
        assert_eq!(error.code, hub::error_code::RESOURCE_NOT_FOUND);
        assert_eq!(json!(error.data), json!({"uri": uri}));
    }
    assert_eq!(
        client
            .peer()
            .list_resource_templates(hub::PaginatedRequestParams::default())
            .await
            .unwrap()
            .resource_templates
            .len(),
        1
    );
}

#[tokio::test]
async fn prompts_require_their_arguments_and_complete_up_to_100_values() {
    let greeting = hub::Prompt::new("greeting").with_arguments(vec![
        hub::PromptArgument::new("name").with_required(true),
        hub::PromptArgument::new("town").with_required(true),
        hub::PromptArgument::new("mood"),
    ]);
    let greet = |Args(arguments): Args<BTreeMap<String, String>>| format!("Hello {}", arguments["name"]);
    let route = prompt(greeting, greet);
    let route = route.complete("town", |typed: CompletionRequest| async move {
        let country = typed.arguments.get("country").cloned().unwrap_or_default();
        let towns = (0..150).map(|town| format!("{}{country}{town}", typed.value));
        towns.collect::<Vec<_>>()
    });
    let router = Router::new("test", "1.0").with(route);
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();

    let mut params = hub::GetPromptRequestParams::new("greeting");
    let error = refused(peer.get_prompt(params.clone()).await);
    assert_eq!(error.code, error_code::INVALID_PARAMS);
    assert_eq!(error.message, "Missing arguments: name, town");
    params.arguments = Some(
        [("name", "Ada"), ("town", "Bern")]
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .into_iter()
            .collect(),
    );
    assert_eq!(peer.get_prompt(params).await.unwrap().messages.len(), 1);
    let error = refused(peer.get_prompt(hub::GetPromptRequestParams::new("farewell")).await);
    assert_eq!(
        (error.code, error.message.as_str()),
        (error_code::INVALID_PARAMS, "Unknown prompt: farewell")
    );

    let complete = async |argument: &str| {
        let argument = hub::CompleteRequestParamsArgument::new(argument, "B");
        let mut params = hub::CompleteRequestParams::new(argument, hub::PromptReference::new("greeting"));
        let complete = [("country".to_owned(), "-CH-".to_owned())].into_iter().collect();
        params.context = Some(hub::CompleteRequestParamsContext::default().with_arguments(complete));
        peer.complete(params).await.unwrap().completion
    };
    let towns = complete("town").await;
    assert_eq!((towns.values.len(), towns.values[7].as_str()), (100, "B-CH-7"));
    assert_eq!((towns.total, towns.has_more), (Some(150), Some(true)));
    assert!(complete("mood").await.values.is_empty());
}

#[tokio::test]
async fn log_messages_below_the_clients_level_are_not_sent() {
    let router = Router::new("test", "1.0").tool("log", "Logs", |call: Call| async move {
        call.log(hub::LoggingLevel::Debug, json!({"step": 1})).await?;
        call.log_as("disk", hub::LoggingLevel::Error, json!("bad")).await?;
        Ok::<_, CallError>("logged")
    });
    let (client, mut heard) = client_of(&router).await;
    let peer = client.peer();
    peer.call_tool(call("log", json!({}))).await.unwrap();
    assert_eq!(next(&mut heard).await, r#"debug {"step":1}"#);
    assert_eq!(next(&mut heard).await, r#"disk: error "bad""#);

    peer.call_custom(set_level("warning")).await.unwrap();
    peer.call_tool(call("log", json!({}))).await.unwrap();
    assert_eq!(next(&mut heard).await, r#"disk: error "bad""#);
    nothing(&mut heard).await;
    let error = refused(peer.call_custom(set_level("loud")).await);
    assert_eq!(error.code, error_code::INVALID_PARAMS);
}

fn set_level(level: &str) -> v2025_11_25::SetLevelRequest {
    v2025_11_25::SetLevelRequest::new(v2025_11_25::SetLevelRequestParams::new(level))
}

fn subscribe(uri: &str) -> v2025_11_25::SubscribeRequest {
    v2025_11_25::SubscribeRequest::new(v2025_11_25::SubscribeRequestParams::new(uri))
}

#[tokio::test]
async fn only_subscribers_are_notified_of_a_resource_update() {
    let news = hub::Resource::new("News", "test://news");
    let router = Router::new("test", "1.0").with(resource(news, || ""));
    let (subscriber, mut heard) = client_of(&router).await;
    let (_other, mut other_heard) = client_of(&router).await;
    let peer = subscriber.peer();
    peer.call_custom(subscribe("test://news")).await.unwrap();
    let error = refused(peer.call_custom(subscribe("test://olds")).await);
    assert_eq!(error.code, hub::error_code::RESOURCE_NOT_FOUND);

    router.resource_updated("test://news");
    router.resource_updated("test://olds");
    assert_eq!(next(&mut heard).await, "test://news");
    peer.call_custom(v2025_11_25::UnsubscribeRequest::new(
        v2025_11_25::UnsubscribeRequestParams::new("test://news"),
    ))
    .await
    .unwrap();
    router.resource_updated("test://news");
    nothing(&mut heard).await;
    nothing(&mut other_heard).await;
}

#[tokio::test]
async fn every_client_is_notified_when_a_list_changes() {
    let router = Router::new("test", "1.0")
        .tool("stays", "Stays", || "")
        .with(resource(hub::Resource::new("News", "test://news"), || ""))
        .with(resource_template(hub::ResourceTemplate::new("Days", "test://{day}"), || "").unwrap())
        .with(prompt(hub::Prompt::new("stays"), || ""));
    let (first, mut first_heard) = client_of(&router).await;
    let (_second, mut second_heard) = client_of(&router).await;

    router.insert(tool("comes", "Comes", || "here")).unwrap();
    assert_eq!(next(&mut first_heard).await, "tools");
    assert_eq!(next(&mut second_heard).await, "tools");
    assert_eq!(
        first
            .peer()
            .list_tools(hub::PaginatedRequestParams::default())
            .await
            .unwrap()
            .tools
            .len(),
        2
    );
    assert!(router.remove_tool("comes"));
    assert_eq!(next(&mut first_heard).await, "tools");
    assert!(!router.remove_tool("comes"));
    assert!(router.remove_resource("test://news"));
    assert_eq!(next(&mut first_heard).await, "resources");
    assert!(router.remove_resource_template("test://{day}"));
    assert_eq!(next(&mut first_heard).await, "resources");
    assert!(router.remove_prompt("stays"));
    assert_eq!(next(&mut first_heard).await, "prompts");
    nothing(&mut first_heard).await;
}

#[tokio::test]
async fn many_changes_become_one_notification_to_a_client_that_does_not_read() {
    let router = Router::new("test", "1.0").tool("stays", "Stays", || "");
    let (_client, mut heard) = client_of(&router).await;
    // No notification is sent before this task waits, and by then equal ones have been merged.
    for _ in 0..1000 {
        router.insert(tool("comes", "Comes", || "")).unwrap();
        assert!(router.remove_tool("comes"));
    }
    assert_eq!(next(&mut heard).await, "tools");
    nothing(&mut heard).await;
}
