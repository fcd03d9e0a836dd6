//! A gateway in front of several servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use mcp_ext_tasks::EXTENSION;
use mcp_runtime::clients::ServerConfig;
use mcp_runtime::gateway::{Gateway, Outcome, Policy, Routed};
use mcp_runtime::router::{Call, prompt, resource, resource_template, tool};
use mcp_runtime::tasks::{CallTasks, Tasks, ToolAnswer, ToolTask};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    Args, CallClient, CallError, CallServer, Change, ChangeFilter, Client, ClientSession, Context, ErrorObject,
    HandlerResult, Middleware, Next, Router, ServerSide, accepted, error_code, hub, mcp_wire,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::many_servers::{Local, PATIENCE, REVISIONS, client, speaking};

fn named(name: &'static str) -> Router {
    Router::new(name, "1.0").tool("name", "Tells the name of the server", move || name)
}

/// A shell script that is a server with a handshake and one tool, and exits when that is called.
fn shell() -> ServerConfig {
    let script = r#"
        answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$1}"; }
        while read -r line; do
            id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            case "$line" in
            *'"method":"initialize"'*)
                answer '"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
            *'"method":"tools/list"'*) answer '"result":{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}' ;;
            *'"method":"tools/call"'*) echo oops >&2; exit 3 ;;
            *'"id":'*) answer '"error":{"code":-32601,"message":"no"}' ;;
            esac
        done"#;
    ServerConfig::process("sh").args(["-c", script])
}

async fn connect(gateway: &Gateway, client: Client, revision: &str) -> ClientSession {
    let (server, transport) = channel(16);
    gateway.serve(server);
    client
        .options(speaking(revision))
        .connect(transport)
        .await
        .expect("the gateway serves")
}

async fn tools(session: &ClientSession) -> Vec<String> {
    let tools = session.list_tools().await.expect("tools are listed");
    tools.into_iter().map(|tool| tool.name).collect()
}

