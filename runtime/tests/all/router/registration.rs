//! Routes that a router accepts or refuses, and how it declares them to clients.

use std::collections::HashMap;
use std::fmt::Debug;

use mcp_runtime::router::{
    Call, Function, Route, RouteError, prompt, resource, resource_template, tool, tool_with_schema, try_tool,
};
use mcp_runtime::{Args, CallServer, Peer, Router, ServerSide, Structured, error_code, hub};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Place, Weather, call, client_of, next, nothing, refused, text};

/// The error of a tool that takes an `A`.
fn refused_arguments<A: DeserializeOwned + JsonSchema + Send + 'static>() -> String {
    let error = try_tool("add", "Adds", |Args(_): Args<A>| async { "" }).unwrap_err();
    assert!(
        matches!(error, RouteError::NoObject { role: "arguments", .. }),
        "{error:?}"
    );
    error.to_string()
}

/// The error of a tool whose function returns unsupported structured content.
fn refused_content<M>(function: impl Function<hub::AnyCallToolResult, M> + Copy) -> String {
    let error = try_tool("add", "Adds", function).unwrap_err();
    assert!(
        matches!(
            error,
            RouteError::NoObject {
                role: "structured content",
                ..
            }
        ),
        "{error:?}"
    );
    let schema = hub::Tool::new("add", json!({"type": "object"}));
    let by_hand = tool_with_schema(schema, function).unwrap_err();
    assert_eq!(by_hand, error);
    error.to_string()
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Unit {
    Celsius,
    Kelvin,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Mixed {
    Nothing,
    Place { city: String },
}

#[test]
fn a_tool_whose_arguments_are_not_an_object_is_refused() {
    assert_eq!(
        refused_arguments::<String>(),
        "the tool `add` can't have arguments of the type `alloc::string::String`, because its values are not all JSON objects \
         (its schema is {\"type\":\"string\"}); \
         take a struct that has a member for each argument, or no `Args` if there are none"
    );
    for (refused, name) in [
        (refused_arguments::<Vec<Place>>(), "Vec<"),
        (refused_arguments::<Option<Place>>(), "Option<"),
        (refused_arguments::<(i32, i32)>(), "(i32, i32)"),
        (refused_arguments::<Unit>(), "Unit"),
        (refused_arguments::<Mixed>(), "Mixed"),
        (refused_arguments::<Value>(), "Value"),
    ] {
        assert!(refused.contains(name), "{refused}");
    }
}

#[test]
fn a_tool_whose_structured_content_is_not_an_object_is_refused() {
    for (refused, name) in [
        (refused_content(|| Structured(5)), "Structured<i32>"),
        (
            refused_content(|| Structured(vec![5])),
            "Structured<alloc::vec::Vec<i32>>",
        ),
        (
            refused_content(|| Structured(Some(HashMap::<String, i32>::new()))),
            "Option<",
        ),
        (refused_content(|| Structured(())), "Structured<()>"),
        (refused_content(|| Ok::<_, String>(Structured(5))), "Structured<i32>"),
    ] {
        assert!(refused.contains(name), "{refused}");
        assert!(refused.contains("give a struct"), "{refused}");
    }
}

#[test]
#[should_panic(expected = "the tool `add` can't have arguments of the type `alloc::string::String`")]
fn registration_panics_with_the_reason() {
    let _ = Router::new("test", "1.0").tool("add", "Adds", |Args(_): Args<String>| async { "" });
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "do")]
enum Command {
    Walk { steps: u32 },
    Say { word: String },
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Place(Place),
    Command(Command),
}

#[derive(Deserialize, JsonSchema)]
struct Wrapped(Either);

#[tokio::test]
async fn enums_maps_and_wrappers_of_objects_can_be_arguments() {
    let router = Router::new("test", "1.0")
        .tool("command", "Does", |Args(command): Args<Command>| async move {
            match command {
                Command::Walk { steps } => format!("{steps} steps"),
                Command::Say { word } => word,
            }
        })
        .tool("map", "Counts", |Args(map): Args<HashMap<String, i32>>| async move {
            map.len().to_string()
        })
        .tool("wrapped", "Does", |Args(wrapped): Args<Wrapped>| async move {
            match wrapped.0 {
                Either::Place(place) => place.city,
                Either::Command(Command::Walk { .. }) => "a walk".to_owned(),
                Either::Command(Command::Say { .. }) => "a word".to_owned(),
            }
        });
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    for tool in peer
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .tools
    {
        assert_eq!(json!(tool.input_schema)["type"], "object", "{}", tool.name);
    }
    for (name, arguments, answer) in [
        ("command", json!({"do": "Walk", "steps": 3}), "3 steps"),
        ("command", json!({"do": "Say", "word": "hello"}), "hello"),
        ("map", json!({"a": 1}), "1"),
        ("wrapped", json!({"city": "Bern"}), "Bern"),
        ("wrapped", json!({"do": "Walk", "steps": 3}), "a walk"),
    ] {
        assert_eq!(text(&peer.call_tool(call(name, arguments)).await.unwrap()), answer);
    }
}

#[tokio::test]
async fn a_tool_without_args_has_an_empty_schema_and_ignores_arguments() {
    let router = Router::new("test", "1.0").tool("now", "Tells the time", || "noon");
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    let tools = peer
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .tools;
    assert_eq!(
        json!(tools[0].input_schema),
        json!({"type": "object", "properties": {}})
    );
    for params in [
        hub::CallToolRequestParams::new("now"),
        call("now", json!({})),
        call("now", json!({"needless": 1})),
    ] {
        assert_eq!(text(&peer.call_tool(params).await.unwrap()), "noon");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Journey {
    to: Place,
    /// Where it begins.
    from: Option<Place>,
    unit: Option<Unit>,
    #[serde(default)]
    note: Option<String>,
    stops: Vec<Option<u8>>,
    means: Option<Means>,
    #[schemars(required)]
    day: Option<u8>,
    anything: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
struct Means {
    speed: Option<f64>,
}

#[tokio::test]
async fn optional_properties_are_declared_without_null_but_accept_null() {
    let router = Router::new("test", "1.0").tool("travel", "Travels", |Args(journey): Args<Journey>| async move {
        let speed = journey.means.map(|means| means.speed);
        let is_kelvin = matches!(journey.unit, Some(Unit::Kelvin));
        let from = journey.from.map(|from| from.city);
        let (note, day, anything) = (journey.note, journey.day, journey.anything);
        format!(
            "{} {:?}",
            journey.to.city,
            (from, is_kelvin, note, journey.stops, speed, day, anything)
        )
    });
    let (client, _heard) = client_of(&router).await;
    let peer = client.peer();
    let schema = json!(
        peer.list_tools(hub::PaginatedRequestParams::default())
            .await
            .unwrap()
            .tools[0]
            .input_schema
    );
    assert_eq!(schema.get("$schema"), None);
    assert_eq!(schema["required"], json!(["to", "stops", "day"]));
    assert_eq!(
        schema["properties"],
        json!({
            "to": {"$ref": "#/$defs/Place"},
            "from": {"$ref": "#/$defs/Place", "description": "Where it begins."},
            "unit": {"type": "string", "enum": ["Celsius", "Kelvin"]},
            "note": {"type": "string"},
            // In an array, `null` expresses something that absence can't.
            "stops": {"type": "array", "items": {
                "type": ["integer", "null"], "minimum": 0, "maximum": 255
            }},
            "means": {"type": "object", "properties": {"speed": {"type": "number"}}},
            "day": {"type": "integer", "minimum": 0, "maximum": 255},
            "anything": {},
        })
    );
    // `Place` occurs twice, so it keeps its definition. The others occur once and are inlined.
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    assert_eq!(schema["$defs"], json!({"Place": place}));

    let nulls = json!({
        "to": {"city": "Bern"}, "from": null, "unit": null, "note": null, "stops": [null], "means": {"speed": null}, "day": 1,
        "anything": null,
    });
    let result = peer.call_tool(call("travel", nulls)).await.unwrap();
    assert_eq!(
        text(&result),
        "Bern (None, false, None, [None], Some(None), Some(1), None)"
    );
}

/// A tree, whose type contains itself.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    leaf: Leaf,
    branches: Vec<Tree>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Leaf {
    /// Where it hangs.
    place: Place,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Forest {
    /// The oldest one.
    first: Tree,
    place: Place,
}

#[tokio::test]
async fn inline_schemas_replaces_all_references_but_recursive_ones() {
    let add = |router: Router| {
        let by_hand = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string"}}});
        let router = router
            .tool("travel", "Travels", |Args(_): Args<Journey>| "")
            .tool("plant", "Plants", |Args(forest): Args<Forest>| Structured(forest))
            .with(tool_with_schema(hub::Tool::new("by hand", by_hand), || "").unwrap());
        // A tool that is added later is declared in the same way.
        router
            .replace(tool("travel", "Travels", |Args(_): Args<Journey>| ""))
            .unwrap();
        router
    };
    for inlines in [false, true] {
        let router = add(Router::new("test", "1.0").inline_schemas(inlines));
        let (client, _heard) = client_of(&router).await;
        let tools = client.peer().list_tools(hub::PaginatedRequestParams::default()).await;
        let tools = tools.unwrap().tools;
        let [by_hand, plant, travel] = [0, 1, 2].map(|index| json!(tools[index].input_schema));
        let place = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        assert_eq!(travel.get("$defs").is_none(), inlines, "{travel}");
        assert_eq!(by_hand.get("$defs").is_none(), inlines, "{by_hand}");
        // A recursive type keeps its definition, in which other references are inlined.
        let tree = &plant["$defs"]["Tree"];
        assert_eq!(tree["properties"]["branches"]["items"], json!({"$ref": "#/$defs/Tree"}));
        assert_eq!(plant["properties"]["first"]["description"], "The oldest one.");
        assert_eq!(json!(tools[1].output_schema), plant);
        if inlines {
            let mut described = place.clone();
            described["description"] = json!("Where it hangs.");
            assert_eq!(travel["properties"]["to"], place);
            assert_eq!(tree["properties"]["leaf"]["properties"]["place"], described);
            assert_eq!(plant["properties"]["place"], place);
            assert_eq!(
                by_hand["properties"],
                json!({"a": {"type": "string"}, "b": {"type": "string"}})
            );
        }
        let tree = json!({"leaf": {"place": {"city": "Bern"}}, "branches": []});
        let planted = client
            .peer()
            .call_tool(call("plant", json!({"first": tree, "place": {"city": "Bern"}})))
            .await;
        assert_eq!(planted.unwrap().is_error, None);
        let wrong = client
            .peer()
            .call_tool(call("plant", json!({"first": {"leaf": 1}})))
            .await;
        assert_eq!(wrong.unwrap().is_error, Some(true));
    }
}

#[derive(Serialize, JsonSchema)]
struct Validation {
    #[serde(rename(serialize = "degrees"))]
    celsius: f64,
    note: Option<String>,
    raw: Value,
}

#[tokio::test]
async fn the_output_schema_matches_the_serialized_form() {
    let router = Router::new("test", "1.0").tool("read", "Reads", || async {
        Structured(Validation {
            celsius: 1.5,
            note: None,
            raw: json!([1]),
        })
    });
    let (client, _heard) = client_of(&router).await;
    let result = client.peer().call_tool(call("read", json!({}))).await.unwrap();
    assert_eq!(
        json!(result.structured_content),
        json!({"degrees": 1.5, "note": null, "raw": [1]})
    );
}

fn tool_of(schema: Value) -> Result<Router, RouteError> {
    let route = tool_with_schema(hub::Tool::new("by hand", schema), || "")?;
    Router::new("test", "1.0").try_with(route)
}

#[test]
fn invalid_tool_schemas_are_refused_at_registration() {
    for schema in [
        json!({}),
        json!({"type": ["object", "null"]}),
        json!({"anyOf": [{"type": "object"}]}),
    ] {
        let error = tool_of(schema.clone()).expect_err(&schema.to_string());
        assert!(matches!(error, RouteError::Invalid { kind: "tool", .. }), "{error:?}");
        let error = error.to_string();
        assert!(
            error.contains("`by hand`") && error.contains("tools[0].inputSchema"),
            "{error}"
        );
    }
    let error = tool_of(json!({"type": 5})).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the input schema of the tool `by hand` can't be used for validation: "),
        "{error}"
    );

    let remote = json!({"properties": {"a": {"$ref": "https://example.com/a"}}});
    let error = tool_of(remote).unwrap_err().to_string();
    assert!(
        error.contains("#/properties/a/$ref: `https://example.com/a` leads out of this document"),
        "{error}"
    );
}

/// A route of each kind with this name, or with it in its URI.
fn routes(name: &str) -> [Route; 4] {
    let address = |empty_or: &str| {
        if name.is_empty() {
            String::new()
        } else {
            format!("{empty_or}{name}")
        }
    };
    let template = hub::ResourceTemplate::new("A template", address("test://{day}/"));
    [
        tool(name, "A tool", || "").into(),
        resource(hub::Resource::new("A resource", address("test://")), || "").into(),
        resource_template(template, || "").unwrap().into(),
        prompt(hub::Prompt::new(name), || "").into(),
    ]
}

fn refusals(router: &Router, routes: impl IntoIterator<Item = Route>) -> Vec<String> {
    routes
        .into_iter()
        .map(|route| router.insert(route).unwrap_err().to_string())
        .collect()
}

#[test]
fn an_empty_name_is_refused() {
    assert_eq!(
        refusals(&Router::new("test", "1.0"), routes("")),
        [
            "the name of a tool is empty; clients need it to request the tool",
            "the uri of a resource is empty; clients need it to request the resource",
            "the uriTemplate of a resource template is empty; clients need it to request the resource template",
            "the name of a prompt is empty; clients need it to request the prompt",
        ]
    );
}

#[test]
fn a_resource_with_an_invalid_uri_is_refused_with_a_suggestion() {
    let router = Router::new("test", "1.0");
    let routes = ["notes", "file:///my notes"].map(|uri| resource(hub::Resource::new("Notes", uri), || "").into());
    assert_eq!(
        refusals(&router, routes),
        [
            "`notes` isn't the URI of a resource: it has no scheme, such as `file:`",
            "`file:///my notes` isn't the URI of a resource: ' ' can't be there; write it as %20",
        ]
    );
    router
        .insert(resource(hub::Resource::new("Notes", "file:///my%20notes"), || ""))
        .unwrap();
}

#[test]
fn a_completion_of_an_argument_that_the_route_lacks_is_refused() {
    let greet = hub::Prompt::new("greet").with_arguments(vec![hub::PromptArgument::new("name")]);
    let greet = prompt(greet, || "");
    let template = hub::ResourceTemplate::new("files", "file:///{path}");
    let files = resource_template(template, || "").unwrap();
    let router = Router::new("test", "1.0");
    let typos: [Route; 2] = [
        greet.clone().complete("nmae", Vec::<String>::new).into(),
        files.clone().complete("pth", Vec::<String>::new).into(),
    ];
    assert_eq!(
        refusals(&router, typos),
        [
            "the prompt `greet` has no argument `nmae` to complete",
            "the resource template `file:///{path}` has no argument `pth` to complete",
        ]
    );
    assert_ok(router.insert(greet.complete("name", Vec::<String>::new)), ());
    assert_ok(router.insert(files.complete("path", Vec::<String>::new)), ());
}

fn assert_ok<T: Debug + PartialEq, E: Debug>(result: Result<T, E>, expected: T) {
    assert_eq!(result.unwrap(), expected);
}

#[tokio::test]
async fn a_duplicate_name_is_refused_except_by_replace() {
    let router = routes("a").into_iter().fold(Router::new("test", "1.0"), Router::with);
    let (client, mut heard) = client_of(&router).await;
    assert_eq!(
        refusals(&router, routes("a")),
        [
            "the router has a tool `a` already; take another name, or `Router::replace`",
            "the router has a resource `test://a` already; take another name, or `Router::replace`",
            "the router has a resource template `test://{day}/a` already; take another name, or `Router::replace`",
            "the router has a prompt `a` already; take another name, or `Router::replace`",
        ]
    );
    nothing(&mut heard).await;

    assert_ok(router.replace(tool("a", "Another", || "another")), true);
    assert_eq!(next(&mut heard).await, "tools");
    let result = client.peer().call_tool(call("a", json!({}))).await.unwrap();
    assert_eq!(text(&result), "another");
    assert_ok(router.replace(tool("b", "New", || "")), false);
    assert_eq!(next(&mut heard).await, "tools");
}

#[test]
fn logging_is_declared_if_a_function_can_send_log_messages() {
    let has_logging = |router: &Router| json!(router.capabilities())["logging"].is_object();
    let new = || Router::new("test", "1.0");
    let template = || hub::ResourceTemplate::new("Days", "days://{day}");
    let silent = || {
        new()
            .tool("silent", "", || "")
            .with(resource(hub::Resource::new("silent", "test:silent"), || ""))
            .with(prompt(hub::Prompt::new("silent"), || ""))
    };
    assert!(!has_logging(&silent()));
    for logs in [
        new().tool("logs", "", |_: Call| ""),
        new().tool("logs", "", |_: Peer<ServerSide>| ""),
        new().with(resource(hub::Resource::new("logs", "test:logs"), |_: Call| "")),
        new().with(resource_template(template(), |_: Call| "").unwrap()),
        new().with(
            resource_template(template(), || "")
                .unwrap()
                .complete("day", |_: Call| Vec::<String>::new()),
        ),
        new().with(prompt(hub::Prompt::new("logs"), |_: Call| "")),
        new().custom_method("test/logs", |_: Call| json!({})),
    ] {
        assert!(has_logging(&logs), "{logs:?}");
        assert!(has_logging(&silent().nest("a_", &logs)), "{logs:?}");
    }
}

#[tokio::test]
async fn a_tool_can_have_metadata_extra_members_and_a_custom_output_schema() {
    let schema = json!({"type": "object", "properties": {"celsius": {"type": "number", "maximum": 50}}});
    let weather = |celsius: f64| move || Structured(Weather { celsius });
    let hot = tool("hot", "Is out of range", weather(90.0)).output_schema(schema.clone());
    let router = Router::new("weather", "1.0").with(hot).with(
        tool("warm", "Is in range", weather(20.0))
            .meta("example/first", json!(1))
            .meta("ui", json!({"resourceUri": "ui://old"}))
            .meta("ui", json!({"resourceUri": "ui://weather"}))
            .member("x-price", json!({"digits": 1.50}))
            .output_schema(schema.clone()),
    );
    let (client, _heard) = client_of(&router).await;
    let tools = client
        .peer()
        .list_tools(hub::PaginatedRequestParams::default())
        .await
        .unwrap()
        .tools;
    let warm = json!(tools[1]);
    let ui = json!({"resourceUri": "ui://weather"});
    assert_eq!(warm["_meta"], json!({"example/first": 1, "ui": ui}));
    assert_eq!(warm["x-price"], json!({"digits": 1.50}));
    assert_eq!(warm["outputSchema"], schema);
    let result = client.peer().call_tool(call("warm", json!({}))).await;
    assert!(result.is_ok());
    let error = refused(client.peer().call_tool(call("hot", json!({}))).await);
    assert_eq!(error.code, error_code::INTERNAL_ERROR);
    let refused = tool("none", "Has no schema", || "x")
        .try_output_schema(json!({"type": "nothing"}))
        .unwrap_err();
    assert!(
        matches!(
            refused,
            RouteError::Schema {
                role: "output schema",
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn a_new_session_declares_the_current_capabilities_and_instructions() {
    let router = Router::new("a", "1.0").tool("ping", "Answers", || "pong");
    let declared = async |router: &Router| {
        let (client, _heard) = client_of(router).await;
        let info = client.peer().info().expect("the session has begun").clone();
        client.close().await;
        (
            json!(info.server_capabilities())["prompts"].is_object(),
            info.instructions,
        )
    };
    assert_eq!(declared(&router).await, (false, None));
    router
        .insert(prompt(hub::Prompt::new("greet"), || "Hello"))
        .expect("a prompt");
    assert_eq!(declared(&router).await, (true, None));
    let other = router.clone().instructions("Greet");
    assert_eq!(declared(&other).await, (true, Some("Greet".to_owned())));
    assert!(router.remove_prompt("greet"));
    assert_eq!(declared(&other).await, (false, Some("Greet".to_owned())));
    assert_eq!(declared(&router).await, (false, None));
}

#[tokio::test]
async fn a_tool_declares_only_the_hints_that_were_set() {
    let router = Router::new("test", "1.0")
        .with(tool("archive", "Archives", || "").destructive(false).idempotent())
        .with(tool("count", "Counts", || 0).read_only().open_world(false))
        .tool("plain", "Says nothing of itself", || "");
    let (client, _heard) = client_of(&router).await;
    let tools = client.list_tools().await.unwrap();
    let hints: Vec<Value> = tools.iter().map(|tool| json!(tool.annotations)).collect();
    assert_eq!(
        hints,
        [
            json!({"destructiveHint": false, "idempotentHint": true}),
            json!({"readOnlyHint": true, "openWorldHint": false}),
            Value::Null
        ]
    );
}
