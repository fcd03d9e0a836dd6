//! Parameters and results of the functions of a router.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_runtime::http::HeaderMap;
use mcp_runtime::mcp_wire::{RawObject, from_str};
use mcp_runtime::router::{
    Blob, Call, CompletionRequest, Extension, FromCall, Meta, ProgressReporter, Route, RouteError, Signature, Uri,
    image, prompt, resource, resource_template, tool, try_tool,
};
use mcp_runtime::{
    Args, CallServer, ErrorObject, Peer, Revision, Router, ServerSide, State, ToolError, error_code, hub,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Place, call, client_in, client_of, refused, text};

#[derive(Clone)]
struct Greeting(&'static str);

type Count = Arc<AtomicUsize>;

/// A custom extractor, which needs a state.
struct Greeter(Greeting);

impl FromCall for Greeter {
    fn declare(signature: &mut Signature) {
        State::<Greeting>::declare(signature);
    }

    async fn from_call(call: &Call) -> Result<Self, ToolError> {
        let State(greeting) = State::from_call(call).await?;
        Ok(Self(greeting))
    }
}

#[expect(clippy::too_many_arguments, reason = "every extractor of a tool at once")]
async fn everything(
    meta: Meta,
    State(count): State<Count>,
    Greeter(greeting): Greeter,
    headers: HeaderMap,
    Args(place): Args<Place>,
    client: Peer<ServerSide>,
    cancelled: CancellationToken,
    (progress, extension, call): (ProgressReporter, Option<Extension<Greeting>>, Call),
) -> Result<String, ToolError> {
    progress.report(1.0, None, None).await?;
    assert!(headers.is_empty() && extension.is_none() && !cancelled.is_cancelled());
    assert_eq!(client.revision(), call.revision());
    let trace: Option<String> = meta.0.get("traceparent").and_then(|trace| trace.parse().ok());
    let count = count.fetch_add(1, Ordering::Relaxed);
    let (greeting, city) = (greeting.0, place.city);
    Ok(format!("{greeting} {city} {count} {}", trace.unwrap_or_default()))
}

#[tokio::test]
async fn a_function_takes_extractors_in_any_number_and_order() {
    let router = Router::new("test", "1.0")
        .with_state(Count::default())
        .with_state(Greeting("Hello"))
        .tool("everything", "Takes everything", everything)
        .tool("sync", "Isn't async", |State(count): State<Count>| {
            count.load(Ordering::Relaxed)
        });
    for (revision, count) in Revision::ALL.into_iter().zip(0..) {
        let (client, _heard) = client_in(revision, &router).await;
        let peer = client.peer();
        let mut params = call("everything", json!({"city": "Bern"}));
        params.meta.extra.insert("traceparent", json!("00-ab-cd-01"));
        let result = peer.call_tool(params).await.unwrap();
        assert_eq!(text(&result), format!("Hello Bern {count} 00-ab-cd-01"));
        let result = peer.call_tool(call("sync", json!({}))).await.unwrap();
        assert_eq!(text(&result), (count + 1).to_string());
    }
}

#[tokio::test]
async fn a_route_uses_the_state_that_the_router_has_when_it_is_added() {
    let greet = |State(greeting): State<Greeting>| greeting.0;
    let router = Router::new("test", "1.0")
        .with_state(Greeting("first"))
        .tool("first", "Greets", greet)
        .with_state(Greeting("second"))
        .tool("second", "Greets", greet)
        .tool("adds", "Adds a tool", |call: Call| {
            let greet = |State(greeting): State<Greeting>| greeting.0;
            call.router().insert(tool("third", "Greets", greet))
        });
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    peer.call_tool(call("adds", json!({}))).await.unwrap();
    for (name, said) in [("first", "first"), ("second", "second"), ("third", "second")] {
        let result = peer.call_tool(call(name, json!({}))).await.unwrap();
        assert_eq!(text(&result), said);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Month {
    month: String,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "routes that take it are refused")]
struct Day {
    day: Vec<u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Entry {
    id: i64,
    owner: Owner,
    exact: Option<bool>,
    ratio: Option<f64>,
    mark: Option<char>,
    tone: Option<Tone>,
    from: Option<std::net::IpAddr>,
}

#[derive(Deserialize, JsonSchema)]
struct Owner(u64);

impl Entry {
    fn shown(Args(it): Args<Self>) -> String {
        let others = (it.exact, it.ratio, it.mark, it.tone, it.from);
        format!("{} {} {others:?}", it.id, it.owner.0)
    }
}

#[tokio::test]
async fn template_variables_are_parsed_into_the_types_of_their_fields() {
    let template = |text: &str| resource_template(hub::ResourceTemplate::new(text, text), Entry::shown).unwrap();
    let pairs = |Args(pairs): Args<BTreeMap<String, u8>>| format!("{pairs:?}");
    let router = Router::new("test", "1.0")
        .with(template("few://{id}/{owner}"))
        .with(template("all://{id}/{owner}/{exact}/{ratio}/{mark}/{tone}/{+from}"))
        .with(resource_template(hub::ResourceTemplate::new("pair", "pair://{a}/{b}"), pairs).unwrap());
    let (client, _heard) = client_of(&router).await;
    let read = async |uri: &str| {
        let params = hub::ReadResourceRequestParams::new(uri);
        let read = client.peer().read_resource(params).await;
        read.map(|result| json!(result.contents)[0]["text"].as_str().unwrap().to_owned())
    };
    assert_eq!(read("few://-7/9").await.unwrap(), "-7 9 (None, None, None, None, None)");
    assert_eq!(
        read("all://1/2/true/0.5/%C3%A9/warm/::1").await.unwrap(),
        "1 2 (Some(true), Some(0.5), Some('é'), Some(Warm), Some(::1))"
    );
    assert_eq!(read("pair://1/2").await.unwrap(), r#"{"a": 1, "b": 2}"#);
    for (uri, why) in [
        (
            "few://x/1",
            "`id`: invalid value: string \"x\", expected an integer of 64 bits",
        ),
        ("few://9223372036854775808/1", "expected an integer of 64 bits"),
        (
            "few://1/-1",
            "`owner`: invalid value: string \"-1\", expected a natural number of 64 bits",
        ),
        ("all://1/2/yes/0.5/a/warm/::1", "expected `true` or `false`"),
        ("all://1/2/true/half/a/warm/::1", "expected a number"),
        ("all://1/2/true/0.5/ab/warm/::1", "expected one character"),
        ("all://1/2/true/0.5/a/loud/::1", "`tone`: unknown variant `loud`"),
        ("all://1/2/true/0.5/a/warm/here", "`from`: "),
        ("pair://1/256", "`b`: invalid value: string \"256\""),
    ] {
        let error = refused(read(uri).await);
        assert_eq!(error.code, error_code::INVALID_PARAMS, "{uri}");
        assert!(
            error.message.starts_with("Invalid arguments: ") && error.message.contains(why),
            "{uri}: {}",
            error.message
        );
    }
}

#[tokio::test]
async fn prompt_arguments_are_parsed_into_the_types_of_their_fields() {
    let router = Router::new("test", "1.0").with(prompt(hub::Prompt::new("entry"), Entry::shown));
    let (client, _heard) = client_of(&router).await;
    let get = async |arguments: Value| {
        let arguments = serde_json::from_value(arguments).unwrap();
        let params = hub::GetPromptRequestParams::new("entry").with_arguments(arguments);
        let got = client.peer().get_prompt(params).await;
        got.map(|result| json!(result.messages[0].content)["text"].clone())
    };
    assert_eq!(
        get(json!({"id": "1", "owner": "2", "exact": "false", "more": "x"}))
            .await
            .unwrap(),
        "1 2 (Some(false), None, None, None, None)"
    );
    let error = refused(get(json!({"id": "", "owner": "2"})).await);
    assert_eq!(error.code, error_code::INVALID_PARAMS);
    assert!(error.message.contains("`id`: invalid value"), "{}", error.message);
}

/// The error of adding a route to a router without states.
fn refusal(route: impl Into<Route>) -> String {
    Router::new("test", "1.0").insert(route).unwrap_err().to_string()
}

#[test]
fn a_function_with_parameters_that_its_route_cannot_provide_is_refused() {
    assert!(
        refusal(tool("greet", "Greets", |Greeter(_): Greeter| ""))
            .ends_with("call `Router::with_state` before the tool is added")
    );
    let day = || {
        resource_template(
            hub::ResourceTemplate::new("Days", "test://{day}"),
            |Args(Day { day: _ })| "",
        )
        .unwrap()
    };
    let month = resource_template(
        hub::ResourceTemplate::new("Days", "test://{day}"),
        |Args(_): Args<Month>| "",
    )
    .unwrap();
    let days = || resource_template(hub::ResourceTemplate::new("Days", "test://{day}"), || "").unwrap();
    for (refusal, reason) in [
        (
            refusal(day()),
            "can't have the argument `day` of `Args<all::router::extractors::Day>`, because it can't be read from text",
        ),
        (
            refusal(month),
            "has no argument `month`, which `Args<all::router::extractors::Month>` requires",
        ),
        (
            refusal(prompt(hub::Prompt::new("day"), |Args(Day { day: _ })| "")),
            "because it can't be read from text (its schema is {\"items\":",
        ),
        (
            refusal(prompt(hub::Prompt::new("day"), |Args(_): Args<String>| "")),
            "can't have arguments of the type `alloc::string::String`",
        ),
        (
            refusal(days().complete("day", |State(_): State<Greeting>| vec![""])),
            "the completion `day` takes `State<all::router::extractors::Greeting>`",
        ),
        (
            refusal(resource(
                hub::Resource::new("News", "test://news"),
                |Args(_): Args<Place>| "",
            )),
            "the resource `test://news` takes `Args`, which only a function of a tool or prompt or resource template or custom method or notification can",
        ),
        (
            refusal(tool("read", "Reads", |_: Uri| "")),
            "takes `Uri`, which only a function of a resource or resource template",
        ),
        (
            refusal(tool("type", "Types", |_: CompletionRequest| "")),
            "takes `CompletionRequest`, which only",
        ),
    ] {
        assert!(refusal.contains(reason), "{refusal}");
    }
    let twice = try_tool("add", "Adds", |Args(_): Args<Place>, Args(Day { day: _ })| "").unwrap_err();
    assert!(matches!(&twice, RouteError::TwoArgs { .. }), "{twice:?}");
    assert!(
        twice.to_string().contains("take one struct with the members of both"),
        "{twice}"
    );
}

fn fails(Args(Failure { how }): Args<Failure>) -> Result<(), ToolError> {
    match how.as_str() {
        "parsing" => {
            let number: i64 = "x".parse()?;
            Err(ToolError::tool(number.to_string()))
        }
        "protocol" => Err(ErrorObject::new(7, "seven"))?,
        "text" => Err(ToolError::tool("a text")),
        _ => Err(ToolError::protocol(error_code::INTERNAL_ERROR, "internal")),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Failure {
    how: String,
}

#[tokio::test]
async fn error_objects_become_error_responses_and_other_tool_errors_become_results() {
    let router = Router::new("test", "1.0")
        .tool("fails", "Fails", fails)
        .tool(
            "boxed",
            "Fails",
            || -> Result<(), Box<dyn std::error::Error + Send + Sync>> { Err(Box::new(ErrorObject::new(7, "seven"))) },
        )
        .tool("text", "Fails", || Err::<(), _>("a text"))
        .with(prompt(hub::Prompt::new("fails"), || {
            Err::<(), _>(ErrorObject::new(7, "seven")).map(|()| "")
        }))
        .with(resource(hub::Resource::new("Fails", "test://fails"), || {
            Err::<&str, _>("a text")
        }));
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    for (name, how, said) in [
        ("fails", "parsing", "invalid digit found in string"),
        ("fails", "text", "a text"),
        ("text", "", "a text"),
    ] {
        let result = peer.call_tool(call(name, json!({"how": how}))).await.unwrap();
        assert_eq!((text(&result), result.is_error), (said, Some(true)));
    }
    for (name, how, code) in [
        ("fails", "protocol", 7),
        ("boxed", "", 7),
        ("fails", "", error_code::INTERNAL_ERROR),
    ] {
        let error = refused(peer.call_tool(call(name, json!({"how": how}))).await);
        assert_eq!(error.code, code);
    }
    let error = refused(peer.get_prompt(hub::GetPromptRequestParams::new("fails")).await);
    assert_eq!(error.to_string(), "error 7: seven");
    let error = refused(
        peer.read_resource(hub::ReadResourceRequestParams::new("test://fails"))
            .await,
    );
    assert_eq!(
        (error.code, error.message.as_str()),
        (error_code::INTERNAL_ERROR, "a text")
    );
}

#[tokio::test]
async fn a_tool_can_return_nothing_a_text_a_content_block_or_several() {
    let router = Router::new("test", "1.0")
        .tool("nothing", "Gives nothing", || ())
        .tool("number", "Gives a number", || 5)
        .tool("image", "Gives a picture", || image(&[1, 2, 3], "image/png"))
        .tool("several", "Gives blocks", || {
            let link = hub::ResourceLink::new("news", "test://news");
            (hub::TextContent::new("the news"), link)
        })
        .tool("list", "Gives blocks", || {
            vec![hub::TextContent::new("a"), hub::TextContent::new("b")]
        });
    let (client, _heard) = client_of(&router).await;
    for (name, blocks) in [
        ("nothing", json!([])),
        ("number", json!([{"type": "text", "text": "5"}])),
        (
            "image",
            json!([{"type": "image", "data": "AQID", "mimeType": "image/png"}]),
        ),
        (
            "several",
            json!([{"type": "text", "text": "the news"}, {"type": "resource_link", "name": "news", "uri": "test://news"}]),
        ),
        (
            "list",
            json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        ),
    ] {
        let result = client.peer().call_tool(call(name, json!({}))).await.unwrap();
        assert_eq!(json!(result.content), blocks);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Letter {
    tone: Option<Tone>,
    /// Who gets it.
    to: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Formal,
    /// As among friends.
    Warm,
}

#[tokio::test]
async fn prompt_arguments_are_declared_from_the_fields_of_their_type() {
    let write = |Args(letter): Args<Letter>| format!("To {}: {:?}", letter.to, letter.tone);
    let router = Router::new("test", "1.0").with(prompt(hub::Prompt::new("letter"), write));
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    let prompts = peer
        .list_prompts(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .prompts;
    assert_eq!(
        json!(prompts[0].arguments),
        json!([
            {"name": "tone", "required": false},
            {"name": "to", "description": "Who gets it.", "required": true},
        ])
    );
    let get = async |arguments: Value| {
        let arguments = serde_json::from_value(arguments).unwrap();
        let params = hub::GetPromptRequestParams::new("letter").with_arguments(arguments);
        let got = peer.get_prompt(params).await;
        got.map(|result| json!(result.messages))
    };
    let said = |text: &str| json!([{"role": "user", "content": {"type": "text", "text": text}}]);
    assert_eq!(get(json!({"to": "Ada"})).await.unwrap(), said("To Ada: None"));
    assert_eq!(
        get(json!({"to": "Ada", "tone": "warm"})).await.unwrap(),
        said("To Ada: Some(Warm)")
    );
    let error = refused(get(json!({"to": "Ada", "tone": "loud"})).await);
    assert_eq!(error.code, error_code::INVALID_PARAMS);
    assert!(
        error
            .message
            .starts_with("Invalid arguments: `tone`: unknown variant `loud`"),
        "{error}"
    );
}

#[tokio::test]
async fn resources_return_text_or_bytes_and_their_functions_can_take_the_uri() {
    let months = hub::ResourceTemplate::new("Months", "test://{month}");
    let month = |Uri(uri): Uri, Args(Month { month })| format!("{month} of {uri}");
    let bytes = hub::Resource::new("Bytes", "test:///bytes").with_mime_type("application/octet-stream");
    let router = Router::new("test", "1.0")
        .with_state(Greeting("May"))
        .with(resource(bytes, || Blob(vec![1, 2, 3])))
        .with(
            resource_template(months, month)
                .unwrap()
                .complete("month", |typed: CompletionRequest, State(month): State<Greeting>| {
                    vec![format!("{}{}", typed.value, month.0)]
                }),
        );
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    for (uri, contents) in [
        (
            "test:///bytes",
            json!({"mimeType": "application/octet-stream", "blob": "AQID"}),
        ),
        ("test://May", json!({"text": "May of test://May"})),
    ] {
        let mut expected = contents;
        expected["uri"] = json!(uri);
        let read = peer
            .read_resource(hub::ReadResourceRequestParams::new(uri))
            .await
            .unwrap();
        assert_eq!(json!(read.contents), json!([expected]));
    }
    let argument = hub::CompleteRequestParamsArgument::new("month", "M");
    let params = hub::CompleteRequestParams::new(argument, hub::ResourceTemplateReference::new("test://{month}"));
    assert_eq!(peer.complete(params).await.unwrap().completion.values, ["MMay"]);
}

#[tokio::test]
async fn a_missing_transport_extension_is_an_internal_error() {
    let router = Router::new("test", "1.0").tool("who", "Says who calls", |Extension(Greeting(name))| name);
    let (client, _heard) = client_of(&router).await;
    let error = refused(client.peer().call_tool(call("who", json!({}))).await);
    assert_eq!(error.code, error_code::INTERNAL_ERROR);
    assert!(error.message.contains("router::extractors::Greeting"), "{error}");
}

#[tokio::test]
async fn a_resource_whose_function_returns_none_is_not_found_in_both_eras() {
    let stock = |Args(Place { city }): Args<Place>| -> Result<Option<String>, &'static str> {
        match city.as_str() {
            "bern" => Ok(Some("bread".to_owned())),
            "closed" => Err("nobody is there"),
            _ => Ok(None),
        }
    };
    let router = Router::new("test", "1.0")
        .with(resource_template(hub::ResourceTemplate::new("Stock", "stock://{city}"), stock).unwrap())
        .with(resource(hub::Resource::new("Gone", "news://gone"), || None::<Blob>));
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (client, _heard) = client_in(revision, &router).await;
        let read = client.read_resource("stock://bern").await.unwrap();
        assert_eq!(json!(read.contents)[0]["text"], "bread");
        for uri in ["stock://basel", "news://gone"] {
            let error = refused(client.read_resource(uri).await);
            assert_eq!(error.code, hub::error_code::RESOURCE_NOT_FOUND, "{revision} {uri}");
            assert_eq!(json!(error.data), json!({ "uri": uri }), "{revision}");
        }
        let failed = refused(client.read_resource("stock://closed").await);
        assert_eq!(failed.code, error_code::INTERNAL_ERROR, "{revision}");
    }
}

#[tokio::test]
async fn arguments_that_serde_json_cannot_represent_are_invalid_even_without_args() {
    let router = Router::new("test", "1.0").tool("count", "Counts arguments", |call: Call| {
        call.arguments()
            .and_then(Value::as_object)
            .map_or(0, serde_json::Map::len)
    });
    let digits = "9".repeat(400);
    let (client, _heard) = client_of(&router).await;
    for (value, is_tree) in [
        ("1e3", true),
        ("1e400", false),
        (&*digits, false),
        (r#""\ud83d\ude00""#, true),
        (r#""\ud83d""#, false),
        (r#""\\ud83d \"1e400 \\""#, true),
        (r#""\"\\","c":1e400"#, false),
        (r#"1,"\ud83d":1"#, false),
        (r#"[1E400]"#, false),
    ] {
        let request = hub::CallToolRequestParams::new("count");
        let arguments = from_str::<RawObject>(&format!(r#"{{"a":{value},"b":1}}"#)).unwrap();
        let result = client
            .peer()
            .call_tool(request.with_arguments(arguments))
            .await
            .unwrap();
        assert_eq!(result.is_error.unwrap_or(false), !is_tree, "{value}: {result:?}");
        assert_eq!(text(&result) == "2", is_tree, "{value}");
    }
}
