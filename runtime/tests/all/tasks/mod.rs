//! Tools that run as tasks.

mod bridged;
mod in_core;
mod shared;
mod subscriptions;

use std::sync::Arc;
use std::time::Duration;

use mcp_ext_tasks::{
    CancelTaskRequest, CancelTaskRequestParams, CreateTaskResult, EXTENSION, GetTaskRequest, GetTaskRequestParams,
    GetTaskResult, TaskStatus, UpdateTaskRequest, UpdateTaskRequestParams,
};
use mcp_runtime::mcp_wire::{
    Direction, Encode, Extension, Method, RawJson, RawObject, Request, UnknownMethod, Validate, from_str,
};
use mcp_runtime::router::{Call, RouteError, ServerExtension, State, ToolError, tool};
use mcp_runtime::tasks::{CallTasks, TaskContext, TaskError, TaskHandle, TaskLimits, Tasks, ToolAnswer, ToolTask};
use mcp_runtime::transport::channel;
use mcp_runtime::{
    CallClient, CallError, CallServer, Client, ClientSession, ErrorObject, Options, Revision, Router, connect,
    error_code, hub,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use crate::common::PATIENCE;

const ALICE: Option<&str> = Some("alice");

/// Builds the response to an input request of a task. Its types are those of the revision that the extension extends,
/// which isn't necessarily the hub.
fn answer(task: &str, name: &str, action: &str) -> UpdateTaskRequestParams {
    let answers = json!({ name: {"action": action} });
    UpdateTaskRequestParams::new(task, from_str(&answers.to_string()).unwrap())
}

fn form(message: &str) -> hub::ElicitRequestParams {
    let form = from_str(r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}}"#);
    hub::ElicitRequestFormParams::new(message, form.unwrap()).into()
}

async fn ask(task: TaskContext) -> Result<String, CallError> {
    task.status("asking");
    let first = task.named("first");
    let (first, second) = tokio::try_join!(first.elicit(form("The first?")), task.elicit(form("The second?")))?;
    Ok(format!("{} and {}", first.action.as_str(), second.action.as_str()))
}

async fn publish(State(tasks): State<Tasks>, call: Call) -> Result<hub::AnyCallToolResult, ToolError> {
    let spawned = tasks.spawn(&call, |task| async move {
        task.status("uploading");
        task.id()
            .map(|id| format!("published by {id}"))
            .ok_or("there is no task")
    });
    spawned.await
}

fn server(limits: TaskLimits) -> Router {
    Router::new("builds", "1.0")
        .extension(Tasks::new(limits))
        .with(
            tool("build", "Builds", |task: TaskContext| async move {
                task.status("compiling");
                sleep(Duration::from_millis(50)).await;
                "built"
            })
            .task(),
        )
        .with(tool("forever", "Never ends", std::future::pending::<String>).task())
        .with(tool("panic", "Panics", || -> String { panic!("on purpose") }).task())
        .with(
            tool("refuse", "Fails as a request", || {
                Err::<String, _>(ErrorObject::new(-1, "no"))
            })
            .task(),
        )
        .with(tool("fail", "Fails as a tool", || Err::<String, _>("no")).task())
        .with(tool("ask", "Asks twice", ask).task())
        .with(tool("only", "Runs only as a task", || "done").only_as_task())
        .with(tool("publish", "Publishes", publish).spawns_task())
        .tool("plain", "Runs at once", || "plain")
}

async fn client(router: &Router, revision: Revision, knows_tasks: bool, principal: Option<&str>) -> ClientSession {
    let (mut ours, theirs) = channel(16);
    if let Some(principal) = principal {
        ours = ours.principal(principal);
    }
    let supported = Options {
        supported: Revision::ALL.into(),
        ..Options::default()
    };
    drop(router.clone().serve(supported, theirs));
    let mut capabilities = hub::ClientCapabilities::default().with_elicitation(Default::default());
    if knows_tasks {
        let extensions = [(EXTENSION.id.to_owned(), json!({}).into())];
        capabilities.extensions = Some(extensions.into_iter().collect());
    }
    let options = Options {
        supported: [revision].into(),
        ..Options::default()
    };
    let info = hub::Implementation::new("test", "1.0");
    connect((), info, capabilities, options, ours).await.unwrap()
}

async fn hub_client(router: &Router) -> ClientSession {
    client(router, Revision::HUB, true, ALICE).await
}