async fn text(session: &ClientSession, tool: &str) -> String {
    let result = session.call_tool(tool, json!({})).await.expect("the tool is called");
    json!(result.content)[0]["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_gateway_combines_servers_and_restarts_one_that_crashes() {
    for revision in REVISIONS {
        let gateway = Gateway::new("tools", "1.0")
            .server("old", Local::new("2025-06-18", named("old")))
            .server("new", Local::new("2026-07-28", named("new")))
            .server("shell", shell());
        let session = connect(&gateway, client(), revision).await;
        let all = ["old_name", "new_name", "shell_run"];
        assert_eq!(tools(&session).await, all, "{revision}");
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        assert_eq!(text(&session, "old_name").await, "old");
        assert_eq!(text(&session, "new_name").await, "new");

        let crashed = timeout(PATIENCE, session.call_tool("shell_run", json!({})))
            .await
            .unwrap();
        let crashed = crashed.unwrap_err().to_string();
        // What it wrote to its standard error can be about the calls of other clients.
        assert!(
            crashed.contains(r#"server "shell""#) && crashed.contains("exit status: 3") && !crashed.contains("oops"),
            "{crashed}"
        );
        // The others work, and the one that has crashed is started again.
        assert_eq!(text(&session, "old_name").await, "old");
        let again = async {
            while tools(&session).await != all {
                changes.next().await.expect("there are changes").unwrap();
            }
        };
        timeout(PATIENCE, again).await.expect("it is started again");
        gateway.close().await;
    }
}

#[tokio::test]
async fn tools_of_a_server_that_is_down_are_not_listed_until_it_is_back() {
    for revision in REVISIONS {
        let flaky = Local::new("2025-11-25", named("flaky"));
        let gateway = Gateway::new("tools", "1.0")
            .server("flaky", flaky.clone())
            .server("steady", Local::new("2025-11-25", named("steady")));
        let session = connect(&gateway, client(), revision).await;
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        let mut until = async |expected: &[&str]| {
            let reached = async {
                while tools(&session).await != expected {
                    let _ = timeout(Duration::from_millis(100), changes.next()).await;
                }
            };
            timeout(PATIENCE, reached)
                .await
                .expect("the list becomes the expected one");
        };
        until(&["flaky_name", "steady_name"]).await;
        flaky.end(true);
        until(&["steady_name"]).await;
        let error = session
            .call_tool("flaky_name", json!({}))
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(r#"the server "flaky" can't be reached"#), "{error}");
        // The failure doesn't show which revisions the server has.
        assert!(!error.contains("stateless"), "{error}");
        flaky.end(false);
        until(&["flaky_name", "steady_name"]).await;
        assert_eq!(text(&session, "flaky_name").await, "flaky", "{revision}");
    }
}

#[tokio::test]
async fn a_list_change_of_one_server_reaches_subscribed_clients() {
    for revision in REVISIONS {
        let server = Local::new("2025-06-18", named("a"));
        let gateway = Gateway::new("tools", "1.0").server("a", server.clone());
        let session = connect(&gateway, client(), revision).await;
        tools(&session).await;
        let mut changes = session.peer().changes(ChangeFilter::lists()).await.unwrap();
        let told = async {
            loop {
                server.router.prompts_changed();
                server.router.tools_changed();
                match timeout(Duration::from_millis(20), changes.next()).await {
                    Ok(Some(Ok(Change::ToolList))) => break,
                    Ok(None | Some(Err(_))) => panic!("the subscription has ended"),
                    _ => {}
                }
            }
        };
        timeout(PATIENCE, told).await.expect("a change is reported");
    }
}

/// A server that elicits the name of its user.
fn asking() -> Router {
    async fn who(call: Call) -> Result<String, CallError> {
        let form = mcp_wire::from_str(r#"{"type":"object","properties":{"name":{"type":"string"}}}"#).expect("a form");
        let answer = call
            .peer()
            .elicit(hub::ElicitRequestFormParams::new("Who are you?", form).into());
        Ok(json!(answer.await?.content)["name"]
            .as_str()
            .unwrap_or("nobody")
            .to_owned())
    }
    Router::new("asking", "1.0").tool("who", "Elicits the name of the user", who)
}

#[tokio::test]
async fn an_elicitation_of_a_server_reaches_the_client_of_the_call() {
    for server in REVISIONS {
        let gateway = Gateway::new("tools", "1.0").server("ask", Local::new(server, asking()));
        for revision in REVISIONS {
            let user =
                |name: &'static str| client().elicit_form(move |_| async move { accepted(&json!({"name": name})) });
            let (ada, bob) = (
                connect(&gateway, user("Ada"), revision).await,
                connect(&gateway, user("Bob"), revision).await,
            );
            let asked = async { tokio::join!(text(&ada, "ask_who"), text(&bob, "ask_who"), text(&ada, "ask_who")) };
            let names = timeout(PATIENCE, asked).await.expect("all are asked");
            let names = (names.0.as_str(), names.1.as_str(), names.2.as_str());
            assert_eq!(names, ("Ada", "Bob", "Ada"), "server {server}, client {revision}");
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Note {
    #[allow(dead_code, reason = "it is the variable of the template")]
    day: String,
}

#[tokio::test]
async fn prompts_resources_completions_and_progress_pass_through_the_gateway() {
    async fn work(call: Call) -> Result<&'static str, CallError> {
        call.progress(1.0, Some(2.0), None).await?;
        Ok("worked")
    }
    let template = hub::ResourceTemplate::new("Notes", "notes://{day}");
    let notes = Router::new("notes", "1.0")
        .tool("work", "Works", work)
        .with(prompt(hub::Prompt::new("write"), || "Write a note"))
        .with(resource(hub::Resource::new("Today", "notes://today"), || "Buy bread"))
        .with(
            resource_template(template, |Args(Note { day })| format!("Nothing on {day}"))
                .expect("it is a template")
                .complete("day", || vec!["monday".to_owned()]),
        );
    let gateway = Gateway::new("tools", "1.0")
        .page_size(1)
        .server("a", Local::new("2025-06-18", named("a")))
        .server("notes", Local::new("2025-11-25", notes));
    for revision in REVISIONS {
        let session = connect(&gateway, client(), revision).await;
        assert_eq!(tools(&session).await, ["a_name", "notes_work"]);
        assert_eq!(session.list_prompts().await.unwrap()[0].name, "notes_write");
        let written = session.get_prompt("notes_write", ()).await.unwrap();
        assert_eq!(json!(written.messages)[0]["content"]["text"], "Write a note");
        for (uri, expected) in [("notes://today", "Buy bread"), ("notes://monday", "Nothing on monday")] {
            let contents = session.read_resource(uri).await.unwrap().contents;
            assert_eq!(json!(contents)[0]["text"], expected, "{revision}");
        }
        assert!(session.read_resource("other://x").await.is_err());
        let argument = hub::CompleteRequestParamsArgument::new("day", "m");
        let reference = hub::ResourceTemplateReference::new("notes://{day}");
        let params = hub::CompleteRequestParams::new(argument, hub::CompletionReference::ResourceTemplate(reference));
        let completed = session.peer().complete(params).await.unwrap();
        assert_eq!(completed.completion.values, ["monday"]);
        let (progress, mut reported) = mpsc::channel(4);
        let peer = session.peer().clone().with_progress(progress);
        peer.call_tool(hub::CallToolRequestParams::new("notes_work"))
            .await
            .unwrap();
        assert_eq!(reported.recv().await.unwrap().total, Some(2.0));
    }
}

#[tokio::test]
async fn servers_behind_a_gateway_return_plain_results_to_clients_that_declare_tasks() {
    let jobs = || {
        let router = Router::new("jobs", "1.0").extension(Tasks::default());
        router.with(tool("job", "Works", || "done").task())
    };
    for server in ["2025-11-25", "2026-07-28"] {
        let gateway = Gateway::new("tools", "1.0")
            .server("a", Local::new(server, jobs()))
            .server("b", Local::new(server, jobs()));
        let session = connect(&gateway, client().extension(&EXTENSION), "2026-07-28").await;
        for name in ["a_job", "b_job"] {
            let params = hub::CallToolRequestParams::new(name);
            let answer = session.peer().call_tool_as_task(params).await.unwrap();
            assert!(matches!(answer, ToolAnswer::Result(_)), "{answer:?}");
        }
    }
}

/// One of several servers with the same names and URIs: a page, a template of pages, a prompt and a tool with links to
/// them, and a tool that changes the page.
fn twin(name: &'static str) -> Router {
    let page = "wiki://page";
    let template = hub::ResourceTemplate::new("Pages", "wiki://pages/{day}");
    let link = |uri: &str| hub::ContentBlock::ResourceLink(hub::ResourceLink::new("page", uri));
    let router = Router::new(name, "1.0")
        .with(resource(hub::Resource::new("Page", page), move || {
            format!("page of {name}")
        }))
        .with(
            resource_template(template, move |Args(Note { day })| format!("{day} of {name}"))
                .expect("it is a template")
                .complete("day", move || vec![name.to_owned()]),
        )
        .with(prompt(hub::Prompt::new("read"), move || {
            vec![hub::PromptMessage::new("user", link("wiki://page"))]
        }))
        .tool("links", "Links to pages", move || {
            let embedded = hub::TextResourceContents::new("text", "wiki://page");
            let embedded = hub::EmbeddedResource::new(hub::AnyResourceContents::from(embedded));
            vec![link("wiki://page"), link("wiki://pages/monday"), embedded.into()]
        });
    let changing = router.clone();
    let change = tool("change", "Changes the page", move || changing.resource_updated(page));
    router.insert(change).expect("there is no such tool yet");
    router
}

/// Reads a resource, and returns its text and the URI in its contents.
async fn read(session: &ClientSession, uri: &str) -> (String, String) {
    let contents = json!(session.read_resource(uri).await.expect("it is read").contents);
    let member = |name: &str| contents[0][name].as_str().unwrap_or_default().to_owned();
    (member("text"), member("uri"))
}

#[tokio::test]
async fn equal_resource_uris_of_two_servers_are_distinguished() {
    for server in REVISIONS {
        for (prefixes_all, first) in [(false, "wiki://"), (true, "wiki://a/")] {
            let mut gateway = Gateway::new("tools", "1.0")
                .server("a", Local::new(server, twin("a")))
                .server("b", Local::new(server, twin("b")));
            if prefixes_all {
                gateway = gateway.prefix_uris();
            }
            for revision in REVISIONS {
                twins_are_distinguished(&connect(&gateway, client(), revision).await, first).await;
            }
        }
    }
}

async fn twins_are_distinguished(session: &ClientSession, first: &str) {
    // Links are rewritten correctly even before anything was listed.
    for (server, base) in [("a", first), ("b", "wiki://b/")] {
        let result = session.call_tool(&format!("{server}_links"), json!({})).await.unwrap();
        let content = json!(result.content);
        let prompt = session.get_prompt(&format!("{server}_read"), ()).await.unwrap();
        let page = format!("{base}page");
        assert_eq!(content[0]["uri"], page);
        assert_eq!(content[1]["uri"], format!("{base}pages/monday"));
        assert_eq!(content[2]["resource"]["uri"], page);
        assert_eq!(json!(prompt.messages)[0]["content"]["uri"], page);
    }
    let resources = session.list_resources().await.unwrap();
    let uris: Vec<_> = resources.iter().map(|resource| resource.uri.clone()).collect();
    assert_eq!(uris, [format!("{first}page"), "wiki://b/page".to_owned()]);
    let templates = session.list_resource_templates().await.unwrap();
    let templates: Vec<_> = templates.into_iter().map(|template| template.uri_template).collect();
    assert_eq!(
        templates,
        [format!("{first}pages/{{day}}"), "wiki://b/pages/{day}".to_owned()]
    );

    for (server, base, template) in [("a", first, &templates[0]), ("b", "wiki://b/", &templates[1])] {
        for (path, what) in [
            ("page", "page"),
            ("pages/tuesday", "tuesday"),
            ("pages/monday", "monday"),
        ] {
            let uri = format!("{base}{path}");
            assert_eq!(read(session, &uri).await, (format!("{what} of {server}"), uri));
        }
        let argument = hub::CompleteRequestParamsArgument::new("day", "");
        let reference = hub::ResourceTemplateReference::new(template);
        let params = hub::CompleteRequestParams::new(argument, hub::CompletionReference::ResourceTemplate(reference));
        assert_eq!(
            session.peer().complete(params).await.unwrap().completion.values,
            [server]
        );
    }

    let watched = "wiki://b/page";
    let filter = ChangeFilter::default().with_resource(watched);
    let mut changes = session.peer().changes(filter).await.unwrap();
    let told = async {
        loop {
            session.call_tool("a_change", json!({})).await.unwrap();
            session.call_tool("b_change", json!({})).await.unwrap();
            if let Ok(change) = timeout(Duration::from_millis(20), changes.next()).await {
                break change.expect("the subscription continues").unwrap();
            }
        }
    };
    let change = timeout(PATIENCE, told).await.expect("a change is reported");
    assert_eq!(change, Change::Resource(watched.into()));
}

#[tokio::test(start_paused = true)]
async fn a_change_before_the_gateway_has_subscribed_at_the_server_is_reported() {
    async fn slow() -> Vec<hub::Resource> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Vec::new()
    }
    for revision in REVISIONS {
        let page = resource(hub::Resource::new("Page", "wiki://page"), || "page");
        let server = Local::new(revision, Router::new("wiki", "1.0").with(page));
        let slow = Local::new(revision, Router::new("slow", "1.0").resources(slow));
        let gateway = Gateway::new("all", "1.0")
            .server("slow", slow)
            .server("wiki", server.clone());
        let (transport, served) = channel(16);
        let _serving = gateway.serve(served);
        let session = client().options(speaking(revision)).connect(transport).await.unwrap();
        let filter = ChangeFilter::default().with_resource("wiki://page");
        let mut changes = session.peer().changes(filter).await.unwrap();
        server.router.resource_updated("wiki://page");
        let change = timeout(PATIENCE, changes.next()).await.expect("it is reported");
        assert_eq!(change.unwrap().unwrap(), Change::Resource("wiki://page".into()));
    }
}

/// Refuses one tool, and clears the results of the others.
struct Careful;

impl Policy for Careful {
    async fn request(&self, call: Routed<'_>, request: &mut hub::ClientRequest) -> Result<(), ErrorObject> {
        match request {
            hub::ClientRequest::CallTool(request) if request.params.name == "name" && call.server == "b" => {
                Err(ErrorObject::new(error_code::INVALID_REQUEST, "not this one"))
            }
            _ => Ok(()),
        }
    }

    async fn result(&self, _: Routed<'_>, result: &mut hub::ServerResult) -> Result<(), ErrorObject> {
        if let hub::ServerResult::CallTool(result) = result {
            result.content.clear();
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_policy_can_refuse_calls_and_change_results_and_calls_are_observed() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&reports);
    let gateway = Gateway::new("tools", "1.0")
        .policy(Careful)
        .observe(move |call| {
            let report = (call.server.to_owned(), call.target.map(str::to_owned), call.outcome);
            kept.lock().expect("nobody panics").push(report);
        })
        .server("a", Local::new("2025-06-18", named("a")))
        .server("b", Local::new("2026-07-28", named("b")));
    let session = connect(&gateway, client(), "2025-11-25").await;
    assert_eq!(text(&session, "a_name").await, "");
    let refused = session.call_tool("b_name", json!({})).await.unwrap_err().to_string();
    assert!(refused.contains("not this one"), "{refused}");
    let name = || Some("name".to_owned());
    let expected = [
        ("a".to_owned(), name(), Outcome::Completed),
        ("b".to_owned(), name(), Outcome::Failed(error_code::INVALID_REQUEST)),
    ];
    assert_eq!(*reports.lock().expect("nobody panics"), expected);
}

/// Returns the parameters of each call as text, with members that no revision declares.
struct Talkative;

impl Middleware<ServerSide> for Talkative {
    async fn request(
        &self,
        request: hub::ClientRequest,
        context: Context<ServerSide>,
        next: Next<ServerSide>,
    ) -> Result<HandlerResult<hub::ServerResult>, ErrorObject> {
        let hub::ClientRequest::CallTool(call) = request else {
            return next.request(request, context).await;
        };
        let mut text = hub::TextContent::new(json!(call.params).to_string());
        text.extra.insert("hidden", json!(1));
        text.meta = Some(mcp_wire::from_str(r#"{"example.com/open": 2}"#).unwrap());
        let mut result = hub::CallToolResult::new(vec![text.into()]);
        result.extra.insert("hidden", json!({"deep": 3}));
        result.structured_content = Some(json!({"own": 4}).into());
        Ok(HandlerResult::Declared(hub::ServerResult::CallTool(result)))
    }
}

#[tokio::test]
async fn undeclared_members_pass_unless_the_gateway_drops_them() {
    for revision in REVISIONS {
        for drops in [false, true] {
            let mut gateway =
                Gateway::new("tools", "1.0").server("a", Local::new(revision, named("a").layer(Talkative)));
            if drops {
                gateway = gateway.drop_undeclared();
            }
            let session = connect(&gateway, client(), revision).await;
            let mut params = hub::CallToolRequestParams::new("a_name");
            params.arguments = Some(mcp_wire::from_str(r#"{"own": 5}"#).unwrap());
            params.extra.insert("hidden", json!(6));
            params.meta.extra.insert("example.com/open", json!(7));
            let result = session.peer().call_tool(params).await.unwrap();
            let result = json!(result);
            let echoed: serde_json::Value =
                serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            let is_there = |value: &serde_json::Value| !value["hidden"].is_null();
            for value in [&result, &result["content"][0], &echoed] {
                assert_eq!(is_there(value), !drops, "{revision}: {value}");
            }
            assert_eq!(result["content"][0]["_meta"]["example.com/open"], 2, "{revision}");
            assert_eq!(result["structuredContent"]["own"], 4, "{revision}");
            assert_eq!(echoed["arguments"]["own"], 5, "{revision}");
            assert_eq!(echoed["_meta"]["example.com/open"], 7, "{revision}");
        }
    }
}

#[tokio::test]
async fn ambiguous_server_names_are_refused_when_they_are_added() {
    let server = || Local::new("2025-06-18", named("a"));
    let gateway = Gateway::new("tools", "1.0").server("git", server());
    assert!(gateway.clone().try_server("git_hub", server()).is_err());
    assert!(gateway.clone().flat().try_server("git_hub", server()).is_ok());
    assert!(gateway.flat().try_server("git", server()).is_err());
}