/// Calls a tool that runs as a task.
async fn begin(client: &ClientSession, name: &str) -> CreateTaskResult {
    let request = hub::CallToolRequest::new(hub::CallToolRequestParams::new(name)).into();
    match client.peer().call(request).await.unwrap() {
        hub::ServerResult::Unknown(task) => {
            let task: CreateTaskResult = task.decode_as().unwrap();
            task.validate().unwrap();
            task
        }
        other => panic!("{other:?}"),
    }
}

async fn request<R: Request>(client: &ClientSession, params: &impl Encode) -> Result<RawJson, CallError> {
    let params = RawJson::from_encode(params).unwrap();
    client
        .peer()
        .call_unknown(UnknownMethod::new(R::METHOD).with_params(params))
        .await
}

async fn get(client: &ClientSession, id: &str) -> Result<GetTaskResult, CallError> {
    let result = request::<GetTaskRequest>(client, &GetTaskRequestParams::new(id)).await?;
    let state: GetTaskResult = result.decode_as().unwrap();
    state.validate().unwrap();
    Ok(state)
}

/// Polls a task until it is in a wanted state, and returns that state.
async fn wait(client: &ClientSession, id: &str, wanted: impl Fn(&GetTaskResult) -> bool) -> GetTaskResult {
    for _ in 0..500 {
        let state = get(client, id).await.unwrap();
        if wanted(&state) {
            return state;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", get(client, id).await);
}

async fn ended(client: &ClientSession, name: &str) -> GetTaskResult {
    let task = begin(client, name).await;
    let goes_on = |state: &GetTaskResult| matches!(state, GetTaskResult::Working(_) | GetTaskResult::InputRequired(_));
    wait(client, &task.task_id, |state| !goes_on(state)).await
}

fn refused<T: std::fmt::Debug>(result: Result<T, CallError>) -> ErrorObject {
    match result {
        Err(CallError::Peer(error)) => error,
        other => panic!("not refused: {other:?}"),
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn a_tool_runs_as_a_task_and_its_result_is_kept() {
    let client = hub_client(&server(TaskLimits::default())).await;
    let declared = client.peer().info().unwrap().server_capabilities().extensions.unwrap();
    assert!(declared.contains_key(EXTENSION.id));
    assert!(client.peer().info().unwrap().server_capabilities().logging.is_some());

    let task = begin(&client, "build").await;
    assert_eq!(
        (task.status, task.ttl_ms, task.poll_interval_ms),
        (TaskStatus::Working, Some(3_600_000), Some(1_000))
    );
    let working = wait(&client, &task.task_id, |state| match state {
        GetTaskResult::Working(task) => task.status_message.as_deref() == Some("compiling"),
        state => panic!("{state:?}"),
    });
    working.await;
    let done = wait(&client, &task.task_id, |state| {
        matches!(state, GetTaskResult::Completed(_))
    })
    .await;
    let GetTaskResult::Completed(done) = done else { panic!() };
    let result: Value = done.result.parse().unwrap();
    assert_eq!((text(&result), done.status_message), ("built", None));
    assert!(done.last_updated_at > task.created_at);
    // The result can be read again.
    assert!(matches!(
        get(&client, &task.task_id).await,
        Ok(GetTaskResult::Completed(_))
    ));
}

#[tokio::test]
async fn a_client_without_the_extension_gets_results_unless_the_tool_needs_a_task() {
    let router = server(TaskLimits::default());
    for revision in Revision::ALL {
        let client = client(&router, revision, false, None).await;
        let call = |name: &str| client.peer().call_tool(hub::CallToolRequestParams::new(name));
        let hub::AnyCallToolResult::CallTool(result) = call("build").await.unwrap().into() else {
            panic!()
        };
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(text(&result), "built", "{revision}");
        for name in ["only", "publish"] {
            let error = refused(call(name).await);
            if revision == Revision::HUB {
                assert_eq!(error.code, hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY);
                let missing: Value = error.data.unwrap().parse().unwrap();
                assert_eq!(
                    missing["requiredCapabilities"],
                    json!({"extensions": {EXTENSION.id: {}}})
                );
            }
        }
    }
    let client = client(&router, Revision::HUB, false, None).await;
    let error = refused(get(&client, "0").await);
    assert_eq!(error.code, hub::error_code::MISSING_REQUIRED_CLIENT_CAPABILITY);
}

#[tokio::test]
async fn the_end_state_of_a_task_matches_how_its_function_ended() {
    let client = hub_client(&server(TaskLimits::default())).await;
    let GetTaskResult::Failed(refused) = ended(&client, "refuse").await else {
        panic!()
    };
    assert_eq!((refused.error.code, refused.error.message.as_str()), (-1, "no"));
    assert_eq!(refused.status_message.as_deref(), Some("no"));
    let GetTaskResult::Completed(failed) = ended(&client, "fail").await else {
        panic!()
    };
    let failed: Value = failed.result.parse().unwrap();
    assert_eq!((text(&failed), &failed["isError"]), ("no", &json!(true)));
    let GetTaskResult::Failed(panicked) = ended(&client, "panic").await else {
        panic!()
    };
    assert_eq!(panicked.error.code, error_code::INTERNAL_ERROR);
    let GetTaskResult::Completed(published) = ended(&client, "publish").await else {
        panic!()
    };
    let result: Value = published.result.parse().unwrap();
    assert_eq!(text(&result), format!("published by {}", published.task_id));
}

#[tokio::test]
async fn a_task_requests_input_and_continues_once_all_of_it_is_answered() {
    let client = hub_client(&server(TaskLimits::default())).await;
    let task = begin(&client, "ask").await;
    let asking = |count: usize| {
        move |state: &GetTaskResult| match state {
            GetTaskResult::InputRequired(task) => task.input_requests.len() == count,
            _ => false,
        }
    };
    let GetTaskResult::InputRequired(asked) = wait(&client, &task.task_id, asking(2)).await else {
        panic!()
    };
    let mut names: Vec<&str> = asked.input_requests.iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["1", "first"]);
    let answer = |name: &str, action: &str| answer(&task.task_id, name, action);
    // A response under a name that wasn't requested is ignored, even if it is invalid.
    let ignored = json!({"taskId": task.task_id, "inputResponses": {"unknown": {}}});
    let ignored = UnknownMethod::new("tasks/update").with_params(RawJson::from(ignored));
    client.peer().call_unknown(ignored).await.unwrap();
    let wrong = json!({"taskId": task.task_id, "inputResponses": {"first": {}}});
    let wrong = UnknownMethod::new("tasks/update").with_params(RawJson::from(wrong));
    assert_eq!(
        refused(client.peer().call_unknown(wrong).await).code,
        error_code::INVALID_PARAMS
    );
    for params in [answer("unknown", "cancel"), answer("first", "accept")] {
        request::<UpdateTaskRequest>(&client, &params).await.unwrap();
    }
    wait(&client, &task.task_id, asking(1)).await;
    request::<UpdateTaskRequest>(&client, &answer("1", "decline"))
        .await
        .unwrap();
    let done = wait(&client, &task.task_id, |state| {
        matches!(state, GetTaskResult::Completed(_))
    })
    .await;
    let GetTaskResult::Completed(done) = done else { panic!() };
    assert_eq!(text(&done.result.parse().unwrap()), "accept and decline");
}

#[tokio::test]
async fn a_task_that_is_cancelled_twice_stays_cancelled() {
    let client = hub_client(&server(TaskLimits::default())).await;
    let task = begin(&client, "forever").await;
    for _ in 0..2 {
        let params = CancelTaskRequestParams::new(&task.task_id);
        request::<CancelTaskRequest>(&client, &params).await.unwrap();
        assert!(matches!(
            get(&client, &task.task_id).await,
            Ok(GetTaskResult::Cancelled(_))
        ));
    }
}

#[tokio::test]
async fn a_task_of_another_principal_is_reported_as_unknown() {
    let router = server(TaskLimits::default());
    let alice = hub_client(&router).await;
    let task = begin(&alice, "build").await;
    for principal in [Some("bob"), None] {
        let other = client(&router, Revision::HUB, true, principal).await;
        let (hidden, unknown) = (
            refused(get(&other, &task.task_id).await),
            refused(get(&other, "0").await),
        );
        assert_eq!(hidden, unknown);
        let params = CancelTaskRequestParams::new(&task.task_id);
        assert_eq!(refused(request::<CancelTaskRequest>(&other, &params).await), unknown);
    }
    assert!(get(&alice, &task.task_id).await.is_ok());
}

#[tokio::test]
async fn limits_bound_the_number_the_result_size_and_the_lifetime_of_tasks() {
    let client = hub_client(&server(TaskLimits {
        tasks: 2,
        bytes: 10,
        ttl: Duration::from_millis(300),
        ..TaskLimits::default()
    }))
    .await;
    let forever = begin(&client, "forever").await;
    let GetTaskResult::Failed(too_large) = ended(&client, "build").await else {
        panic!()
    };
    assert_eq!(too_large.error.code, error_code::INTERNAL_ERROR);
    let third = client.peer().call_tool(hub::CallToolRequestParams::new("build")).await;
    assert_eq!(refused(third).code, error_code::INTERNAL_ERROR);
    // A task that outlives its time to live is stopped and removed.
    sleep(Duration::from_millis(400)).await;
    assert_eq!(
        refused(get(&client, &forever.task_id).await).code,
        error_code::INVALID_PARAMS
    );
    begin(&client, "build").await;
}

#[tokio::test]
async fn ten_thousand_calls_start_no_more_tasks_than_the_limit() {
    let client = hub_client(&server(TaskLimits {
        tasks: 100,
        ..TaskLimits::default()
    }))
    .await;
    let (mut begun, mut too_many) = (0, 0);
    for _ in 0..10_000 {
        let request = hub::CallToolRequest::new(hub::CallToolRequestParams::new("forever")).into();
        match client.peer().call(request).await {
            Ok(hub::ServerResult::Unknown(_)) => begun += 1,
            Err(CallError::Peer(error)) if error.code == error_code::INTERNAL_ERROR => too_many += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((begun, too_many), (100, 9_900));
}

#[tokio::test]
async fn tasks_get_refuses_invalid_parameters() {
    let client = hub_client(&server(TaskLimits::default())).await;
    for params in [json!({}), json!({"taskId": 1})] {
        let request = UnknownMethod::new("tasks/get").with_params(RawJson::from(params));
        assert_eq!(
            refused(client.peer().call_unknown(request).await).code,
            error_code::INVALID_PARAMS
        );
    }
}

#[test]
#[should_panic(expected = "State<")]
fn registering_a_task_tool_without_the_tasks_extension_panics() {
    let _ = Router::new("builds", "1.0").with(tool("build", "Builds", || "built").task());
}

/// A client whose user accepts the first form and declines the second.
fn asked() -> Client {
    Client::new("test", "1.0").extension(&EXTENSION).elicit_form(|form| {
        let action = match form.message.as_str() {
            "The first?" => hub::ElicitResultAction::Accept,
            _ => hub::ElicitResultAction::Decline,
        };
        std::future::ready(Ok(hub::ElicitResult::new(action)))
    })
}

fn limits() -> TaskLimits {
    TaskLimits {
        poll_interval: Duration::from_millis(20),
        ..TaskLimits::default()
    }
}

#[tokio::test]
async fn a_client_waits_for_tasks_answers_their_input_requests_and_cancels_them() {
    let (ours, theirs) = channel(16);
    drop(server(limits()).serve(Options::default(), theirs));
    let client = asked().connect(ours).await.unwrap();
    let peer = client.peer();
    let call = |name: &str| peer.call_tool_to_end(hub::CallToolRequestParams::new(name));
    let said = |result: hub::CallToolResult| text(&serde_json::to_value(result).unwrap()).to_owned();
    assert_eq!(said(call("build").await.unwrap()), "built");
    assert_eq!(said(call("ask").await.unwrap()), "accept and decline");
    assert_eq!(call("fail").await.unwrap().is_error, Some(true));
    assert!(matches!(call("refuse").await, Err(TaskError::Failed(error)) if error.code == -1));

    let begin = peer.call_tool_as_task(hub::CallToolRequestParams::new("forever"));
    let ToolAnswer::Task(task) = begin.await.unwrap() else {
        panic!("a result instead of a task")
    };
    assert!(matches!(task.state().await, Ok(GetTaskResult::Working(_))));
    task.cancel().await.unwrap();
    let kept = TaskHandle::new(peer.clone(), task.id());
    assert!(matches!(kept.wait(|_| ()).await, Err(TaskError::Cancelled)));

    let begin = peer.call_tool_as_task(hub::CallToolRequestParams::new("build"));
    let ToolAnswer::Task(task) = begin.await.unwrap() else {
        panic!("a result instead of a task")
    };
    let mut messages = Vec::new();
    let observe = |state: &GetTaskResult| {
        if let GetTaskResult::Working(task) = state {
            messages.extend(task.status_message.clone());
        }
    };
    task.wait(observe).await.unwrap();
    assert!(messages.iter().any(|message| message == "compiling"), "{messages:?}");
}

#[tokio::test]
async fn a_task_whose_input_request_the_client_cannot_answer_is_cancelled() {
    let (ours, theirs) = channel(16);
    drop(server(limits()).serve(Options::default(), theirs));
    let client = Client::new("test", "1.0")
        .extension(&EXTENSION)
        .capabilities(|declared| declared.elicitation = Some(Default::default()))
        .connect(ours)
        .await
        .unwrap();
    let begin = client.peer().call_tool_as_task(hub::CallToolRequestParams::new("ask"));
    let ToolAnswer::Task(task) = begin.await.unwrap() else {
        panic!("a result instead of a task")
    };
    assert!(matches!(
        task.wait(|_| ()).await,
        Err(TaskError::Call(CallError::InputNotProvided(_)))
    ));
    assert!(matches!(task.state().await, Ok(GetTaskResult::Cancelled(_))));
}

#[tokio::test]
async fn a_task_that_elicits_from_a_client_without_elicitation_gets_an_error() {
    async fn ask(task: TaskContext) -> String {
        let asked = task.elicit(form("Sure?")).await;
        asked.map_or_else(|error| error.to_string(), |_| "answered".to_owned())
    }
    let (ours, theirs) = channel(16);
    let router = server(limits()).with(tool("sure", "Asks once", ask).task());
    drop(router.serve(Options::default(), theirs));
    let client = Client::new("test", "1.0").extension(&EXTENSION);
    let client = client.connect(ours).await.unwrap();
    let called = client.peer().call_tool_to_end(hub::CallToolRequestParams::new("sure"));
    let result = timeout(PATIENCE, called).await.expect("the task ends").unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert!(text(&result).contains("doesn't offer `elicitation`"), "{result}");
}

#[tokio::test]
async fn waiting_for_a_task_that_is_cancelled_ends_although_its_input_request_is_unanswered() {
    let asked = Arc::new(Notify::new());
    let never_answers = {
        let asked = Arc::clone(&asked);
        move |_: hub::ElicitRequestFormParams| {
            asked.notify_one();
            std::future::pending::<Result<hub::ElicitResult, ErrorObject>>()
        }
    };
    let (ours, theirs) = channel(16);
    drop(server(limits()).serve(Options::default(), theirs));
    let client = Client::new("test", "1.0")
        .extension(&EXTENSION)
        .elicit_form(never_answers);
    let client = client.connect(ours).await.unwrap();
    let begin = client.peer().call_tool_as_task(hub::CallToolRequestParams::new("ask"));
    let ToolAnswer::Task(task) = begin.await.unwrap() else {
        panic!("a result instead of a task")
    };
    let cancelled = async {
        asked.notified().await;
        task.cancel().await.unwrap();
    };
    let waited = async { tokio::join!(task.wait(|_| ()), cancelled).0 };
    let waited = timeout(PATIENCE, waited).await.expect("it ends with the task");
    assert!(matches!(waited, Err(TaskError::Cancelled)), "{waited:?}");
}

/// Answers with the completed task of the example in the extension's specification, whose nested result has no
/// `resultType`.
#[derive(Clone)]
struct Example;

impl ServerExtension for Example {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        let mut completed = example_task("complete", "completed");
        completed["result"] = json!({"content": [{"type": "text", "text": "Hello, Luca!"}], "isError": false});
        Ok(completed.into())
    }
}

fn example_task(kind: &str, status: &str) -> Value {
    json!({
        "resultType": kind,
        "taskId": "786512e2-9e0d-44bd-8f29-789f320fe840",
        "status": status,
        "createdAt": "2025-11-25T10:30:00Z",
        "lastUpdatedAt": "2025-11-25T10:50:00Z",
        "ttlMs": 3_600_000,
        "pollIntervalMs": 20,
    })
}

fn example() -> Router {
    let hello = || Ok::<_, ToolError>(hub::AnyCallToolResult::Unknown(example_task("task", "working").into()));
    let router = Router::new("example", "1.0").extension(Example);
    router.with(tool("hello", "Greets", hello).spawns_task())
}

#[tokio::test]
async fn the_result_of_a_completed_task_without_result_type_is_complete() {
    let client = hub_client(&example()).await;
    let call = client.peer().call_tool_to_end(hub::CallToolRequestParams::new("hello"));
    assert_eq!(
        text(&serde_json::to_value(call.await.unwrap()).unwrap()),
        "Hello, Luca!"
    );
}

#[tokio::test]
async fn call_tool_to_end_returns_the_plain_result_without_the_extension() {
    let (ours, theirs) = channel(16);
    drop(server(limits()).serve(Options::default(), theirs));
    let client = Client::new("test", "1.0").connect(ours).await.unwrap();
    let result = client
        .peer()
        .call_tool_to_end(hub::CallToolRequestParams::new("build"))
        .await;
    assert_eq!(text(&serde_json::to_value(result.unwrap()).unwrap()), "built");
}

#[tokio::test]
async fn over_http_task_requests_need_the_header_that_names_the_task() {
    use mcp_runtime::transport::http::client::{HttpClient, HttpOptions};
    use mcp_runtime::transport::http::server::{HttpServer, serve};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let app = HttpServer::new(server(limits()));
    let serving = tokio::spawn(async move { serve(listener, app).await });
    let connect = |options: HttpOptions| {
        let transport = HttpClient::new(&url, options).unwrap();
        asked()
            .options(Options {
                supported: [Revision::HUB].into(),
                ..Options::default()
            })
            .connect(transport)
    };

    let client = connect(HttpOptions::default().extension(EXTENSION)).await.unwrap();
    let result = client
        .peer()
        .call_tool_to_end(hub::CallToolRequestParams::new("ask"))
        .await
        .unwrap();
    assert_eq!(text(&serde_json::to_value(result).unwrap()), "accept and decline");

    // Without the header, the server refuses requests about the task.
    let client = connect(HttpOptions::default()).await.unwrap();
    let error = client
        .peer()
        .call_tool_to_end(hub::CallToolRequestParams::new("build"))
        .await
        .unwrap_err();
    let TaskError::Call(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.error_object().unwrap().code, hub::error_code::HEADER_MISMATCH);
    serving.abort();
}

/// The tasks extension with a setting that its schema doesn't permit.
#[derive(Clone)]
struct Configured;

impl ServerExtension for Configured {
    fn extension(&self) -> Extension {
        EXTENSION
    }

    fn settings(&self) -> RawObject {
        json!({"speed": "high"}).into()
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        Ok(json!({}).into())
    }
}

#[test]
fn invalid_settings_and_duplicate_extensions_are_refused() {
    let invalid = Router::new("builds", "1.0").try_extension(Configured).unwrap_err();
    assert!(
        matches!(&invalid, RouteError::Settings { id, .. } if *id == EXTENSION.id),
        "{invalid}"
    );
    let twice = Router::new("builds", "1.0")
        .extension(Tasks::default())
        .try_extension(Tasks::default())
        .unwrap_err();
    assert!(matches!(twice, RouteError::Duplicate { .. }), "{twice}");
}

/// An extension with this description and no settings.
#[derive(Clone)]
struct Described(Extension);

impl ServerExtension for Described {
    fn extension(&self) -> Extension {
        self.0
    }

    async fn answer(&self, _: &'static str, _: Value, _: Call) -> Result<RawJson, ErrorObject> {
        Ok(json!({}).into())
    }
}

#[test]
fn an_extension_that_redefines_a_method_or_kind_of_result_is_refused() {
    let tasks = || Router::new("builds", "1.0").extension(Tasks::default());
    let described = |extension: Extension| Extension {
        id: "com.example/jobs",
        settings: None,
        ..extension
    };
    // A method of the protocol itself.
    const CORE_METHOD: &[Method] = &[Method::request("tools/call", Direction::ClientToServer, "#", &[])];
    let of_core = described(Extension::new("", EXTENSION.extends, CORE_METHOD, EXTENSION.schema));
    let refused = tasks().try_extension(Described(of_core)).unwrap_err();
    assert!(
        matches!(&refused, RouteError::Declared { method } if method == "tools/call"),
        "{refused}"
    );
    let same_methods = Extension {
        results: &[],
        ..described(EXTENSION)
    };
    let refused = tasks().try_extension(Described(same_methods)).unwrap_err();
    assert!(
        matches!(&refused, RouteError::Duplicate { key, .. } if key.starts_with("tasks/")),
        "{refused}"
    );
    let same_kind = Extension {
        methods: &[],
        ..described(EXTENSION)
    };
    let refused = tasks().try_extension(Described(same_kind)).unwrap_err();
    assert!(refused.to_string().contains("task of tools/call"), "{refused}");
}
